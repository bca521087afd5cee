/* SPDX-License-Identifier: MIT */
#include "cmd/readings.h"

#include <math.h>

static void take_plan(struct reading *r, const struct event_plan *plan)
{
    if (plan->n > METRIC_COUNT)
        return;
    for (size_t i = r->n; i < plan->n; i++)
        r->values[i] = NAN;
    r->n = plan->n;
    for (size_t i = 0; i < plan->n; i++)
        r->is_level[i] = plan->series[i].metric != METRIC_NONE &&
                         metric_info((enum metric)plan->series[i].metric)->kind == KIND_GAUGE;
}

static void take_samples(struct reading *r, const struct event_samples *s)
{
    for (size_t c = 0; c < s->columns; c++)
        for (size_t i = 0; i < s->n; i++) {
            double v = s->values[c * s->stride + i];
            if (s->series[c] < r->n && isfinite(v))
                r->values[s->series[c]] = v;
        }
    r->t_ns = s->t1_ns[s->n - 1];
}

void readings_take(struct readings *r, const struct event *ev)
{
    if (ev->kind == EVENT_PLAN && ev->u.plan.source == SOURCE_NVML &&
        ev->u.plan.gpu < SOURCE_GPUS_MAX)
        take_plan(&r->gpu[ev->u.plan.gpu], &ev->u.plan);
    else if (ev->kind == EVENT_SAMPLES && ev->u.samples.source == SOURCE_NVML &&
             ev->u.samples.gpu < SOURCE_GPUS_MAX && ev->u.samples.n > 0)
        take_samples(&r->gpu[ev->u.samples.gpu], &ev->u.samples);
}

static enum status push_gpu(const struct reading *r, unsigned gpu, int64_t unix_ns,
                            const struct event_sink *sink, struct error *err)
{
    uint32_t series[METRIC_COUNT];
    double values[METRIC_COUNT];
    size_t columns = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!r->is_level[i] || !isfinite(r->values[i]))
            continue;
        series[columns] = (uint32_t)i;
        values[columns++] = r->values[i];
    }
    if (columns == 0)
        return OK;
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.gpu = gpu,
                                     .source = SOURCE_NVML,
                                     .n = 1,
                                     .t0_ns = &unix_ns,
                                     .t1_ns = &unix_ns,
                                     .columns = columns,
                                     .series = series,
                                     .values = values,
                                     .stride = 1}};
    return event_push(sink, &ev, err);
}

enum status readings_push(const struct readings *r, int64_t unix_ns, const struct event_sink *sink,
                          struct error *err)
{
    enum status st = OK;
    for (unsigned gpu = 0; !st && gpu < SOURCE_GPUS_MAX; gpu++)
        if (r->gpu[gpu].n && r->gpu[gpu].t_ns)
            st = push_gpu(&r->gpu[gpu], gpu, unix_ns, sink, err);
    return st;
}
