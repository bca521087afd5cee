/* SPDX-License-Identifier: MIT */
#include "cmd/csv_files.h"

#include <stdlib.h>

#include "cmd/infile.h"
#include "cmd/output.h"
#include "cmd/recording.h"
#include "event/file.h"
#include "show/show.h"
#include "source/nsys/nsys.h"

enum { NOT_DESCRIBED = -1 };

static int output_failed(const struct error *err)
{
    complain("%s", err->text);
    return EXIT_CODE_FAILURE;
}

struct csv_run {
    struct show_csv *csv;
    const struct options *options;
    struct reports *reports;
    int number;       /* of the file among those given */
    const char *file; /* its name */
    int streams;      /* described so far */
    int stream;       /* number of the file that is read */
    struct buf out, changes;
    enum status output_status; /* stdout failed: not the file's fault */
};

static void csv_note(const struct csv_run *run, const struct event_note *note)
{
    if (note->level != NOTE_INFO)
        complain("%s: %s: %s", run->file, note_level_name(note->level), note->text);
}

/* First pass: what is in the file. */
static enum status csv_describe(void *self, const struct event *ev, struct error *err)
{
    struct csv_run *run = self;
    if (ev->kind == EVENT_NOTE) {
        csv_note(run, &ev->u.note);
        return OK;
    }
    enum status st = show_csv_describe(run->csv, run->file, ev, err);
    run->streams += !st && ev->kind == EVENT_HELLO;
    return st;
}

/* Second pass, before the samples: is it still the same file? Its notes were said. */
static enum status csv_check(void *self, const struct event *ev, struct error *err)
{
    struct csv_run *run = self;
    if (ev->kind != EVENT_PLAN)
        return OK;
    enum status st =
        show_csv_replan(run->csv, (size_t)run->stream, &ev->u.plan, &run->changes, err);
    if (!st && run->changes.len)
        st = fail(err, ERR_BAD_INPUT, 0, "the file changed while it was read");
    return st;
}

/* Second pass: the samples, and what reading them showed. */
static enum status csv_take(void *self, const struct event *ev, struct error *err)
{
    struct csv_run *run = self;
    if (ev->kind == EVENT_NOTE)
        csv_note(run, &ev->u.note);
    if (ev->kind == EVENT_PLAN)
        return show_csv_replan(run->csv, (size_t)run->stream, &ev->u.plan, &run->changes, err);
    if (ev->kind != EVENT_SAMPLES)
        return OK;
    enum status st = show_csv_rows(run->csv, (size_t)run->stream, &ev->u.samples, &run->out, err);
    if (!st)
        st = run->output_status = output_write(&run->out, err);
    return st;
}

/* A recording's plans come again and again; they and its notes were taken by the first pass. */
static enum status csv_describe_recorded(void *self, const struct event *ev, struct error *err)
{
    bool describes = ev->kind == EVENT_HELLO || ev->kind == EVENT_GPU || ev->kind == EVENT_PLAN ||
                     ev->kind == EVENT_NOTE;
    return describes ? csv_describe(self, ev, err) : OK;
}

static enum status csv_take_recorded(void *self, const struct event *ev, struct error *err)
{
    return ev->kind == EVENT_SAMPLES ? csv_take(self, ev, err) : OK;
}

static enum status csv_open(struct csv_run *run, struct nsys_export **x, struct error *err)
{
    const char *path;
    enum status st = reports_file(run->reports, run->number, &path, err);
    if (st)
        return st;
    st = nsys_export_open(x, path, run->options->all, err);
    if (st)
        reports_rename(run->reports, run->number, err);
    return st;
}

static enum status csv_describe_file(struct csv_run *run, struct error *err)
{
    struct nsys_export *x = NULL;
    struct event_sink sink = {csv_describe, run}, recorded = {csv_describe_recorded, run};
    if (event_file_looks_like_one(run->file))
        return recording_read(run->file, &recorded, err);
    enum status st = csv_open(run, &x, err);
    if (!st)
        st = nsys_export_describe(x, &sink, err);
    nsys_export_close(x);
    return st;
}

static enum status csv_read_file(struct csv_run *run, struct error *err)
{
    struct nsys_export *x = NULL;
    struct event_sink check = {csv_check, run}, take = {csv_take, run};
    const struct event_sink recorded = {csv_take_recorded, run};
    enum nsys_order order = NSYS_AS_STORED;
    buf_clear(&run->changes);
    if (event_file_looks_like_one(run->file))
        return recording_read(run->file, &recorded, err);
    enum status st = csv_open(run, &x, err);
    if (st)
        return st;
    st = nsys_export_describe(x, &check, err);
    if (!st)
        st = nsys_export_order(x, &order, err);
    if (!st)
        st = nsys_export_read(x, order, &take, err);
    if (st && !run->output_status)
        nsys_name_file(err, st, run->file);
    if (!st && run->changes.len)
        complain("%s: warning: reading showed that %s", run->file, buf_str(&run->changes));
    nsys_export_close(x);
    return st;
}

/* The number of each file's stream goes into list. */
static int csv_describe_all(struct csv_run *run, int argc, char **argv, int *list)
{
    int code = EXIT_CODE_OK;
    for (int i = 0; i < argc; i++) {
        struct error err = ERROR_INIT;
        run->number = i;
        run->file = argv[i];
        list[i] = run->streams;
        if (csv_describe_file(run, &err)) {
            code = infile_worse(code, infile_failed(&err));
            list[i] = NOT_DESCRIBED;
        }
    }
    return code;
}

static int csv_read_all(struct csv_run *run, int argc, char **argv, const int *list)
{
    int code = EXIT_CODE_OK;
    struct error err = ERROR_INIT;
    show_csv_header(run->csv, &run->out);
    if (output_write(&run->out, &err))
        return output_failed(&err);
    for (int i = 0; i < argc; i++) {
        if (list[i] == NOT_DESCRIBED)
            continue;
        run->number = i;
        run->file = argv[i];
        run->stream = list[i];
        if (csv_read_file(run, &err)) {
            if (run->output_status)
                return output_failed(&err);
            code = infile_worse(code, infile_failed(&err));
        }
    }
    return code;
}

int csv_files_print(const struct options *o, struct reports *reports, int n, char **names)
{
    struct error err = ERROR_INIT;
    struct csv_run run = {.options = o, .reports = reports};
    int *list = calloc((size_t)n, sizeof *list);
    if (!list || show_csv_create(&run.csv, &err)) {
        free(list);
        complain("out of memory");
        return EXIT_CODE_FAILURE;
    }
    int code = csv_describe_all(&run, n, names, list);
    if (run.streams) /* without one there is nothing to head */
        code = infile_worse(code, csv_read_all(&run, n, names, list));
    free(list);
    show_csv_destroy(run.csv);
    buf_fini(&run.out);
    buf_fini(&run.changes);
    return code;
}
