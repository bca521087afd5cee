/* SPDX-License-Identifier: MIT */
/* Renderers: a snapshot in, text out. No I/O, no clock, no globals. */
#ifndef SMEFF_SHOW_SHOW_H
#define SMEFF_SHOW_SHOW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "collect/snapshot.h"
#include "event/event.h"
#include "judge/proof.h"
#include "judge/verdict.h"

struct show_style {
    int columns; /* width of the terminal or page, at least 40 */
    bool colour; /* ANSI colours */
    bool utf8;   /* may print more than ASCII */
};

/* A table of all metrics with numbers, why the others have none, and the verdict, for each GPU;
 * then the inference servers. title is printed first ("" = none). Notes are not in it: who prints
 * it has said them already. */
void show_text(struct buf *out, const struct snapshot *s, const char *title,
               const struct show_style *style);

/* One JSON object in one line, schema 1 of docs/interface.md; file NULL = not from a file. */
enum status show_json(struct buf *out, const struct snapshot *s, const char *file,
                      struct error *err);

/* A daemon's state of itself. */
struct show_daemon {
    int64_t pid, started_ns; /* UNIX time */
    bool is_paused;
    const char *reason;      /* why it is paused; "" = it is not */
    const char *run_dir;     /* its folder */
    const char *replay;      /* the recording that it plays; NULL = it samples GPUs */
    size_t viewers, dropped; /* dropped: since the start, since they were too slow */
    double history_s;        /* over how many seconds the history reaches */
    size_t history_bytes, history_limit_bytes;
    double cpu_s;        /* CPU time of the daemon's own process since the start */
    double memory_bytes; /* resident memory of the daemon's own process; NaN = not known */
};

/* The same object as show_json, with "daemon". */
enum status show_status_json(struct buf *out, const struct snapshot *s, const struct show_daemon *d,
                             struct error *err);

/* For people: the daemon, and a few lines for each GPU and server. */
void show_status_text(struct buf *out, const struct snapshot *s, const struct show_daemon *d,
                      const struct show_style *style);

/* The catalogue: all metrics, one line each. */
void show_catalogue(struct buf *out, const struct show_style *style);

/* What a metric means, when it misleads, and its names at each source. */
void show_metric(struct buf *out, const struct metric_info *info, const struct show_style *style);
enum status show_metric_json(struct buf *out, const struct metric_info *info, struct error *err);

/* CSV, one row a sample: the only renderer that takes events, since a snapshot has no samples.
 * Columns are the catalogue metrics (and the sources' own) that at least one of the streams has; so
 * all streams are described first, then read. */
struct show_csv;

enum status show_csv_create(struct show_csv **out, struct error *err);
void show_csv_destroy(struct show_csv *c); /* accepts NULL */

/* Takes hello, gpu and plan events of a stream; file goes into the first column. Each hello begins
 * a stream; they are numbered from 0. A plan that comes again replaces the one before; after the
 * header no column is added: what only then gets samples is left out. */
enum status show_csv_describe(struct show_csv *c, const char *file, const struct event *event,
                              struct error *err);
void show_csv_header(struct show_csv *c, struct buf *out);

/* Takes a plan of the stream that was sent again. Appends the series whose state is another now,
 * with the reasons, to changes. ERR_BAD_INPUT when it is not the plan that was described. */
enum status show_csv_replan(struct show_csv *c, size_t stream, const struct event_plan *plan,
                            struct buf *changes, struct error *err);

/* Appends the rows of a batch of the stream. */
enum status show_csv_rows(struct show_csv *c, size_t stream, const struct event_samples *batch,
                          struct buf *out, struct error *err);

/* A self-test of one GPU: its proofs, and the loads' own reports (one JSON object each). */
struct show_selftest {
    const struct gpu_snapshot *gpu;
    const char *driver; /* its version; "" = not known */
    int64_t time_ns;
    const struct proof *proofs;
    size_t n;
    const char *const *reports;
    size_t n_reports;
    const char *verdict; /* "pass", "fail" or "incomplete" */
    bool has_nsys;       /* it was asked, too */
};

void show_selftest_text(struct buf *out, const struct show_selftest *t,
                        const struct show_style *style);
enum status show_selftest_json(struct buf *out, const struct show_selftest *t, struct error *err);

#endif
