/* SPDX-License-Identifier: MIT */
/* Opening an export and describing it; read.c reads its rows. */
#include "source/nsys/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "source/nsys/db.h"
#include "source/nsys/export.h"
#include "source/nsys/old.h"

/* Newest schema whose documentation was read; a newer major may mean anything. */
enum { SCHEMA_MAJOR_KNOWN = 3 };

static const char *version_of(const struct nsys_export *x, char *dst, size_t size)
{
    snprintf(dst, size, "nsys %s, schema %s", x->meta.product[0] ? x->meta.product : "version ?",
             x->meta.schema[0] ? x->meta.schema : "?");
    return dst;
}

static enum status no_gpu_metrics(struct nsys_export *x, struct error *err)
{
    char version[128];
    version_of(x, version, sizeof version);
    if (nsys_is_old_form(&x->db, &x->meta))
        return fail(err, ERR_BAD_INPUT, 0,
                    "too old: %s keeps GPU metrics as JSON in GENERIC_EVENTS; export the "
                    ".nsys-rep again with nsys 2023.4 or newer",
                    version);
    if (!nsys_db_has(&x->db, "META_DATA_EXPORT", NULL) &&
        !nsys_db_has(&x->db, "EXPORT_META_DATA", NULL) &&
        !nsys_db_has(&x->db, "TARGET_INFO_GPU", NULL))
        return fail(err, ERR_BAD_INPUT, 0, "a database, but no nsys export");
    return fail(err, ERR_BAD_INPUT, 0,
                "no GPU metrics in this export (%s): capture with --gpu-metrics-devices=all",
                version);
}

/* What everything stands on. Columns are probed, since they came and went over the versions. */
static enum status check_tables(struct nsys_export *x, struct error *err)
{
    static const char *const tables[] = {"GPU_METRICS", "TARGET_INFO_GPU_METRICS"};
    static const char *const columns[] = {"timestamp", "typeId", "metricId", "value"};
    char version[128];
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (nsys_db_table(&x->db, tables[i]) == NSYS_TABLE_ODD)
            return fail(err, ERR_BAD_INPUT, 0,
                        "%s is not an ordinary table (a view, or with generated columns)",
                        tables[i]);
    if (!nsys_db_has(&x->db, "GPU_METRICS", NULL))
        return no_gpu_metrics(x, err);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (!nsys_db_has(&x->db, "GPU_METRICS", columns[i]))
            return fail(err, ERR_BAD_INPUT, 0, "GPU_METRICS has no column %s (%s)", columns[i],
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

static enum status attach_infos(struct nsys_export *x, struct error *err)
{
    struct nsys_gpu_info *info = NULL;
    size_t n_info = 0;
    enum status st = nsys_gpu_info_read(&x->db, &info, &n_info, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++)
        attach_info(&x->survey.gpus[i], info, n_info);
    free(info);
    return st;
}

static enum status find_gpus(struct nsys_export *x, struct error *err)
{
    enum status st = nsys_survey_read(&x->db, &x->survey, err);
    if (!st && x->survey.rows == 0)
        return fail(err, ERR_BAD_INPUT, 0, "GPU_METRICS is empty");
    if (!st && !x->survey.usable)
        return fail(err, ERR_BAD_INPUT, 0, "GPU_METRICS has no usable row");
    return st ? st : attach_infos(x, err);
}

/* Names, and from them the series that each GPU has. */
static enum status plan_series(struct nsys_export *x, struct error *err)
{
    struct nsys_gpu *gpus = x->survey.gpus;
    size_t n = x->survey.n_gpus;
    enum status st = nsys_names_read(&x->db, &x->meta, gpus, n, &x->from, err);
    for (size_t i = 0; !st && i < n; i++)
        st = nsys_series_plan(&gpus[i], x->from, x->all, err);
    return st ? st : nsys_diag_explain(&x->db, gpus, n, err);
}

/* All that the file holds besides the rows of GPU_METRICS. */
static enum status read_description(struct nsys_export *x, struct error *err)
{
    enum status st = nsys_meta_read(&x->db, &x->meta, err);
    if (!st)
        st = check_tables(x, err);
    if (!st)
        st = nsys_diag_read(&x->db, &x->diag, err);
    if (!st)
        st = find_gpus(x, err);
    return st ? st : plan_series(x, err);
}

void nsys_name_file(struct error *err, enum status st, const char *path)
{
    enum { PATH_MIN = 60 }; /* bytes of it that are shown at least */
    if (!err)
        return;
    char shown[sizeof err->text];
    size_t used = strlen(err->text) + strlen(": "), room = sizeof err->text;
    str_shorten(shown, used + PATH_MIN < room ? room - used : PATH_MIN, path);
    fail_wrap(err, st, "%s", shown);
}

enum status nsys_export_open(struct nsys_export **out, const char *path, bool all,
                             struct error *err)
{
    struct nsys_export *x = calloc(1, sizeof *x);
    if (!x)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    x->all = all;
    enum status st = nsys_db_open(&x->db, path, err);
    if (!st)
        st = read_description(x, err);
    if (st) {
        nsys_name_file(err, st, path);
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
    nsys_db_close(&x->db);
    free(x);
}

enum status nsys_push_plan(const struct nsys_gpu *g, const struct event_sink *sink,
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
                                  .rate_hz = g->rate_hz,
                                  .n = g->n_series,
                                  .series = list}};
    enum status st = event_push(sink, &ev, err);
    free(list);
    return st;
}

static enum status push_schema_note(const struct nsys_meta *m, const struct event_sink *sink,
                                    struct error *err)
{
    if (m->schema_major > SCHEMA_MAJOR_KNOWN)
        return event_push_note(sink, NOTE_WARNING, -1, err,
                               "export schema %s is newer than any that was checked (3.x)",
                               m->schema);
    if (m->schema_major < 0)
        return event_push_note(sink, NOTE_WARNING, -1, err,
                               "export schema %s is not known; the file is read as if it were 3.x",
                               m->schema[0] ? m->schema : "(the file names none)");
    return OK;
}

static enum status push_names_note(enum nsys_names_from from, const struct event_sink *sink,
                                   struct error *err)
{
    if (from == NAMES_VERIFIED_IDS)
        return event_push_note(sink, NOTE_WARNING, -1, err,
                               "the file has no metric names; ids are used that were verified for "
                               "set gh100 of nsys 2025.3.1 (schema 3.20.3)");
    if (from == NAMES_NONE)
        return event_push_note(sink, NOTE_WARNING, -1, err,
                               "the file has no metric names, and ids are verified only for set "
                               "gh100 of nsys 2025.3.1: no values");
    return OK;
}

static enum status push_gpus_note(const struct nsys_survey *survey, const struct event_sink *sink,
                                  struct error *err)
{
    if (!survey->left_out)
        return OK;
    return event_push_note(sink, NOTE_WARNING, -1, err,
                           "more than %zu GPUs (typeIds); only the first %zu are read",
                           survey->n_gpus, survey->n_gpus);
}

static enum status push_time_note(const struct nsys_meta *m, const struct event_sink *sink,
                                  struct error *err)
{
    if (m->time_shift[0])
        return event_push_note(sink, NOTE_WARNING, -1, err,
                               "times were shifted on export (EXPORT_PARAM_TIME_SHIFT %s): no "
                               "wall-clock time",
                               m->time_shift);
    if (!m->has_epoch)
        return event_push_note(sink, NOTE_WARNING, -1, err,
                               "the file has no session start time: times count from the start of "
                               "the capture");
    return OK;
}

static enum status push_gpu(const struct nsys_gpu *g, const struct event_sink *sink,
                            struct error *err)
{
    struct event ev = {.kind = EVENT_GPU,
                       .u.gpu = {.gpu = g->gpu,
                                 .name = g->info.name,
                                 .uuid = g->info.uuid,
                                 .chip = g->info.chip,
                                 .pci_bus = g->info.bus}};
    enum status st = event_push(sink, &ev, err);
    return st ? st : nsys_push_plan(g, sink, err);
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
        st = push_gpu(&x->survey.gpus[i], sink, err);
    if (!st)
        st = push_schema_note(&x->meta, sink, err);
    if (!st)
        st = push_names_note(x->from, sink, err);
    if (!st)
        st = push_gpus_note(&x->survey, sink, err);
    if (!st)
        st = push_time_note(&x->meta, sink, err);
    return st ? st : nsys_diag_push(&x->diag, sink, err);
}
