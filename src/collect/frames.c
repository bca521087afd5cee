/* SPDX-License-Identifier: MIT */
#include "collect/frames.h"

#include <math.h>
#include <stdlib.h>

#include "collect/planned.h"
#include "collect/rank.h"

struct cell {
    double min, max, sum;
    size_t n;
    enum source_id source; /* whose samples are taken */
    int64_t last_ns;       /* end of its newest one */
};

struct gpu {
    struct cell cells[METRIC_COUNT];
    struct planned plans[SOURCE_COUNT];
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
            planned_fini(&f->gpus[i]->plans[k]);
        free(f->gpus[i]);
    }
    free(f);
}

static enum status take_plan(struct frames *f, const struct event_plan *ev, struct error *err)
{
    if (ev->gpu >= FRAMES_GPUS_MAX)
        return OK;
    struct gpu **g = &f->gpus[ev->gpu];
    if (!*g)
        *g = calloc(1, sizeof **g);
    return *g ? planned_set(&(*g)->plans[ev->source], ev, planned_is_curve, err)
              : fail(err, ERR_NOMEM, 0, "out of memory");
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
    if (!source_may_write(ev->source, ev->t1_ns[ev->n - 1], c->source, c->last_ns))
        return false;
    if (c->source != ev->source) /* what the one before said of this frame is forgotten */
        *c = (struct cell){.source = ev->source};
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
    const struct planned *p = &g->plans[ev->source];
    for (size_t c = 0; c < ev->columns; c++) {
        int metric = planned_metric(p, ev->series[c]);
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
