/* SPDX-License-Identifier: MIT */
#include "collect/feed.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

/* Of hardware counters a window has this many samples at least, since the judge wants them
 * (judge/thresholds.h), unless that would take many windows' time. */
enum { ENOUGH = 5, WINDOWS_MAX = 10 };

/* After a longer gap windows that roll begin anew: statistics would be of two times, the window
 * before is of the past, and the gap tells nothing of how often samples come. */
static const int64_t gap_max_ns = INT64_C(5000000000);

/* Samples do not overlap; what begins so much before the last one's end was stamped by a clock that
 * was set back. */
static const int64_t back_ns = INT64_C(100000000);

void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < f->n_series; i++)
        series_fini(&f->series[i]);
    free(f->series);
    *f = (struct feed){0};
}

void feed_forget(struct feed *f)
{
    f->grows = f->closed = (struct feed_window){0};
    for (size_t i = 0; i < f->n_series; i++)
        series_forget(&f->series[i]);
}

static enum status make_series(struct feed *f, const struct event_plan *ev, struct error *err)
{
    f->series = calloc(ev->n ? ev->n : 1, sizeof *f->series);
    if (!f->series)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    f->n_series = ev->n;
    for (size_t i = 0; i < ev->n; i++)
        series_init(&f->series[i]);
    return OK;
}

bool feed_gives(const struct feed *f)
{
    bool gives = false;
    for (size_t i = 0; i < f->n_series; i++)
        gives |= series_gives(&f->series[i]);
    return gives;
}

/* Where the present is shown, what a plan turns away is over: when it comes back, its window of
 * before would pass for one of now. */
static void forget_lost(struct feed *f)
{
    if (!feed_gives(f)) {
        feed_forget(f);
        return;
    }
    for (size_t i = 0; i < f->n_series; i++)
        if (!series_gives(&f->series[i]))
            series_forget(&f->series[i]);
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
    if (f->rolls)
        forget_lost(f);
    return OK;
}

/* ---- samples ---- */

/* Coverage: which share of the wall time was really measured, and where it broke. */
static void take_time(struct feed_window *w, int64_t t0_ns, int64_t t1_ns)
{
    if (!w->has_time)
        w->t0_ns = t0_ns;
    else if (t0_ns > w->t1_ns) {
        w->gaps++;
        if (t0_ns - w->t1_ns > w->longest_gap_ns)
            w->longest_gap_ns = t0_ns - w->t1_ns;
    }
    w->has_time = true;
    w->samples++;
    if (__builtin_add_overflow(w->covered_ns, t1_ns - t0_ns, &w->covered_ns))
        w->covered_ns = INT64_MAX; /* times that nobody measured */
    w->t1_ns = t1_ns;
}

/* A window that rolls does not span a long gap, nor a clock that was set back. */
static bool is_torn(const struct feed *f, const struct event_samples *ev)
{
    int64_t end_ns = f->grows.t1_ns;
    return f->rolls && ev->n && f->grows.has_time &&
           (ev->t0_ns[0] > end_ns + gap_max_ns || ev->t0_ns[0] < end_ns - back_ns);
}

enum status feed_samples(struct feed *f, const struct event_samples *ev, struct error *err)
{
    if (is_torn(f, ev))
        feed_forget(f);
    for (size_t i = 0; i < ev->n; i++)
        take_time(&f->grows, ev->t0_ns[i], ev->t1_ns[i]);
    for (size_t col = 0; col < ev->columns; col++) {
        if (ev->series[col] >= f->n_series)
            return fail(err, ERR_BAD_INPUT, 0, "samples of a series that the plan of GPU %u lacks",
                        ev->gpu);
        series_take(&f->series[ev->series[col]], ev, col, f->rate_hz);
    }
    return OK;
}

/* ---- windows ---- */

static bool is_due(const struct feed *f, int64_t window_ns)
{
    const struct feed_window *w = &f->grows;
    /* batches come about seven times a second: a window is due a batch early rather than late */
    int64_t length_ns = w->t1_ns - w->t0_ns, due_ns = window_ns - window_ns / 5;
    if (w->samples == 0 || (f->source == SOURCE_NVML && f->closed.samples == 0))
        return w->samples > 0; /* what is known first is shown at once */
    if (f->source != SOURCE_NVML && w->samples < ENOUGH && length_ns < WINDOWS_MAX * window_ns)
        return false;
    return length_ns >= due_ns;
}

void feed_roll(struct feed *f, int64_t window_ns)
{
    f->rolls = true;
    if (!is_due(f, window_ns))
        return;
    f->closed = f->grows;
    /* the next one continues at its end, so that a gap between both is one */
    f->grows =
        (struct feed_window){.t0_ns = f->closed.t1_ns, .t1_ns = f->closed.t1_ns, .has_time = true};
    for (size_t i = 0; i < f->n_series; i++)
        series_close(&f->series[i], f->closed.t0_ns, f->closed.t1_ns, feed_coverage(&f->closed));
}

double feed_coverage(const struct feed_window *w)
{
    return w->t1_ns > w->t0_ns ? (double)w->covered_ns / (double)(w->t1_ns - w->t0_ns) : NAN;
}

const struct feed_window *feed_window(const struct feed *f)
{
    return f->rolls ? &f->closed : &f->grows;
}

bool feed_speaks(const struct feed *f)
{
    int64_t now_ns = f->rolls ? clock_monotonic_ns() : 0;
    bool speaks = false;
    for (size_t i = 0; i < f->n_series; i++) {
        const struct series *s = &f->series[i];
        speaks |= series_gives(s) && !(series_silence_s(s, f->rate_hz, now_ns) > 0);
    }
    return speaks;
}

void feed_stats(const struct feed *f, const struct series *s, int64_t t0_ns, int64_t t1_ns,
                struct metric_stats *out)
{
    const struct series_context context = {.source = f->source,
                                           .rate_hz = f->rate_hz,
                                           .t0_ns = t0_ns,
                                           .t1_ns = t1_ns,
                                           .now_ns = f->rolls ? clock_monotonic_ns() : 0,
                                           .closed = f->rolls};
    series_stats(s, &context, out);
}
