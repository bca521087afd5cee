/* SPDX-License-Identifier: MIT */
/* smeff export: a recording as CSV, as tracks for trace viewers, or as a page. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/csv_files.h"
#include "cmd/infile.h"
#include "cmd/output.h"
#include "cmd/overlay.h"
#include "collect/collect.h"
#include "show/report.h"
#include "show/tracks.h"

/* ---- tracks ---- */

enum { FLUSH_BYTES = 1 << 16 };

struct tracks_run {
    const char *name; /* of the file */
    struct show_tracks *tracks;
    const struct overlay *over; /* NULL = none */
    struct buf out;
    bool output_failed; /* not the file's fault */
    bool has_base;
    int64_t base_ns, first_ns; /* first: of the file's samples */
};

static enum status flush(struct tracks_run *run, struct error *err)
{
    enum status st = output_write(&run->out, err);
    run->output_failed |= st != OK;
    return st;
}

/* Programs that read times as floating point lose nanoseconds of a UNIX time, so without another
 * trace it begins a minute before its first sample. */
static int64_t base_near(int64_t t_ns)
{
    const int64_t minute_ns = INT64_C(60000000000);
    return t_ns > minute_ns ? (t_ns / minute_ns - 1) * minute_ns : 0;
}

static enum status begin(struct tracks_run *run, struct error *err)
{
    enum status st = show_tracks_create(&run->tracks, run->base_ns, err);
    if (st)
        return st;
    if (run->over)
        return overlay_copy_head(run->over, err);
    buf_printf(&run->out,
               "{\"baseTimeNanoseconds\":%lld,\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n",
               (long long)run->base_ns);
    return OK;
}

static enum status take_track(void *self, const struct event *ev, struct error *err)
{
    struct tracks_run *run = self;
    if (ev->kind == EVENT_NOTE && ev->u.note.level != NOTE_INFO)
        complain("%s: %s: %s", run->name, note_level_name(ev->u.note.level), ev->u.note.text);
    enum status st = show_tracks_take(run->tracks, ev, &run->out, err);
    return !st && run->out.len >= FLUSH_BYTES ? flush(run, err) : st;
}

/* The base: the time of the first sample of the file. */
static enum status take_first(void *self, const struct event *ev, struct error *err)
{
    struct tracks_run *run = self;
    (void)err;
    if (ev->kind == EVENT_SAMPLES && ev->u.samples.n && !run->has_base) {
        run->has_base = true;
        run->first_ns = ev->u.samples.t0_ns[0];
    }
    return OK;
}

static enum status write_tracks(struct tracks_run *run, const struct infile *file,
                                struct error *err)
{
    const struct event_sink first = {take_first, run}, all = {take_track, run};
    enum status st = infile_events(file, &first, err);
    if (!st && run->over && run->has_base && run->first_ns < CLOCK_WALL_MIN_NS)
        st = fail(
            err, ERR_BAD_INPUT, 0,
            "%s: it is not known when it was measured, so it cannot be laid over another trace",
            file->name);
    if (!st && !run->over)
        run->base_ns = base_near(run->first_ns);
    if (!st)
        st = begin(run, err);
    if (!st)
        st = infile_events(file, &all, err);
    if (!st) {
        show_tracks_end(run->tracks, &run->out);
        if (!run->over)
            buf_puts(&run->out, "\n]}\n");
        st = flush(run, err);
    }
    if (!st && run->over)
        st = overlay_copy_tail(run->over, show_tracks_count(run->tracks) > 0, err);
    return st;
}

static int export_tracks(const struct options *o, const struct infile *file)
{
    struct error err = ERROR_INIT;
    struct tracks_run run = {.name = file->name};
    struct overlay over = {.output_failed = &run.output_failed};
    if (o->over) {
        if (overlay_find(&over, o->over, &err))
            return infile_failed(&err);
        run.over = &over;
        run.base_ns = over.base_ns;
    }
    enum status st = write_tracks(&run, file, &err);
    if (run.tracks && show_tracks_is_partial(run.tracks))
        complain("%s: warning: GPUs or servers beyond the first 64 are left out", file->name);
    show_tracks_destroy(run.tracks);
    buf_fini(&run.out);
    if (!st)
        return EXIT_CODE_OK;
    if (!run.output_failed)
        return infile_failed(&err);
    complain("%s", err.text);
    return EXIT_CODE_FAILURE;
}

/* ---- the page ---- */

struct report_run {
    struct event_sink collector, timeline;
};

static enum status take_report(void *self, const struct event *ev, struct error *err)
{
    const struct report_run *run = self;
    enum status st = event_push(&run->collector, ev, err);
    return st ? st : event_push(&run->timeline, ev, err);
}

static enum status make_report(const struct infile *file, struct buf *out, struct error *err)
{
    struct collector *c = NULL;
    struct timeline *t = NULL;
    struct snapshot *s = NULL;
    enum status st = collector_create(&c, err);
    if (!st)
        st = timeline_create(&t, err);
    if (!st) {
        struct report_run run = {collector_sink(c), timeline_sink(t)};
        const struct event_sink sink = {take_report, &run};
        st = infile_events(file, &sink, err);
    }
    if (!st)
        st = collector_snapshot(c, &s, err);
    if (!st)
        complain_notes(file->name, s);
    if (!st)
        st = show_report(out, s, t, file->name, err);
    snapshot_destroy(s);
    timeline_destroy(t);
    collector_destroy(c);
    return st;
}

static int export_report(const struct infile *file)
{
    struct error err = ERROR_INIT;
    struct buf out = BUF_INIT;
    int code = EXIT_CODE_OK;
    if (make_report(file, &out, &err)) {
        code = infile_failed(&err);
    } else if (output_write(&out, &err)) {
        complain("%s", err.text);
        code = EXIT_CODE_FAILURE;
    }
    buf_fini(&out);
    return code;
}

/* ---- the command ---- */

static int export(const struct options *o, int argc, char **argv)
{
    struct reports *reports = NULL;
    struct error err = ERROR_INIT;
    if (argc != 1)
        return usage_error(&command_export, argc ? "one FILE at a time" : "no file given");
    if (!!o->csv + !!o->perfetto + !!o->report != 1)
        return usage_error(&command_export, "one of --csv, --perfetto and --report");
    if (o->over && !o->perfetto)
        return usage_error(&command_export, "--over belongs to --perfetto");
    if (reports_open(&reports, argc, argv, o->nsys, &err)) {
        complain("%s", err.text);
        return EXIT_CODE_FAILURE;
    }
    const struct infile file = {reports, 0, argv[0], o->all};
    int code = o->csv        ? csv_files_print(o, reports, argc, argv)
               : o->perfetto ? export_tracks(o, &file)
                             : export_report(&file);
    reports_close(reports);
    return code;
}

const struct command command_export = {
    .name = "export",
    .arguments = "FILE",
    .summary = "a recording as CSV, as tracks for trace viewers, or as a page",
    .details =
        "Writes FILE (a recording of smeff record, events.jsonl of measure --out, or an export or\n"
        "report of nsys) to standard output in another form, one of:\n"
        "\n"
        "--csv: a row a sample, the same as smeff analyze --csv; --all belongs to it.\n"
        "--perfetto: counter tracks in the Trace Event Format, for ui.perfetto.dev and\n"
        "chrome://tracing. Times are relative to baseTimeNanoseconds (UNIX time), as PyTorch's\n"
        "are; with --over TRACE.json (or .json.gz), a trace of PyTorch's or vLLM's profiler, one\n"
        "file comes out that has both on one time axis.\n"
        "--report: one HTML page with timelines, GPU-Util against the counters, the verdict,\n"
        "every metric with its state, and the environment; readable offline, and on paper.",
    .example = "smeff export run.jsonl.gz --report > report.html",
    .options =
        OPTION(CSV) | OPTION(PERFETTO) | OPTION(REPORT) | OPTION(OVER) | OPTION(ALL) | OPTION(NSYS),
    .run = export,
};
