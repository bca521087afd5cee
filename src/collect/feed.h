/* SPDX-License-Identifier: MIT */
/* What one source says of one GPU: its plan, and the statistics of what arrived. */
#ifndef SMEFF_COLLECT_FEED_H
#define SMEFF_COLLECT_FEED_H

#include <stdbool.h>

#include "collect/series.h"

/* Time as the samples covered it. */
struct feed_window {
    uint64_t samples, gaps;
    int64_t t0_ns, t1_ns, covered_ns, longest_gap_ns;
    bool has_time; /* t0 and t1 are known; with no sample, the end of the window before */
};

struct feed {
    unsigned gpu;
    enum source_id source;
    double rate_hz;
    struct series *series;
    size_t n_series;
    struct feed_window grows, closed;
    bool rolls; /* windows are closed: that is what is shown */
};

void feed_fini(struct feed *f); /* accepts a zeroed one */

/* A first plan makes the series; a later one may only change states, reasons and the rate. */
enum status feed_plan(struct feed *f, const struct event_plan *ev, struct error *err);
enum status feed_samples(struct feed *f, const struct event_samples *ev, struct error *err);

/* Its plan promises numbers of at least one series. */
bool feed_gives(const struct feed *f);

/* Forgets all samples; the plan stays. */
void feed_forget(struct feed *f);

/* From now on only closed windows are shown. Closes the growing one when it is window_ns long and
 * has samples enough for statistics. */
void feed_roll(struct feed *f, int64_t window_ns);

/* The window that is shown. */
const struct feed_window *feed_window(const struct feed *f);

/* Measured time ÷ window; NaN = not known. */
double feed_coverage(const struct feed_window *w);

/* At least one series is promised by the plan and, where the present is shown, not silent. */
bool feed_speaks(const struct feed *f);

/* The statistics of one series over the window from t0_ns to t1_ns (UNIX time) as a snapshot has
 * them. */
void feed_stats(const struct feed *f, const struct series *s, int64_t t0_ns, int64_t t1_ns,
                struct metric_stats *out);

#endif
