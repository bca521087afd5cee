/* SPDX-License-Identifier: MIT */
#include "collect/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "collect/reading.h"

/* How seldom sources read what costs much (docs/interface.md). */
static const double slow_s = 5;

/* A number is too old when nothing came for three times the usual, and longer than this. */
static const double stale_s = 3;

static void window_init(struct series_window *w)
{
    *w = (struct series_window){0};
    tally_init(&w->tally);
}

void series_init(struct series *s)
{
    *s = (struct series){0};
    window_init(&s->grows);
    window_init(&s->closed);
}

void series_fini(struct series *s)
{
    free(s->name);
    free(s->counter);
    free(s->reason);
    free(s->past);
    tally_fini(&s->grows.tally);
    tally_fini(&s->closed.tally);
}

void series_forget(struct series *s)
{
    tally_fini(&s->grows.tally);
    tally_fini(&s->closed.tally);
    window_init(&s->grows);
    window_init(&s->closed);
    s->taken_ns = s->heard_ns = s->pause_ns = 0;
    if (s->past)
        s->past->n = 0;
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

bool series_gives(const struct series *s)
{
    return s->state == VALUE_OK || s->state == VALUE_SUSPECT;
}

bool series_set(struct series *s, const struct plan_series *p)
{
    s->metric = p->metric;
    s->unit = p->unit;
    s->state = p->state;
    s->resolution = p->resolution;
    if (!s->past && snapshot_past_index(p->metric) >= 0) {
        s->past = calloc(1, sizeof *s->past);
        if (!s->past)
            return false;
    }
    return set_text(&s->name, p->name) && set_text(&s->counter, p->counter) &&
           set_text(&s->reason, p->reason);
}

/* ---- samples ---- */

static bool is_counter(const struct series *s)
{
    return s->metric != METRIC_NONE && metric_info((enum metric)s->metric)->kind == KIND_COUNTER;
}

static struct series_count first_count(double value, int64_t t_ns)
{
    return (struct series_count){
        .known = true, .first = value, .first_ns = t_ns, .last = value, .last_ns = t_ns};
}

/* Whole joules since the driver started, say: what counts is how much it grew, and when. */
static void take_count(struct series_count *c, int64_t t1_ns, double value)
{
    if (!c->known)
        *c = first_count(value, t1_ns);
    c->step_ns = t1_ns - c->last_ns > c->step_ns ? t1_ns - c->last_ns : c->step_ns;
    c->fell |= value < c->last;
    c->last = value;
    c->last_ns = t1_ns;
}

/* Samples of the counters are equally long, and a plain mean is what others print of them. GPM and
 * the driver are read less often after some seconds: there a mean has to go by time, or the first
 * seconds would count tenfold. A reading without a length stands for the time since the one before,
 * but not for a hole. In microseconds. */
static uint64_t weight_of(const struct series *s, const struct event_samples *ev, size_t i,
                          double rate_hz)
{
    int64_t length_ns = ev->t1_ns[i] - ev->t0_ns[i];
    if (ev->source != SOURCE_GPM && ev->source != SOURCE_NVML)
        return 1;
    if (length_ns <= 0)
        length_ns = reading_length_ns(ev->t1_ns[i], s->taken_ns, rate_hz);
    int64_t most_ns = 3600 * INT64_C(1000000000); /* no sample of ours: so that sums stay sums */
    length_ns = length_ns < most_ns ? length_ns : most_ns;
    return length_ns < 1000 ? 1 : (uint64_t)(length_ns / 1000);
}

static void take_value(struct series *s, double value, uint64_t weight)
{
    struct series_window *w = &s->grows;
    double idle = s->resolution > SNAPSHOT_IDLE_SHARE ? s->resolution : SNAPSHOT_IDLE_SHARE;
    tally_add(&w->tally, value, weight);
    w->above_one += s->unit == UNIT_RATIO && value > 1;
    if (s->unit == UNIT_FLAGS && value > 0 && value < 9007199254740992.0)
        w->flags |= (uint64_t)value;
    /* a little slack: 0.01 + 0.01 + 0.01 is not the double 0.03 */
    if (s->unit == UNIT_RATIO && value <= idle + 1e-9)
        w->idle += weight;
}

/* The usual pause between two arrivals: at once the longer one, and slowly back. */
static void hear(struct series *s)
{
    int64_t now_ns = clock_monotonic_ns(), pause_ns = s->heard_ns ? now_ns - s->heard_ns : 0;
    int64_t usual_ns = s->pause_ns - s->pause_ns / 16;
    s->pause_ns = pause_ns > usual_ns ? pause_ns : usual_ns;
    s->heard_ns = now_ns;
}

void series_take(struct series *s, const struct event_samples *ev, size_t column, double rate_hz)
{
    const double *values = ev->values + column * ev->stride;
    uint64_t before = s->grows.tally.count;
    bool counts = is_counter(s);
    for (size_t i = 0; i < ev->n; i++) {
        if (!isfinite(values[i]))
            continue;
        if (counts)
            take_count(&s->grows.count, ev->t1_ns[i], values[i]);
        take_value(s, values[i], weight_of(s, ev, i, rate_hz));
        s->grows.t1_ns = s->taken_ns = ev->t1_ns[i];
    }
    if (s->grows.tally.count > before)
        hear(s);
}

/* A counter's next window begins with the last reading of this one, so that nothing is lost between
 * them; and it is not closed before it has grown by a reading. */
static struct series_count continue_count(const struct series_count *c)
{
    return c->fell ? (struct series_count){0} : first_count(c->last, c->last_ns);
}

/* A share above 1 cannot be true, whatever the source thinks of it. */
static bool is_doubtful(const struct series *s, const struct series_window *w)
{
    return w->above_one || s->state == VALUE_SUSPECT;
}

/* The windows that were closed before, as judge/serving.c joins them with a server's. */
static void remember(struct metric_past *past, const struct metric_window *w)
{
    if (w->t1_ns <= w->t0_ns)
        return;
    if (past->n == PAST_WINDOWS) {
        past->n--;
        memmove(past->list, past->list + 1, past->n * sizeof *past->list);
    }
    past->list[past->n++] = *w;
}

/* The time of a counter is that of its readings, not that of its feed. */
static struct metric_window closed_window(const struct series *s, int64_t t0_ns, int64_t t1_ns,
                                          double coverage)
{
    const struct series_count *c = &s->closed.count;
    struct metric_window w = {
        .t0_ns = t0_ns, .t1_ns = t1_ns, .coverage = coverage, .v = tally_mean(&s->closed.tally)};
    if (is_counter(s)) {
        double read_s = (double)(c->last_ns - c->first_ns) * 1e-9;
        w = (struct metric_window){.t0_ns = c->first_ns, .t1_ns = c->last_ns, .coverage = 1};
        w.v = read_s > 0 ? (c->last - c->first) / read_s : NAN;
    }
    w.state = is_doubtful(s, &s->closed)                     ? VALUE_SUSPECT
              : !isfinite(w.v) || (is_counter(s) && c->fell) ? VALUE_FAILED
                                                             : VALUE_OK;
    return w;
}

void series_close(struct series *s, int64_t t0_ns, int64_t t1_ns, double coverage)
{
    struct series_window *w = &s->grows;
    bool is_first = s->closed.tally.count == 0;
    if (w->tally.count == 0 ||
        (is_counter(s) && !is_first && w->count.last_ns == w->count.first_ns))
        return;
    tally_fini(&s->closed.tally);
    s->closed = *w;
    window_init(w);
    if (is_counter(s))
        w->count = continue_count(&s->closed.count);
    if (s->past) {
        struct metric_window closed = closed_window(s, t0_ns, t1_ns, coverage);
        remember(s->past, &closed);
    }
}

/* ---- statistics ---- */

const struct metric_stats no_stats = {
    .min = NAN, .p05 = NAN, .p50 = NAN, .p95 = NAN, .max = NAN, .idle_share = NAN};

/* The readings lie up to a period inside the window at both ends; what is missing there is taken to
 * be like what was read, as PromQL's increase() does: up to two periods at an end, and at most as
 * much as was read. https://prometheus.io/docs/prometheus/latest/querying/functions/#increase
 * In a closed window readings may be more seldom than windows: they reach over its beginning; and
 * the windows of two sources do not end together. */
static void increase_stats(const struct series_count *c, const struct series_context *x,
                           struct metric_stats *out)
{
    double read_s = (double)(c->last_ns - c->first_ns) * 1e-9;
    double window_s = (double)(x->t1_ns - x->t0_ns) * 1e-9;
    double before_s = (double)(c->first_ns - x->t0_ns) * 1e-9; /* less than 0: outside */
    double after_s = (double)(x->t1_ns - c->last_ns) * 1e-9;
    double step_s = fmin((double)c->step_ns * 1e-9, slow_s); /* more is a hole in the readings */
    double slack_s =
        2 * fmax(step_s, 1 / (x->rate_hz > 0 ? x->rate_hz : 1)) + (x->closed ? window_s : 0);
    if (c->fell)
        value_set_state(&out->value, x->source, VALUE_FAILED,
                        "the counter started again during the measurement");
    else if (fabs(before_s) > slack_s || fabs(after_s) > slack_s)
        value_set_state(&out->value, x->source, VALUE_FAILED,
                        "its readings are not of the time of the other counters");
    else if (read_s <= 0 || read_s < window_s / 2)
        value_set_state(&out->value, x->source, VALUE_WARMING,
                        "its readings cover %.1f of %.1f s: measure longer", read_s, window_s);
    else
        value_set(&out->value, x->source, x->t1_ns, (c->last - c->first) * window_s / read_s);
}

/* What cannot be averaged. */
static void sum_up(const struct series *s, const struct series_window *w,
                   const struct series_context *x, struct metric_stats *out)
{
    if (s->unit == UNIT_FLAGS) /* a mean of bit masks would be nonsense: what was set at all */
        value_set(&out->value, x->source, w->t1_ns, (double)w->flags);
    else if (s->unit == UNIT_JOULES)
        increase_stats(&w->count, x, out);
    else
        value_set(&out->value, x->source, w->t1_ns, w->count.last);
}

static void average(const struct series *s, const struct series_window *w,
                    const struct series_context *x, struct metric_stats *out)
{
    const struct tally *t = &w->tally;
    value_set(&out->value, x->source, w->t1_ns, tally_mean(t));
    out->min = t->min;
    out->p05 = tally_quantile(t, 0.05);
    out->p50 = tally_quantile(t, 0.50);
    out->p95 = tally_quantile(t, 0.95);
    out->max = t->max;
    if (!isfinite(out->value.v) || isinf(out->p05) || isinf(out->p50) || isinf(out->p95)) {
        out->min = out->p05 = out->p50 = out->p95 = out->max = NAN;
        value_set_state(&out->value, x->source, VALUE_FAILED, "values too large to be added up");
    } else if (s->unit == UNIT_RATIO) {
        out->idle_share = (double)w->idle / (double)t->weight;
    }
}

double series_silence_s(const struct series *s, double rate_hz, int64_t now_ns)
{
    double old_s = now_ns ? (double)(now_ns - s->heard_ns) * 1e-9 : 0;
    double usual_s = fmax(1e-9 * (double)s->pause_ns, rate_hz > 0 ? 1 / rate_hz : 0);
    return old_s > stale_s && old_s > 3 * usual_s ? old_s : 0;
}

/* Numbers that are not to be believed, or no longer. What is both is old, and says both. */
static void doubt(const struct series *s, const struct series_window *w,
                  const struct series_context *x, struct value *v)
{
    double old_s = series_silence_s(s, x->rate_hz, x->now_ns);
    char above[64] = "", old[48] = "";
    const char *reason = is_doubtful(s, w) ? s->reason : "";
    if (!value_has_number(v) || (!is_doubtful(s, w) && !(old_s > 0)))
        return;
    if (old_s > 0)
        snprintf(old, sizeof old, "nothing new for %.0f s", old_s);
    if (w->above_one)
        snprintf(above, sizeof above, "%llu of %llu samples above 100 %%",
                 (unsigned long long)w->above_one, (unsigned long long)w->tally.count);
    value_set_state(v, x->source, old_s > 0 ? VALUE_STALE : VALUE_SUSPECT, "%s%s%s%s%s", old,
                    *old && (*above || *reason) ? "; " : "", above, *above && *reason ? "; " : "",
                    reason);
}

void series_stats(const struct series *s, const struct series_context *x, struct metric_stats *out)
{
    const struct series_window *w = x->closed ? &s->closed : &s->grows;
    *out = no_stats;
    str_clean(out->counter, sizeof out->counter, s->counter, strlen(s->counter));
    out->samples = w->tally.count;
    out->resolution = s->resolution;
    if (!series_gives(s))
        value_set_state(&out->value, x->source, s->state, "%s", s->reason);
    else if (w->tally.count == 0 && x->now_ns)
        value_set_state(&out->value, x->source, VALUE_WARMING, "no sample yet");
    else if (w->tally.count == 0)
        value_set_state(&out->value, x->source, VALUE_FAILED, "no usable sample%s%s",
                        s->reason[0] ? ": " : "", s->reason);
    else if (is_counter(s) || s->unit == UNIT_FLAGS)
        sum_up(s, w, x, out);
    else
        average(s, w, x, out);
    doubt(s, w, x, &out->value);
}
