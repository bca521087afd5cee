/* SPDX-License-Identifier: MIT */
/* smeff analyze: from nsys exports to tables and verdicts. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "collect/collect.h"
#include "show/show.h"
#include "source/nsys/nsys.h"

/* A file that cannot be used costs that file, not the others; the worst exit code wins. */
static int file_failed(const struct error *err)
{
    complain("%s", err->text);
    return err->status == ERR_NOMEM ? EXIT_CODE_FAILURE : EXIT_CODE_BAD_FILE;
}

static int output_failed(const struct error *err)
{
    complain("%s", err->text);
    return EXIT_CODE_FAILURE;
}

static void complain_notes(const char *path, const struct snapshot *s)
{
    for (size_t i = 0; i < s->n_notes; i++)
        if (s->notes[i].level != NOTE_INFO)
            complain("%s: %s: %s", path, note_level_name(s->notes[i].level), s->notes[i].text);
}

static enum status collect(struct nsys_export *x, enum nsys_order order, struct snapshot **out,
                           struct error *err)
{
    struct collector *c = NULL;
    enum status st = collector_create(&c, err);
    if (st)
        return st;
    struct event_sink sink = collector_sink(c);
    st = nsys_export_describe(x, &sink, err);
    if (!st)
        st = nsys_export_read(x, order, &sink, err);
    if (!st)
        st = collector_snapshot(c, out, err);
    collector_destroy(c);
    return st;
}

static enum status collect_file(const char *path, bool all, struct snapshot **out,
                                struct error *err)
{
    struct nsys_export *x = NULL;
    enum status st = nsys_export_open(&x, path, all, err);
    if (st)
        return st;
    st = collect(x, NSYS_AS_STORED, out, err);
    if (st == ERR_ORDER)
        st = collect(x, NSYS_BY_TIME, out, err);
    if (st)
        fail_wrap(err, st, "%s", path);
    nsys_export_close(x);
    return st;
}

static int show_snapshot(const struct options *o, const char *path, const struct snapshot *s,
                         bool separate)
{
    struct error err = ERROR_INIT;
    struct buf out = BUF_INIT;
    struct show_style style = output_style(o);
    enum status st = OK;
    complain_notes(path, s);
    if (o->json) {
        st = show_json(&out, s, path, &err);
    } else {
        if (separate)
            buf_putc(&out, '\n');
        show_text(&out, s, path, &style);
    }
    if (!st)
        st = output_write(&out, &err);
    buf_fini(&out);
    return st ? output_failed(&err) : EXIT_CODE_OK;
}

static int analyze_snapshots(const struct options *o, int argc, char **argv)
{
    int code = EXIT_CODE_OK;
    bool shown = false;
    for (int i = 0; i < argc; i++) {
        struct error err = ERROR_INIT;
        struct snapshot *s = NULL;
        if (collect_file(argv[i], o->all, &s, &err)) {
            code = file_failed(&err);
            continue;
        }
        int result = show_snapshot(o, argv[i], s, shown);
        snapshot_destroy(s);
        shown = true;
        if (result)
            return result;
    }
    return code;
}

/* ---- CSV: all files are described before the first row, so that one header fits all ---- */

struct csv_run {
    struct show_csv *csv;
    const char *file;
    size_t stream;
    struct buf out;
    enum status output_status; /* stdout failed: not the file's fault */
};

static enum status csv_take(void *self, const struct event *ev, struct error *err)
{
    struct csv_run *run = self;
    if (ev->kind == EVENT_NOTE) {
        if (ev->u.note.level != NOTE_INFO)
            complain("%s: %s: %s", run->file, note_level_name(ev->u.note.level), ev->u.note.text);
        return OK;
    }
    if (ev->kind != EVENT_SAMPLES)
        return OK;
    enum status st = show_csv_rows(run->csv, run->stream, &ev->u.samples, &run->out, err);
    if (!st)
        st = run->output_status = output_write(&run->out, err);
    return st;
}

static enum status csv_describe(void *self, const struct event *ev, struct error *err)
{
    struct csv_run *run = self;
    if (ev->kind == EVENT_NOTE)
        return csv_take(self, ev, err);
    return show_csv_describe(run->csv, run->file, ev, err);
}

/* Opens and describes every file; those that fail stay NULL in list. */
static int csv_open(struct csv_run *run, const struct options *o, int argc, char **argv,
                    struct nsys_export **list)
{
    int code = EXIT_CODE_OK;
    for (int i = 0; i < argc; i++) {
        struct error err = ERROR_INIT;
        struct event_sink sink = {csv_describe, run};
        run->file = argv[i];
        if (nsys_export_open(&list[i], argv[i], o->all, &err) ||
            nsys_export_describe(list[i], &sink, &err)) {
            code = file_failed(&err);
            nsys_export_close(list[i]);
            list[i] = NULL;
        }
    }
    return code;
}

static int csv_rows(struct csv_run *run, int argc, char **argv, struct nsys_export **list)
{
    int code = EXIT_CODE_OK;
    struct event_sink sink = {csv_take, run};
    for (int i = 0; i < argc; i++) {
        if (!list[i])
            continue;
        struct error err = ERROR_INIT;
        run->file = argv[i];
        enum nsys_order order;
        if (nsys_export_order(list[i], &order, &err) ||
            nsys_export_read(list[i], order, &sink, &err)) {
            if (run->output_status)
                return output_failed(&err);
            fail_wrap(&err, err.status, "%s", argv[i]);
            code = file_failed(&err);
        }
        run->stream++;
    }
    return code;
}

static int analyze_csv(const struct options *o, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct csv_run run = {0};
    struct nsys_export **list = calloc((size_t)argc, sizeof(struct nsys_export *));
    if (!list || show_csv_create(&run.csv, &err)) {
        free(list);
        complain("out of memory");
        return EXIT_CODE_FAILURE;
    }
    int code = csv_open(&run, o, argc, argv, list);
    show_csv_header(run.csv, &run.out);
    int rows =
        output_write(&run.out, &err) ? output_failed(&err) : csv_rows(&run, argc, argv, list);
    for (int i = 0; i < argc; i++)
        nsys_export_close(list[i]);
    free(list);
    show_csv_destroy(run.csv);
    buf_fini(&run.out);
    return rows ? rows : code;
}

static int analyze(const struct options *o, int argc, char **argv)
{
    if (argc == 0)
        return usage_error(&command_analyze, "no file given");
    if (o->json && o->csv)
        return usage_error(&command_analyze, "--json and --csv exclude each other");
    return o->csv ? analyze_csv(o, argc, argv) : analyze_snapshots(o, argc, argv);
}

const struct command command_analyze = {
    .name = "analyze",
    .arguments = "FILE...",
    .summary = "table and verdict from SQLite exports of Nsight Systems",
    .details =
        "Reads the GPU metrics of each FILE, an SQLite export of Nsight Systems (nsys), and\n"
        "prints every metric that it holds (mean, min, p50, p95, max over the whole\n"
        "capture), why the others have no number, and what limits the GPU.\n"
        "\n"
        "An .nsys-rep becomes such a file by: nsys export -t sqlite FILE.nsys-rep\n"
        "A file that cannot be used is named on stderr; the others are shown, and the exit\n"
        "code is 7.",
    .example = "smeff analyze data/h200/decode.sqlite --json | jq '.gpus[0].verdict.kind'",
    .options = OPTION(JSON) | OPTION(CSV) | OPTION(ALL) | OPTION(NO_COLOR),
    .run = analyze,
};
