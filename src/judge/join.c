/* SPDX-License-Identifier: MIT */
#include "judge/join.h"

#include "judge/thresholds.h"

bool join_fits(const struct join *j, const struct server_rates *x)
{
    int64_t begin_first = x->t0_ns < j->t0_ns ? x->t0_ns : j->t0_ns;
    int64_t begin_last = x->t0_ns < j->t0_ns ? j->t0_ns : x->t0_ns;
    int64_t end_first = x->t1_ns < j->t1_ns ? x->t1_ns : j->t1_ns;
    int64_t end_last = x->t1_ns < j->t1_ns ? j->t1_ns : x->t1_ns;
    return end_first > begin_last &&
           (double)(end_first - begin_last) >= SAME_WINDOW * (double)(end_last - begin_first);
}

/* The driver measures energy and power by itself, whatever the counters cover. */
static bool is_drivers(enum metric m)
{
    return m == METRIC_ENERGY || m == METRIC_POWER;
}

static void join_whole(const struct gpu_snapshot *g, enum metric m, struct join *out)
{
    double window_s = gpu_snapshot_window_s(g);
    *out = (struct join){.t0_ns = g->t0_ns,
                         .t1_ns = g->t1_ns,
                         .coverage = is_drivers(m) ? 1 : g->coverage,
                         .value = g->metrics[m].value};
    if (m == METRIC_ENERGY && window_s > 0)
        out->value.v /= window_s;
}

static bool lies_inside(const struct metric_window *w, const struct server_rates *x)
{
    int64_t begin = w->t0_ns > x->t0_ns ? w->t0_ns : x->t0_ns;
    int64_t end = w->t1_ns < x->t1_ns ? w->t1_ns : x->t1_ns;
    return end > begin && 2 * (end - begin) >= w->t1_ns - w->t0_ns;
}

/* Every window counts by its measured time. One that is not sound spoils all. */
static void join_past(const struct metric_past *past, const struct server_rates *x,
                      struct join *out)
{
    double sum = 0, measured_ns = 0;
    enum value_state state = VALUE_OK;
    for (size_t i = 0; i < past->n; i++) {
        const struct metric_window *w = &past->list[i];
        if (!lies_inside(w, x))
            continue;
        double ns = w->coverage * (double)(w->t1_ns - w->t0_ns);
        out->t0_ns = measured_ns > 0 ? out->t0_ns : w->t0_ns;
        out->t1_ns = w->t1_ns;
        sum += w->v * ns;
        measured_ns += ns;
        state = w->state == VALUE_OK ? state : w->state;
    }
    if (state != VALUE_OK)
        value_set_state(&out->value, out->value.source, state,
                        "not sound in a part of the server's window");
    else if (measured_ns > 0)
        value_set(&out->value, out->value.source, out->t1_ns, sum / measured_ns);
    out->coverage = measured_ns / (double)(out->t1_ns - out->t0_ns);
}

void join_metric(const struct snapshot *s, const struct server_rates *rates, size_t gpu,
                 enum metric m, struct join *out)
{
    const struct gpu_snapshot *g = &s->gpus[gpu];
    int past = snapshot_past_index((int)m);
    if (!s->taken_ns || past < 0) {
        join_whole(g, m, out);
        return;
    }
    /* what is not known now, or doubted now, is not asked for its past */
    *out = (struct join){.value = g->metrics[m].value};
    if (value_is_sound(&out->value))
        join_past(&g->past[past], rates, out);
}
