/* SPDX-License-Identifier: MIT */
#include "collect/crosscheck.h"

#include <math.h>

static const struct {
    enum metric gpm, pm[2];
} checks[] = {
#define X(gpm, a, b) {METRIC_##gpm, {METRIC_##a, METRIC_##b}},
    CROSSCHECKS(X)
#undef X
};

/* TOLERANCE: twice what the two differed by at most on an H200 (0.01), and some. EDGE_S: a batch of
 * PM sampling is up to 0.15 s long, so that both ends of a span can be off by so much. */
static const double TOLERANCE = 0.03, EDGE_S = 0.15, SPAN_MIN_S = 3;

static int column_of(const struct event_samples *batch, const int *metric_of, enum metric m)
{
    for (size_t c = 0; c < batch->columns; c++)
        if (metric_of[c] == (int)m)
            return (int)c;
    return -1;
}

static double value(const struct event_samples *batch, int column, size_t i)
{
    return column < 0 ? NAN : batch->values[(size_t)column * batch->stride + i];
}

static void add_pm_samples(struct crosscheck *c, size_t check, const struct event_samples *batch,
                           const int *metric_of)
{
    int a = column_of(batch, metric_of, checks[check].pm[0]);
    int b = column_of(batch, metric_of, checks[check].pm[1]);
    for (size_t i = 0; i < batch->n; i++) {
        double seconds = (double)(batch->t1_ns[i] - batch->t0_ns[i]) * 1e-9;
        double v = value(batch, a, i) + (a == b ? 0 : value(batch, b, i));
        c->now.integral[check] += v * seconds;
    }
}

void crosscheck_pm(struct crosscheck *c, const struct event_samples *batch, const int *metric_of)
{
    for (size_t check = 0; check < CROSSCHECK_COUNT; check++)
        add_pm_samples(c, check, batch, metric_of);
    for (size_t i = 0; i < batch->n; i++)
        c->now.seconds += (double)(batch->t1_ns[i] - batch->t0_ns[i]) * 1e-9;
    c->now.t_ns = batch->t1_ns[batch->n - 1];
    c->marks[c->n_marks++ % CROSSCHECK_MARKS] = c->now;
}

/* The newest mark that is not later than t, else none. */
static const struct crosscheck_mark *mark_at(const struct crosscheck *c, int64_t t_ns)
{
    size_t kept = c->n_marks < CROSSCHECK_MARKS ? c->n_marks : CROSSCHECK_MARKS;
    for (size_t back = 1; back <= kept; back++) {
        const struct crosscheck_mark *m = &c->marks[(c->n_marks - back) % CROSSCHECK_MARKS];
        if (m->t_ns <= t_ns)
            return m;
    }
    return NULL;
}

/* GPM began, or broke off and began again: compare from here on. */
static void begin_at(struct crosscheck *c, int64_t t0_ns)
{
    const struct crosscheck_mark *mark = mark_at(c, t0_ns);
    c->has_begin = mark != NULL;
    if (mark)
        c->begin = *mark;
    c->gpm_t0_ns = t0_ns;
    c->gpm_seconds = 0;
    for (size_t check = 0; check < CROSSCHECK_COUNT; check++)
        c->gpm_integral[check] = 0;
}

void crosscheck_gpm(struct crosscheck *c, const struct event_samples *batch, const int *metric_of)
{
    for (size_t i = 0; i < batch->n; i++) {
        if (!c->has_begin || batch->t0_ns[i] - c->gpm_t1_ns > 10000000)
            begin_at(c, batch->t0_ns[i]);
        double seconds = (double)(batch->t1_ns[i] - batch->t0_ns[i]) * 1e-9;
        for (size_t check = 0; check < CROSSCHECK_COUNT; check++)
            c->gpm_integral[check] +=
                seconds * value(batch, column_of(batch, metric_of, checks[check].gpm), i);
        c->gpm_seconds += seconds;
        c->gpm_t1_ns = batch->t1_ns[i];
    }
}

bool crosscheck_disagrees(const struct crosscheck *c, enum metric m, double *pm, double *gpm,
                          double *seconds)
{
    const struct crosscheck_mark *end = c->has_begin ? mark_at(c, c->gpm_t1_ns) : NULL;
    if (!end || c->gpm_seconds < SPAN_MIN_S)
        return false;
    double pm_seconds = end->seconds - c->begin.seconds;
    /* a span that PM sampling covers only in part proves nothing */
    if (pm_seconds < 0.9 * c->gpm_seconds)
        return false;
    for (size_t check = 0; check < CROSSCHECK_COUNT; check++) {
        if (m != checks[check].gpm && m != checks[check].pm[0] && m != checks[check].pm[1])
            continue;
        *pm = (end->integral[check] - c->begin.integral[check]) / pm_seconds;
        *gpm = c->gpm_integral[check] / c->gpm_seconds;
        *seconds = c->gpm_seconds;
        return fabs(*pm - *gpm) > TOLERANCE + 2 * EDGE_S / c->gpm_seconds; /* false for NaN */
    }
    return false;
}
