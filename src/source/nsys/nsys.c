/* SPDX-License-Identifier: MIT */
#include "source/nsys/nsys.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/nsys/batch.h"
#include "source/nsys/db.h"
#include "source/nsys/decode.h"
#include "source/nsys/diag.h"
#include "source/nsys/series.h"
#include "source/nsys/survey.h"

/* Newest schema whose documentation was read; a newer major may mean anything. */
enum { SCHEMA_MAJOR_KNOWN = 3 };

struct nsys_export {
    sqlite3 *db;
    bool all;
    struct nsys_meta meta;
    struct nsys_diag diag;
    struct nsys_survey survey;
    enum nsys_names_from from;
    uint64_t unknown_rows, bad_rows; /* of the last reading */
};

static const char *version_of(const struct nsys_export *x, char *dst, size_t size)
{
    snprintf(dst, size, "nsys %s, schema %s", x->meta.product[0] ? x->meta.product : "version ?",
             x->meta.schema[0] ? x->meta.schema : "?");
    return dst;
}

/* The columns that everything stands on; probed, since they came and went over the versions. */
static enum status check_tables(const struct nsys_export *x, struct error *err)
{
    static const char *const needed[] = {"timestamp", "typeId", "metricId", "value"};
    char version[128];
    if (!nsys_db_has(x->db, "GPU_METRICS", NULL)) {
        version_of(x, version, sizeof version);
        /* nsys 2021 and 2022 (schema 2.x, 3.0) wrote JSON into GENERIC_EVENTS instead */
        if (nsys_db_has(x->db, "GENERIC_EVENTS", "data"))
            return fail(err, ERR_BAD_INPUT, 0,
                        "too old: %s keeps GPU metrics as JSON in GENERIC_EVENTS; export the "
                        ".nsys-rep again with nsys 2023.4 or newer",
                        version);
        if (!nsys_db_has(x->db, "META_DATA_EXPORT", NULL) &&
            !nsys_db_has(x->db, "EXPORT_META_DATA", NULL) &&
            !nsys_db_has(x->db, "TARGET_INFO_GPU", NULL))
            return fail(err, ERR_BAD_INPUT, 0, "a database, but no nsys export");
        return fail(err, ERR_BAD_INPUT, 0,
                    "no GPU metrics in this export (%s): capture with --gpu-metrics-devices=all",
                    version);
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!nsys_db_has(x->db, "GPU_METRICS", needed[i]))
            return fail(err, ERR_BAD_INPUT, 0, "GPU_METRICS has no column %s (%s)", needed[i],
                        version_of(x, version, sizeof version));
    return OK;
}

static void attach_info(struct nsys_gpu *g, const struct nsys_gpu_info *info, size_t n)
{
    /* typeId: 63-56 hardware, 55-48 VM, 47-32 source, 7-0 GPU id (nsys's user guide);
     * vmId is the same word with only hardware and VM */
    int64_t id = g->type_id & 0xFF;
    int64_t vm = (int64_t)((uint64_t)g->type_id & UINT64_C(0xFFFF000000000000));
    for (size_t i = 0; i < n; i++)
        if (info[i].id == id && (info[i].vm == vm || info[i].vm == -1 || n == 1))
            g->info = info[i];
}

static enum status learn(struct nsys_export *x, struct error *err)
{
    struct nsys_gpu_info *info = NULL;
    size_t n_info = 0;
    enum status st = nsys_meta_read(x->db, &x->meta, err);
    if (!st)
        st = check_tables(x, err);
    if (!st)
        st = nsys_diag_read(x->db, &x->diag, err);
    if (!st)
        st = nsys_survey_read(x->db, &x->survey, err);
    if (!st && x->survey.rows == 0)
        st = fail(err, ERR_BAD_INPUT, 0, "GPU_METRICS is empty");
    if (!st && x->survey.n_gpus == 0)
        st = fail(err, ERR_BAD_INPUT, 0,
                  x->survey.rows ? "GPU_METRICS has no usable row" : "GPU_METRICS is empty");
    if (!st)
        st = nsys_gpu_info_read(x->db, &info, &n_info, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++)
        attach_info(&x->survey.gpus[i], info, n_info);
    free(info);
    if (!st)
        st = nsys_series_read(x->db, &x->meta, x->survey.gpus, x->survey.n_gpus, &x->from, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++) {
        st = nsys_series_plan(&x->survey.gpus[i], x->from, x->all, err);
        if (!st)
            nsys_diag_explain(&x->diag, &x->survey.gpus[i]);
    }
    return st;
}

enum status nsys_export_open(struct nsys_export **out, const char *path, bool all,
                             struct error *err)
{
    struct nsys_export *x = calloc(1, sizeof *x);
    if (!x)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    x->all = all;
    enum status st = nsys_db_open(&x->db, path, err);
    if (!st) {
        st = learn(x, err);
        if (st)
            fail_wrap(err, st, "%s", path);
    }
    if (st) {
        nsys_export_close(x);
        return st;
    }
    *out = x;
    return OK;
}

void nsys_export_close(struct nsys_export *x)
{
    if (!x)
        return;
    nsys_survey_fini(&x->survey);
    nsys_diag_fini(&x->diag);
    nsys_db_close(x->db);
    free(x);
}

static double rate_hz(const struct nsys_gpu *g)
{
    return g->period_ns > 0 ? 1e9 / (double)g->period_ns : 0;
}

static enum status push_plan(const struct nsys_gpu *g, const struct event_sink *sink,
                             struct error *err)
{
    struct plan_series *list = calloc(g->n_series ? g->n_series : 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < g->n_series; i++) {
        const struct nsys_series *s = &g->series[i];
        list[i] = (struct plan_series){.metric = s->metric,
                                       .name = s->name,
                                       .unit = s->unit,
                                       .state = s->state,
                                       .reason = s->reason,
                                       .counter = s->counter,
                                       .resolution = s->resolution};
    }
    struct event ev = {.kind = EVENT_PLAN,
                       .u.plan = {.gpu = g->gpu,
                                  .source = SOURCE_NSYS,
                                  .rate_hz = rate_hz(g),
                                  .n = g->n_series,
                                  .series = list}};
    enum status st = event_push(sink, &ev, err);
    free(list);
    return st;
}

static enum status push_file_notes(const struct nsys_export *x, const struct event_sink *sink,
                                   struct error *err)
{
    enum status st = OK;
    if (x->meta.schema_major > SCHEMA_MAJOR_KNOWN)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "export schema %s is newer than any that was checked (3.x)",
                             x->meta.schema);
    if (!st && x->from == NAMES_FIELDS)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "TARGET_INFO_GPU_METRICS is missing; metric names come from "
                             "GENERIC_EVENT_TYPE_FIELDS");
    if (!st && x->from == NAMES_VERIFIED_IDS)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "the file has no metric names; ids are used that were verified for "
                             "set gh100 of nsys 2025.3.1 (schema 3.20.3)");
    if (!st && x->from == NAMES_NONE)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "the file has no metric names, and ids are verified only for set "
                             "gh100 of nsys 2025.3.1: no values");
    if (!st && !x->meta.has_epoch)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "the file has no session start time: times count from the start of "
                             "the capture");
    return st ? st : nsys_diag_push(&x->diag, sink, err);
}

static enum status push_gpu(const struct nsys_export *x, const struct nsys_gpu *g,
                            const struct event_sink *sink, struct error *err)
{
    struct event ev = {.kind = EVENT_GPU,
                       .u.gpu = {.gpu = g->gpu,
                                 .name = g->info.name,
                                 .uuid = g->info.uuid,
                                 .chip = g->info.chip,
                                 .pci_bus = g->info.bus}};
    enum status st = event_push(sink, &ev, err);
    if (!st)
        st = push_plan(g, sink, err);
    double asked = x->meta.nominal_hz, found = rate_hz(g);
    if (!st && asked > 0 && found > 0 && fabs(found - asked) > 0.1 * asked)
        st = event_push_note(sink, NOTE_WARNING, (int)g->gpu, err,
                             "GPU %u: sampled at %.4g Hz, asked for %.4g Hz", g->gpu, found, asked);
    return st;
}

enum status nsys_export_describe(struct nsys_export *x, const struct event_sink *sink,
                                 struct error *err)
{
    char tool[128];
    struct event ev = {.kind = EVENT_HELLO,
                       .u.hello = {.schema = EVENT_SCHEMA,
                                   .tool = version_of(x, tool, sizeof tool),
                                   .host = x->meta.host}};
    enum status st = event_push(sink, &ev, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++)
        st = push_gpu(x, &x->survey.gpus[i], sink, err);
    return st ? st : push_file_notes(x, sink, err);
}

/* What reading showed of a row, as a reason to doubt the series that it feeds. */
static bool doubt(const struct nsys_export *x, struct nsys_gpu *g, const struct nsys_raw *r,
                  char *reason, size_t size)
{
    uint64_t total = r->rows + r->refused + r->clash;
    if (x->diag.data_lost) {
        snprintf(reason, size, "nsys reports that samples were lost");
        return true;
    }
    if (r->refused) {
        snprintf(reason, size, "%" PRIu64 " of %" PRIu64 " values of \"%s\" are no valid numbers",
                 r->refused, total, r->name);
        return true;
    }
    if (r->clash) {
        snprintf(reason, size, "%" PRIu64 " instants have two values of \"%s\"", r->clash, r->name);
        return true;
    }
    if (r->rows && r->percent && r->max > 100) {
        snprintf(reason, size, "a share up to %.4g %%", r->max);
        return true;
    }
    return nsys_wrapped(g, r, reason, size);
}

static bool judge_rows(const struct nsys_export *x, struct nsys_gpu *g)
{
    bool changed = false;
    for (size_t i = 0; i < g->n_raw; i++) {
        const struct nsys_raw *r = &g->raw[i];
        char reason[NSYS_TEXT_SIZE];
        if (r->target < 0 || !g->series[r->target].parts)
            continue;
        struct nsys_series *s = &g->series[r->target];
        if (r->rows + r->refused == 0) {
            s->state = VALUE_FAILED;
            snprintf(s->reason, sizeof s->reason, "the file has no value of \"%s\"", r->name);
            changed = true;
        } else if (s->state == VALUE_OK && doubt(x, g, r, reason, sizeof reason)) {
            s->state = r->rows ? VALUE_SUSPECT : VALUE_FAILED;
            snprintf(s->reason, sizeof s->reason, "%s", reason);
            changed = true;
        }
    }
    return changed;
}

static struct nsys_batch *batch_of(struct nsys_batch *list, size_t n, int64_t type_id)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].gpu->type_id == type_id)
            return &list[i];
    return NULL;
}

struct reading {
    struct nsys_export *x;
    struct nsys_batch *list, *last; /* one a GPU; the one of the last row */
};

static enum status take_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    struct reading *r = self;
    if (!nsys_time_ok(&cells[0]) || !cells[1].is_integer) {
        r->x->bad_rows++;
        return OK;
    }
    if (!r->last || r->last->gpu->type_id != cells[1].v)
        r->last = batch_of(r->list, r->x->survey.n_gpus, cells[1].v);
    if (!r->last) { /* no name has this typeId, and it began after the first rows */
        r->x->unknown_rows++;
        return OK;
    }
    return nsys_batch_row(r->last, cells[0].v, &cells[2], &cells[3], &r->x->unknown_rows, err);
}

static void forget_reading(struct nsys_export *x)
{
    x->unknown_rows = x->bad_rows = 0;
    for (size_t i = 0; i < x->survey.n_gpus; i++)
        for (size_t k = 0; k < x->survey.gpus[i].n_raw; k++) {
            struct nsys_raw *r = &x->survey.gpus[i].raw[k];
            r->rows = r->refused = r->clash = 0;
            r->sum = r->max = 0;
        }
}

static enum status read_rows(struct nsys_export *x, enum nsys_order order, struct nsys_batch *list,
                             struct error *err)
{
    struct reading r = {x, list, NULL};
    forget_reading(x);
    enum status st = nsys_db_each(x->db, "timestamp, typeId, metricId, value", 4, "GPU_METRICS",
                                  order == NSYS_BY_TIME ? "timestamp" : NULL, 0, take_row, &r, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++)
        st = nsys_batch_flush(&list[i], err);
    return st;
}

struct order_check {
    struct nsys_export *x;
    int64_t last_ns[256]; /* as many as the survey allows */
    bool any[256];
};

static enum status check_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    struct order_check *c = self;
    if (!nsys_time_ok(&cells[0]) || !cells[1].is_integer)
        return OK;
    for (size_t i = 0; i < c->x->survey.n_gpus; i++) {
        if (c->x->survey.gpus[i].type_id != cells[1].v)
            continue;
        if (c->any[i] && cells[0].v < c->last_ns[i])
            return fail(err, ERR_ORDER, 0, "rows are not in the order of their times");
        c->last_ns[i] = cells[0].v;
        c->any[i] = true;
    }
    return OK;
}

enum status nsys_export_order(struct nsys_export *x, enum nsys_order *out, struct error *err)
{
    struct order_check check = {.x = x};
    enum status st =
        nsys_db_each(x->db, "timestamp, typeId", 2, "GPU_METRICS", NULL, 0, check_row, &check, err);
    if (st && st != ERR_ORDER)
        return st;
    *out = st ? NSYS_BY_TIME : NSYS_AS_STORED;
    return OK;
}

static enum status push_row_notes(const struct nsys_export *x, const struct event_sink *sink,
                                  struct error *err)
{
    enum status st = OK;
    if (x->bad_rows)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "%" PRIu64 " rows of GPU_METRICS have no usable time or typeId; they "
                             "were left out",
                             x->bad_rows);
    if (!st && x->unknown_rows && x->from != NAMES_NONE)
        st =
            event_push_note(sink, x->from == NAMES_VERIFIED_IDS ? NOTE_INFO : NOTE_WARNING, -1, err,
                            "%" PRIu64 " rows of GPU_METRICS have a metric id without a name; "
                            "they were left out",
                            x->unknown_rows);
    return st;
}

enum status nsys_export_read(struct nsys_export *x, enum nsys_order order,
                             const struct event_sink *sink, struct error *err)
{
    size_t n = x->survey.n_gpus;
    struct nsys_batch *list = calloc(n ? n : 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = OK;
    int64_t epoch = x->meta.has_epoch ? x->meta.epoch_ns : 0;
    for (size_t i = 0; !st && i < n; i++)
        st = nsys_batch_init(&list[i], &x->survey.gpus[i], epoch, sink, err);
    if (!st)
        st = read_rows(x, order, list, err);
    for (size_t i = 0; i < n; i++)
        nsys_batch_fini(&list[i]);
    free(list);
    for (size_t i = 0; !st && i < n; i++)
        if (judge_rows(x, &x->survey.gpus[i]))
            st = push_plan(&x->survey.gpus[i], sink, err);
    if (!st)
        st = push_row_notes(x, sink, err);
    if (!st && order == NSYS_BY_TIME)
        st = event_push_note(sink, NOTE_INFO, -1, err,
                             "rows are not in the order of their times; they were sorted");
    struct event ev = {.kind = EVENT_END, .u.end = {OK, ""}};
    return st ? st : event_push(sink, &ev, err);
}
