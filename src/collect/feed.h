/* SPDX-License-Identifier: MIT */
/* What one source says of one GPU: its plan, and the statistics of all that arrived. */
#ifndef SMEFF_COLLECT_FEED_H
#define SMEFF_COLLECT_FEED_H

#include <stdbool.h>

#include "collect/snapshot.h"
#include "collect/tally.h"

struct series {
    int metric;
    enum unit unit;
    enum value_state state;
    char *name, *counter, *reason; /* owned */
    double resolution;
    struct tally tally;
    uint64_t above_one; /* samples of a ratio above 1 */
    uint64_t idle;      /* samples of a ratio that show no work */
    uint64_t flags;     /* of UNIT_FLAGS: every bit that was set in some sample */
    struct counter {    /* of KIND_COUNTER: its first and last readings */
        double first, last;
        int64_t first_ns, last_ns, step_ns; /* step: the longest between two readings */
        bool fell;                          /* it started again: what it had counted is lost */
    } count;
};

struct feed {
    unsigned gpu;
    enum source_id source;
    double rate_hz;
    struct series *series;
    size_t n_series;
    uint64_t samples, gaps;
    int64_t t0_ns, t1_ns, covered_ns, longest_gap_ns;
};

void feed_fini(struct feed *f); /* accepts a zeroed one */

/* A first plan makes the series; a later one may only change states, reasons and the rate. */
enum status feed_plan(struct feed *f, const struct event_plan *ev, struct error *err);
enum status feed_samples(struct feed *f, const struct event_samples *ev, struct error *err);

/* Forgets all samples; the plan stays. */
void feed_forget(struct feed *f);

/* The statistics of one series as a snapshot has them. Of energy that is its increase over the
 * window from t0_ns to t1_ns (UNIX time), of any other counter its last reading. */
void feed_stats(const struct feed *f, const struct series *s, int64_t t0_ns, int64_t t1_ns,
                struct metric_stats *out);

/* Statistics without a number in them. */
extern const struct metric_stats no_stats;

#endif
