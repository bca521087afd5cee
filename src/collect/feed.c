/* SPDX-License-Identifier: MIT */
#include "collect/feed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static void series_fini(struct series *s)
{
    free(s->name);
    free(s->counter);
    free(s->reason);
    tally_fini(&s->tally);
}

void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < f->n_series; i++)
        series_fini(&f->series[i]);
    free(f->series);
    *f = (struct feed){0};
}

void feed_forget(struct feed *f)
{
    f->samples = f->gaps = 0;
    f->t0_ns = f->t1_ns = f->covered_ns = f->longest_gap_ns = 0;
    for (size_t i = 0; i < f->n_series; i++) {
        struct series *s = &f->series[i];
        tally_fini(&s->tally);
        tally_init(&s->tally);
        s->above_one = s->idle = s->flags = 0;
        s->count = (struct counter){0};
    }
}

static bool set_text(char **dst, const char *src)
{
    char *text = str_clean_copy(src);
    if (!text)
        return false;
    free(*dst);
    *dst = text;
    return true;
}

static bool series_set(struct series *s, const struct plan_series *p)
{
    s->metric = p->metric;
    s->unit = p->unit;
    s->state = p->state;
    s->resolution = p->resolution;
    return set_text(&s->name, p->name) && set_text(&s->counter, p->counter) &&
           set_text(&s->reason, p->reason);
}

static enum status make_series(struct feed *f, const struct event_plan *ev, struct error *err)
{
    f->series = calloc(ev->n ? ev->n : 1, sizeof *f->series);
    if (!f->series)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    f->n_series = ev->n;
    for (size_t i = 0; i < ev->n; i++)
        tally_init(&f->series[i].tally);
    return OK;
}

enum status feed_plan(struct feed *f, const struct event_plan *ev, struct error *err)
{
    if (f->series && f->n_series != ev->n)
        return fail(err, ERR_BAD_INPUT, 0, "a later plan of GPU %u has %zu series instead of %zu",
                    ev->gpu, ev->n, f->n_series);
    enum status st = f->series ? OK : make_series(f, ev, err);
    if (st)
        return st;
    f->rate_hz = ev->rate_hz;
    for (size_t i = 0; i < ev->n; i++)
        if (!series_set(&f->series[i], &ev->series[i]))
            return fail(err, ERR_NOMEM, 0, "out of memory");
    return OK;
}

/* Coverage: which share of the wall time was really measured, and where it broke. */
static void take_time(struct feed *f, int64_t t0_ns, int64_t t1_ns)
{
    if (f->samples == 0)
        f->t0_ns = t0_ns;
    else if (t0_ns > f->t1_ns) {
        f->gaps++;
        if (t0_ns - f->t1_ns > f->longest_gap_ns)
            f->longest_gap_ns = t0_ns - f->t1_ns;
    }
    f->samples++;
    f->covered_ns += t1_ns - t0_ns;
    f->t1_ns = t1_ns;
}

static void take_values(struct series *s, const double *values, size_t n)
{
    double idle = s->resolution > SNAPSHOT_IDLE_SHARE ? s->resolution : SNAPSHOT_IDLE_SHARE;
    for (size_t i = 0; i < n; i++) {
        tally_add(&s->tally, values[i]);
        s->above_one += s->unit == UNIT_RATIO && values[i] > 1;
        if (s->unit == UNIT_FLAGS && values[i] > 0 && values[i] < 9007199254740992.0)
            s->flags |= (uint64_t)values[i];
        /* a little slack: 0.01 + 0.01 + 0.01 is not the double 0.03 */
        s->idle += s->unit == UNIT_RATIO && isfinite(values[i]) && values[i] <= idle + 1e-9;
    }
}

static bool is_counter(const struct series *s)
{
    return s->metric != METRIC_NONE && metric_info((enum metric)s->metric)->kind == KIND_COUNTER;
}

/* Whole joules since the driver started, say: what counts is how much it grew, and when. */
static void take_count(struct counter *c, bool is_first, const int64_t *t1_ns, const double *values,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        if (is_first)
            *c = (struct counter){
                .first = values[i], .first_ns = t1_ns[i], .last = values[i], .last_ns = t1_ns[i]};
        is_first = false;
        c->step_ns = t1_ns[i] - c->last_ns > c->step_ns ? t1_ns[i] - c->last_ns : c->step_ns;
        c->fell |= values[i] < c->last;
        c->last = values[i];
        c->last_ns = t1_ns[i];
    }
}

enum status feed_samples(struct feed *f, const struct event_samples *ev, struct error *err)
{
    for (size_t i = 0; i < ev->n; i++)
        take_time(f, ev->t0_ns[i], ev->t1_ns[i]);
    for (size_t col = 0; col < ev->columns; col++) {
        if (ev->series[col] >= f->n_series)
            return fail(err, ERR_BAD_INPUT, 0, "samples of a series that the plan of GPU %u lacks",
                        ev->gpu);
        struct series *s = &f->series[ev->series[col]];
        const double *values = ev->values + col * ev->stride;
        if (is_counter(s))
            take_count(&s->count, s->tally.count == 0, ev->t1_ns, values, ev->n);
        take_values(s, values, ev->n);
    }
    return OK;
}

const struct metric_stats no_stats = {
    .min = NAN, .p05 = NAN, .p50 = NAN, .p95 = NAN, .max = NAN, .idle_share = NAN};

/* How seldom sources read what costs much (docs/interface.md). */
static const double slow_s = 5;

/* The readings lie up to a period inside the window at both ends; what is missing there is taken to
 * be like what was read, as PromQL's increase() does: up to two periods at an end, and at most as
 * much as was read. https://prometheus.io/docs/prometheus/latest/querying/functions/#increase */
static void increase_stats(const struct feed *f, const struct series *s, int64_t t0_ns,
                           int64_t t1_ns, struct metric_stats *out)
{
    const struct counter *c = &s->count;
    double read_s = (double)(c->last_ns - c->first_ns) * 1e-9;
    double window_s = (double)(t1_ns - t0_ns) * 1e-9;
    double before_s = (double)(c->first_ns - t0_ns) * 1e-9; /* less than 0: outside */
    double after_s = (double)(t1_ns - c->last_ns) * 1e-9;
    double step_s = fmin((double)c->step_ns * 1e-9, slow_s); /* more is a hole in the readings */
    double slack_s = 2 * fmax(step_s, 1 / (f->rate_hz > 0 ? f->rate_hz : 1));
    if (c->fell)
        value_set_state(&out->value, f->source, VALUE_FAILED,
                        "the counter started again during the measurement");
    else if (fabs(before_s) > slack_s || fabs(after_s) > slack_s)
        value_set_state(&out->value, f->source, VALUE_FAILED,
                        "its readings are not of the time of the other counters");
    else if (read_s <= 0 || read_s < window_s / 2)
        value_set_state(&out->value, f->source, VALUE_WARMING,
                        "its readings cover %.1f of %.1f s: measure longer", read_s, window_s);
    else
        value_set(&out->value, f->source, f->t1_ns, (c->last - c->first) * window_s / read_s);
}

/* What cannot be averaged. */
static void sum_up(const struct feed *f, const struct series *s, int64_t t0_ns, int64_t t1_ns,
                   struct metric_stats *out)
{
    if (s->unit == UNIT_FLAGS) /* a mean of bit masks would be nonsense: what was set at all */
        value_set(&out->value, f->source, f->t1_ns, (double)s->flags);
    else if (s->unit == UNIT_JOULES)
        increase_stats(f, s, t0_ns, t1_ns, out);
    else
        value_set(&out->value, f->source, f->t1_ns, s->count.last);
    if (s->state == VALUE_SUSPECT && value_has_number(&out->value))
        value_set_state(&out->value, f->source, VALUE_SUSPECT, "%s", s->reason);
}

void feed_stats(const struct feed *f, const struct series *s, int64_t t0_ns, int64_t t1_ns,
                struct metric_stats *out)
{
    *out = no_stats;
    str_clean(out->counter, sizeof out->counter, s->counter, strlen(s->counter));
    out->samples = s->tally.count;
    out->resolution = s->resolution;
    enum value_state state = s->state;
    if (state != VALUE_OK && state != VALUE_SUSPECT) {
        value_set_state(&out->value, f->source, state, "%s", s->reason);
        return;
    }
    if (s->tally.count == 0) {
        value_set_state(&out->value, f->source, VALUE_FAILED, "no usable sample%s%s",
                        s->reason[0] ? ": " : "", s->reason);
        return;
    }
    if (is_counter(s) || s->unit == UNIT_FLAGS) {
        sum_up(f, s, t0_ns, t1_ns, out);
        return;
    }
    value_set(&out->value, f->source, f->t1_ns, tally_mean(&s->tally));
    out->min = s->tally.min;
    out->p05 = tally_quantile(&s->tally, 0.05);
    out->p50 = tally_quantile(&s->tally, 0.50);
    out->p95 = tally_quantile(&s->tally, 0.95);
    out->max = s->tally.max;
    if (!isfinite(out->value.v) || isinf(out->p05) || isinf(out->p50) || isinf(out->p95)) {
        out->min = out->p05 = out->p50 = out->p95 = out->max = NAN;
        value_set_state(&out->value, f->source, VALUE_FAILED, "values too large to be added up");
        return;
    }
    if (s->unit == UNIT_RATIO)
        out->idle_share = (double)s->idle / (double)s->tally.count;
    /* A share above 1 cannot be true, whatever the source thinks of it. */
    if (s->above_one)
        value_set_state(&out->value, f->source, VALUE_SUSPECT,
                        "%llu of %llu samples above 100 %%%s%s", (unsigned long long)s->above_one,
                        (unsigned long long)s->tally.count, s->reason[0] ? "; " : "", s->reason);
    else if (state == VALUE_SUSPECT)
        value_set_state(&out->value, f->source, state, "%s", s->reason);
}
