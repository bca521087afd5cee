/* SPDX-License-Identifier: MIT */
#include "collect/totals.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "collect/planned.h"
#include "collect/rank.h"
#include "metric/throttle.h"

/* A sample that ended so much later than now was stamped before the clock was set back. */
static const int64_t ahead_ns = INT64_C(1000000000);

/* One metric of one GPU. */
struct track {
    double integral;
    int64_t measured_ns;
    int64_t mark_ns; /* end of the newest sample that counted, UNIX time; 0 = none */
    double reading;
    enum source_id source; /* whose sample that was */
};

struct gpu {
    struct track tracks[METRIC_COUNT];
    struct planned plans[SOURCE_COUNT];
    bool is_offered[SOURCE_COUNT][METRIC_COUNT];
    int64_t throttled_ns[THROTTLE_REASONS];
};

struct totals {
    struct gpu *gpus[TOTALS_GPUS_MAX]; /* owned; NULL = not seen */
    int64_t begin_ns;
};

enum status totals_create(struct totals **out, int64_t begin_ns, struct error *err)
{
    struct totals *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->begin_ns = begin_ns;
    *out = t;
    return OK;
}

void totals_destroy(struct totals *t)
{
    for (size_t i = 0; t && i < TOTALS_GPUS_MAX; i++) {
        for (size_t k = 0; t->gpus[i] && k < SOURCE_COUNT; k++)
            planned_fini(&t->gpus[i]->plans[k]);
        free(t->gpus[i]);
    }
    free(t);
}

/* ---- plans ---- */

static struct gpu *gpu_of(struct totals *t, unsigned index)
{
    struct gpu *g = t->gpus[index];
    if (g)
        return g;
    g = t->gpus[index] = calloc(1, sizeof *g);
    for (size_t m = 0; g && m < METRIC_COUNT; m++)
        g->tracks[m].reading = NAN;
    return g;
}

/* Suspect samples are no sound ones: they do not count. */
static bool counts(const struct plan_series *s)
{
    return s->metric != METRIC_NONE && s->state == VALUE_OK &&
           metric_info((enum metric)s->metric)->scope == SCOPE_GPU;
}

static enum status take_plan(struct totals *t, const struct event_plan *ev, struct error *err)
{
    if (ev->gpu >= TOTALS_GPUS_MAX)
        return OK;
    struct gpu *g = gpu_of(t, ev->gpu);
    struct planned *p = g ? &g->plans[ev->source] : NULL;
    enum status st = p ? planned_set(p, ev, counts, err) : fail(err, ERR_NOMEM, 0, "out of memory");
    if (st)
        return st;
    for (size_t m = 0; m < METRIC_COUNT; m++)
        g->is_offered[ev->source][m] = false;
    for (size_t i = 0; i < p->n; i++)
        if (p->metric[i] != METRIC_NONE)
            g->is_offered[ev->source][p->metric[i]] = true;
    return OK;
}

/* ---- samples ---- */

/* The driver's own count: it needs no adding up. How long it counted is known between two readings
 * of ours, unless it began again meanwhile. */
static void take_reading(struct track *k, const struct totals *t, int64_t t1_ns, double v)
{
    if (v < 0 || t1_ns <= k->mark_ns)
        return;
    if (k->mark_ns >= t->begin_ns && k->mark_ns > 0 && v >= k->reading)
        k->measured_ns += t1_ns - k->mark_ns;
    k->reading = v;
    k->mark_ns = t1_ns;
}

static void take_throttle(struct gpu *g, double v, int64_t length_ns)
{
    uint64_t bits = v < 9007199254740992.0 ? (uint64_t)v : 0;
    for (size_t i = 0; i < THROTTLE_REASONS; i++)
        if (bits & UINT64_C(1) << i)
            g->throttled_ns[i] += length_ns;
}

/* A sample counts as a whole or not at all: of one that lies half before the mark, nobody knows
 * what its other half was. A share above 1 cannot be true. */
static void take_sample(struct gpu *g, enum metric m, const struct totals *t, int64_t t0_ns,
                        int64_t t1_ns, double v)
{
    struct track *k = &g->tracks[m];
    int64_t length_ns = t1_ns - t0_ns;
    enum unit unit = metric_info(m)->unit;
    double more = v * ((double)length_ns * 1e-9);
    if (length_ns <= 0 || t0_ns < k->mark_ns || t0_ns < t->begin_ns || v < 0 ||
        (unit == UNIT_RATIO && v > 1) || !isfinite(k->integral + more))
        return;
    if (unit == UNIT_FLAGS)
        take_throttle(g, v, length_ns);
    k->integral += more;
    k->measured_ns += length_ns;
    k->mark_ns = t1_ns;
}

static void take_column(struct gpu *g, enum metric m, const struct totals *t,
                        const struct event_samples *ev, const double *values)
{
    struct track *k = &g->tracks[m];
    if (!source_may_write(ev->source, ev->t0_ns[0], k->source, k->mark_ns))
        return;
    int64_t before_ns = k->mark_ns;
    for (size_t i = 0; i < ev->n; i++) {
        if (!isfinite(values[i]) || ev->t0_ns[i] < 0)
            continue;
        if (metric_info(m)->kind == KIND_COUNTER)
            take_reading(k, t, ev->t1_ns[i], values[i]);
        else
            take_sample(g, m, t, ev->t0_ns[i], ev->t1_ns[i], values[i]);
    }
    if (k->mark_ns != before_ns)
        k->source = ev->source;
}

/* After the clock was set back nothing would count until it is as late as before. */
static void follow_clock(struct totals *t, struct gpu *g)
{
    int64_t now_ns = clock_unix_ns();
    if (t->begin_ns > now_ns + ahead_ns)
        t->begin_ns = now_ns;
    for (size_t m = 0; m < METRIC_COUNT; m++)
        if (g->tracks[m].mark_ns > now_ns + ahead_ns)
            g->tracks[m].mark_ns = now_ns;
}

static void take_samples(struct totals *t, const struct event_samples *ev)
{
    struct gpu *g = ev->gpu < TOTALS_GPUS_MAX ? t->gpus[ev->gpu] : NULL;
    if (!g || ev->n == 0)
        return;
    const struct planned *p = &g->plans[ev->source];
    follow_clock(t, g);
    for (size_t c = 0; c < ev->columns; c++) {
        int metric = planned_metric(p, ev->series[c]);
        if (metric != METRIC_NONE)
            take_column(g, (enum metric)metric, t, ev, ev->values + c * ev->stride);
    }
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    if (ev->kind == EVENT_PLAN)
        return take_plan(self, &ev->u.plan, err);
    if (ev->kind == EVENT_SAMPLES)
        take_samples(self, &ev->u.samples);
    return OK;
}

struct event_sink totals_sink(struct totals *t)
{
    return (struct event_sink){take, t};
}

/* ---- queries ---- */

struct total totals_of(const struct totals *t, unsigned gpu, enum metric m)
{
    struct total total = {.integral = NAN, .reading = NAN};
    const struct gpu *g = gpu < TOTALS_GPUS_MAX ? t->gpus[gpu] : NULL;
    if (!g)
        return total;
    const struct track *k = &g->tracks[m];
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        total.is_offered |= g->is_offered[i][m];
    total.measured_s = (double)k->measured_ns / 1e9;
    total.reading = k->reading;
    if (metric_info(m)->kind == KIND_GAUGE && metric_info(m)->unit != UNIT_FLAGS)
        total.integral = k->integral;
    return total;
}

double totals_throttled_s(const struct totals *t, unsigned gpu, size_t bit)
{
    const struct gpu *g = gpu < TOTALS_GPUS_MAX ? t->gpus[gpu] : NULL;
    return g && bit < THROTTLE_REASONS ? (double)g->throttled_ns[bit] / 1e9 : 0;
}
