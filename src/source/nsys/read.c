/* SPDX-License-Identifier: MIT */
/* Reading the rows of GPU_METRICS, and judging what they showed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "source/nsys/batch.h"
#include "source/nsys/db.h"
#include "source/nsys/export.h"

static uint64_t rows_of(const struct nsys_file_metric *m)
{
    return m->taken + m->refused + m->ran_over + m->duplicates;
}

/* What reading showed of a metric, as a reason to suspect the series that it feeds. */
static bool suspicious(const struct nsys_export *x, const struct nsys_gpu *g,
                       const struct nsys_file_metric *m, char *reason, size_t size)
{
    double nominal_ns = x->meta.nominal_hz > 0 ? 1e9 / x->meta.nominal_hz : 0;
    if (x->diag.data_lost)
        snprintf(reason, size, "nsys reports that samples were lost%s",
                 x->survey.n_gpus > 1 ? "; with several GPUs this may concern another one" : "");
    else if (m->refused)
        snprintf(reason, size, "%" PRIu64 " of %" PRIu64 " values of \"%s\" are no valid numbers",
                 m->refused, rows_of(m), m->name);
    else if (m->ran_over)
        snprintf(reason, size,
                 "%" PRIu64 " of %" PRIu64 " values ran over 32 bits: they disagree with the warps "
                 "per cycle beside them",
                 m->ran_over, rows_of(m));
    else if (m->duplicates)
        snprintf(reason, size, "%" PRIu64 " instants have two values of \"%s\"", m->duplicates,
                 m->name);
    else if (m->taken && m->means == MEANS_PERCENT && m->max > 100)
        snprintf(reason, size, "a share up to %.4g %%", m->max);
    else if (nsys_wrap_possible(g, m, nominal_ns))
        snprintf(reason, size,
                 "samples are so long that a count of 32 bits can run over, and "
                 "nothing in the file shows whether it did");
    else
        return false;
    return true;
}

/* What is rarely there may be there only when something happens: its mean is that of those times.
 */
static void check_rare(const struct nsys_gpu *g, struct nsys_series *s)
{
    uint64_t have = g->samples - s->incomplete;
    if (!s->addends || s->state != VALUE_OK || have >= g->samples - have)
        return;
    s->state = VALUE_SUSPECT;
    snprintf(s->reason, sizeof s->reason, "only %" PRIu64 " of %" PRIu64 " samples have it", have,
             g->samples);
}

static void check_readings(const struct nsys_export *x, struct nsys_gpu *g)
{
    for (size_t i = 0; i < g->n_metrics; i++) {
        const struct nsys_file_metric *m = &g->metrics[i];
        char reason[NSYS_TEXT_SIZE];
        if (m->series < 0 || !g->series[m->series].addends)
            continue;
        struct nsys_series *s = &g->series[m->series];
        if (rows_of(m) == 0) {
            s->state = VALUE_FAILED;
            snprintf(s->reason, sizeof s->reason, "the file has no value of \"%s\"", m->name);
        } else if (s->state == VALUE_OK && suspicious(x, g, m, reason, sizeof reason)) {
            s->state = m->taken ? VALUE_SUSPECT : VALUE_FAILED;
            snprintf(s->reason, sizeof s->reason, "%s", reason);
        }
    }
    for (size_t i = 0; i < g->n_series; i++)
        check_rare(g, &g->series[i]);
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
    if (!r->last || r->last->gpu->type_id != cells[1].v) {
        struct nsys_survey *sv = &r->x->survey;
        struct nsys_gpu *g = nsys_gpu_find(sv->gpus, sv->n_gpus, cells[1].v);
        r->last = g ? &r->list[g - sv->gpus] : NULL;
    }
    if (!r->last) { /* no name has this typeId, and it began after the first rows */
        r->x->foreign_rows++;
        return OK;
    }
    return nsys_batch_row(r->last, cells[0].v, &cells[2], &cells[3], &r->x->unknown_rows, err);
}

static void forget_reading(struct nsys_export *x)
{
    x->unknown_rows = x->foreign_rows = x->bad_rows = 0;
    for (size_t i = 0; i < x->survey.n_gpus; i++) {
        struct nsys_gpu *g = &x->survey.gpus[i];
        g->samples = 0;
        for (size_t k = 0; k < g->n_series; k++)
            g->series[k].incomplete = 0;
        for (size_t k = 0; k < g->n_metrics; k++) {
            struct nsys_file_metric *m = &g->metrics[k];
            m->taken = m->refused = m->ran_over = m->unchecked = m->duplicates = 0;
            m->max = 0;
        }
    }
}

static enum status read_rows(struct nsys_export *x, enum nsys_order order, struct nsys_batch *list,
                             struct error *err)
{
    struct reading r = {x, list, NULL};
    forget_reading(x);
    enum status st = nsys_db_each(&x->db, "timestamp, typeId, metricId, value", 4, "GPU_METRICS",
                                  order == NSYS_BY_TIME ? "timestamp" : NULL, 0, take_row, &r, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++)
        st = nsys_batch_flush(&list[i], err);
    return st;
}

struct order_check {
    struct nsys_survey *survey;
    struct {
        int64_t ns;
        bool any;
    } last[256]; /* one a GPU; as many as the survey allows */
};

static enum status check_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    struct order_check *c = self;
    if (!nsys_time_ok(&cells[0]) || !cells[1].is_integer)
        return OK;
    struct nsys_gpu *g = nsys_gpu_find(c->survey->gpus, c->survey->n_gpus, cells[1].v);
    if (!g)
        return OK;
    size_t i = (size_t)(g - c->survey->gpus);
    if (c->last[i].any && cells[0].v < c->last[i].ns)
        return fail(err, ERR_ORDER, 0, "rows are not in the order of their times");
    c->last[i].ns = cells[0].v;
    c->last[i].any = true;
    return OK;
}

enum status nsys_export_order(struct nsys_export *x, enum nsys_order *out, struct error *err)
{
    struct order_check check = {.survey = &x->survey};
    enum status st = nsys_db_each(&x->db, "timestamp, typeId", 2, "GPU_METRICS", NULL, 0, check_row,
                                  &check, err);
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
    if (!st && x->foreign_rows)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "%" PRIu64 " rows of GPU_METRICS have a typeId that is none of the "
                             "GPUs; they were left out",
                             x->foreign_rows);
    return st;
}

/* Without a session start, times must not look like those of a clock on the wall. */
static int64_t epoch_of(const struct nsys_export *x)
{
    if (x->meta.has_epoch)
        return x->meta.epoch_ns;
    return x->survey.first_ns >= CLOCK_WALL_MIN_NS ? -x->survey.first_ns : 0;
}

static enum status read_samples(struct nsys_export *x, enum nsys_order order,
                                const struct event_sink *sink, struct error *err)
{
    size_t n = x->survey.n_gpus;
    struct nsys_batch *list = calloc(n ? n : 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = OK;
    for (size_t i = 0; !st && i < n; i++)
        st = nsys_batch_init(&list[i], &x->survey.gpus[i], epoch_of(x), x->meta.nominal_hz,
                             x->db.size, sink, err);
    if (!st)
        st = read_rows(x, order, list, err);
    for (size_t i = 0; i < n; i++)
        nsys_batch_fini(&list[i]);
    free(list);
    return st;
}

/* The plan again, with the rate and the states as reading showed them. */
static enum status push_findings(const struct nsys_export *x, struct nsys_gpu *g,
                                 const struct event_sink *sink, struct error *err)
{
    check_readings(x, g);
    enum status st = nsys_push_plan(g, sink, err);
    double asked = x->meta.nominal_hz, found = g->rate_hz;
    if (!st && asked > 0 && found > 0 && fabs(found - asked) > 0.1 * asked)
        st = event_push_note(sink, NOTE_WARNING, (int)g->gpu, err,
                             "GPU %u: sampled at %.4g Hz, asked for %.4g Hz", g->gpu, found, asked);
    return st;
}

enum status nsys_export_read(struct nsys_export *x, enum nsys_order order,
                             const struct event_sink *sink, struct error *err)
{
    enum status st = read_samples(x, order, sink, err);
    for (size_t i = 0; !st && i < x->survey.n_gpus; i++)
        st = push_findings(x, &x->survey.gpus[i], sink, err);
    if (!st)
        st = push_row_notes(x, sink, err);
    if (!st && order == NSYS_BY_TIME)
        st = event_push_note(sink, NOTE_INFO, -1, err,
                             "rows are not in the order of their times; they were sorted");
    struct event ev = {.kind = EVENT_END, .u.end = {OK, ""}};
    return st ? st : event_push(sink, &ev, err);
}
