/* SPDX-License-Identifier: MIT */
#include "cmd/infile.h"

#include "cmd/cmd.h"
#include "cmd/nsys_snapshot.h"
#include "cmd/recording.h"
#include "event/file.h"
#include "source/nsys/nsys.h"

enum status infile_snapshot(const struct infile *f, struct snapshot **out, struct error *err)
{
    const char *path;
    if (event_file_looks_like_one(f->name))
        return recording_snapshot(f->name, out, err);
    enum status st = reports_file(f->reports, f->i, &path, err);
    if (st)
        return st;
    st = nsys_snapshot(path, f->all, out, err);
    if (st)
        reports_rename(f->reports, f->i, err);
    return st;
}

/* What the sink refused is not the file's fault, and not to be named after it. */
struct passing {
    const struct event_sink *sink;
    bool refused;
};

static enum status pass(void *self, const struct event *ev, struct error *err)
{
    struct passing *p = self;
    enum status st = event_push(p->sink, ev, err);
    p->refused |= st != OK;
    return st;
}

static enum status read_export(struct nsys_export *x, const struct event_sink *sink,
                               struct error *err)
{
    enum nsys_order order = NSYS_AS_STORED;
    enum status st = nsys_export_order(x, &order, err);
    if (!st)
        st = nsys_export_describe(x, sink, err);
    return st ? st : nsys_export_read(x, order, sink, err);
}

enum status infile_events(const struct infile *f, const struct event_sink *sink, struct error *err)
{
    struct nsys_export *x = NULL;
    struct passing p = {sink, false};
    const struct event_sink passing = {pass, &p};
    const char *path;
    if (event_file_looks_like_one(f->name))
        return recording_read(f->name, sink, err);
    enum status st = reports_file(f->reports, f->i, &path, err);
    if (st)
        return st;
    st = nsys_export_open(&x, path, f->all, err);
    if (st) {
        reports_rename(f->reports, f->i, err);
        return st;
    }
    st = read_export(x, &passing, err);
    if (st && !p.refused)
        nsys_name_file(err, st, f->name);
    nsys_export_close(x);
    return st;
}

int infile_failed(const struct error *err)
{
    complain("%s", err->text);
    return err->status == ERR_NOMEM ? EXIT_CODE_FAILURE : EXIT_CODE_BAD_FILE;
}

int infile_worse(int a, int b)
{
    return a == EXIT_CODE_FAILURE || b == EXIT_CODE_FAILURE ? EXIT_CODE_FAILURE : a > b ? a : b;
}
