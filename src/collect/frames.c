/* SPDX-License-Identifier: MIT */
#include "collect/frames.h"

#include <math.h>
#include <stdlib.h>

#include "collect/rank.h"

/* A finer source that was silent for so long has lost its place. */
static const int64_t silent_ns = INT64_C(3000000000);

struct cell {
    double min, max, sum;
    size_t n;
    enum source_id source; /* whose samples are taken */
    int64_t last_ns;       /* end of its newest one */
};

struct plan {
    int *metric; /* owned; METRIC_NONE for what is left out */
    size_t n;
};

struct gpu {
    struct cell cells[METRIC_COUNT];
    struct plan plans[SOURCE_COUNT];
};

struct frames {
    struct gpu *gpus[FRAMES_GPUS_MAX]; /* owned; NULL = not seen */
    int64_t t0_ns, t1_ns;
    bool any;
};

enum status frames_create(struct frames **out, struct error *err)
{
    struct frames *f = calloc(1, sizeof *f);
    if (!f)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = f;
    return OK;
}

void frames_destroy(struct frames *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < FRAMES_GPUS_MAX; i++) {
        for (size_t k = 0; f->gpus[i] && k < SOURCE_COUNT; k++)
            free(f->gpus[i]->plans[k].metric);
        free(f->gpus[i]);
    }
    free(f);
}

static bool is_drawn(int metric)
{
    if (metric == METRIC_NONE)
        return false;
    const struct metric_info *info = metric_info((enum metric)metric);
    return info->scope == SCOPE_GPU && info->kind == KIND_GAUGE && info->unit != UNIT_FLAGS;
}

static enum status take_plan(struct frames *f, const struct event_plan *ev, struct error *err)
{
    if (ev->gpu >= FRAMES_GPUS_MAX)
        return OK;
    struct gpu **g = &f->gpus[ev->gpu];
    if (!*g)
        *g = calloc(1, sizeof **g);
    int *metric = *g ? calloc(ev->n + 1, sizeof *metric) : NULL;
    if (!metric)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->n; i++)
        metric[i] = is_drawn(ev->series[i].metric) ? ev->series[i].metric : METRIC_NONE;
    struct plan *p = &(*g)->plans[ev->source];
    free(p->metric);
    *p = (struct plan){metric, ev->n};
    return OK;
}

/* When another source takes over, what the one before said of this frame is forgotten. */
static bool take_over(struct cell *c, enum source_id source, int64_t t1_ns)
{
    if (c->source == source)
        return true;
    if (source_rank(source) <= source_rank(c->source) && t1_ns - c->last_ns < silent_ns)
        return false;
    *c = (struct cell){.source = source};
    return true;
}

static void add(struct cell *c, double v)
{
    c->min = c->n ? fmin(c->min, v) : v;
    c->max = c->n ? fmax(c->max, v) : v;
    c->sum = c->n ? c->sum + v : v;
    c->n++;
}

static bool take_column(struct cell *c, const struct event_samples *ev, size_t column)
{
    const double *values = ev->values + column * ev->stride;
    bool any = false;
    if (!take_over(c, ev->source, ev->t1_ns[ev->n - 1]))
        return false;
    for (size_t i = 0; i < ev->n; i++)
        if (isfinite(values[i])) {
            add(c, values[i]);
            any = true;
        }
    c->last_ns = ev->t1_ns[ev->n - 1];
    return any;
}

static void take_samples(struct frames *f, const struct event_samples *ev)
{
    struct gpu *g = ev->gpu < FRAMES_GPUS_MAX ? f->gpus[ev->gpu] : NULL;
    bool any = false;
    if (!g || ev->n == 0)
        return;
    const struct plan *p = &g->plans[ev->source];
    for (size_t c = 0; c < ev->columns; c++) {
        int metric = ev->series[c] < p->n ? p->metric[ev->series[c]] : METRIC_NONE;
        if (metric != METRIC_NONE)
            any |= take_column(&g->cells[metric], ev, c);
    }
    if (!any)
        return;
    int64_t t0_ns = ev->t0_ns[0], t1_ns = ev->t1_ns[ev->n - 1];
    f->t0_ns = f->any && f->t0_ns < t0_ns ? f->t0_ns : t0_ns;
    f->t1_ns = f->any && f->t1_ns > t1_ns ? f->t1_ns : t1_ns;
    f->any = true;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    if (ev->kind == EVENT_PLAN)
        return take_plan(self, &ev->u.plan, err);
    if (ev->kind == EVENT_SAMPLES)
        take_samples(self, &ev->u.samples);
    return OK;
}

struct event_sink frames_sink(struct frames *f)
{
    return (struct event_sink){take, f};
}

bool frames_span(const struct frames *f, int64_t *t0_ns, int64_t *t1_ns)
{
    *t0_ns = f->t0_ns;
    *t1_ns = f->t1_ns;
    return f->any;
}

bool frames_of(const struct frames *f, unsigned gpu, enum metric m, double *min, double *mean,
               double *max)
{
    const struct gpu *g = gpu < FRAMES_GPUS_MAX ? f->gpus[gpu] : NULL;
    const struct cell *c = g ? &g->cells[m] : NULL;
    if (!c || c->n == 0)
        return false;
    *min = c->min;
    *mean = c->sum / (double)c->n;
    *max = c->max;
    return true;
}

void frames_clear(struct frames *f)
{
    f->any = false;
    for (size_t i = 0; i < FRAMES_GPUS_MAX; i++)
        for (size_t m = 0; f->gpus[i] && m < METRIC_COUNT; m++)
            f->gpus[i]->cells[m].n = 0;
}
