/* SPDX-License-Identifier: MIT */
/* One series of a feed: what its plan says, and the statistics of its samples.
 *
 * There are two windows: one that grows, and the last one that was closed. A measurement has only
 * the first; who shows the present (a daemon, a panel) closes a window again and again. */
#ifndef SMEFF_COLLECT_SERIES_H
#define SMEFF_COLLECT_SERIES_H

#include <stdbool.h>

#include "collect/snapshot.h"
#include "collect/tally.h"

/* Of KIND_COUNTER: its first and last readings. */
struct series_count {
    double first, last;
    int64_t first_ns, last_ns, step_ns; /* step: the longest between two readings */
    bool known;                         /* there was a reading */
    bool fell;                          /* it started again: what it had counted is lost */
};

struct series_window {
    struct tally tally;
    int64_t t1_ns;      /* end of the newest sample with a number, UNIX time */
    uint64_t above_one; /* samples of a ratio above 1 */
    uint64_t idle;      /* weight of the samples of a ratio that show no work */
    uint64_t flags;     /* of UNIT_FLAGS: every bit that was set in some sample */
    struct series_count count;
};

struct series {
    int metric;
    enum unit unit;
    enum value_state state;
    char *name, *counter, *reason; /* owned */
    double resolution;
    struct series_window grows, closed;
    int64_t taken_ns; /* end of the newest sample with a number, of whatever window; 0 = none */
    int64_t heard_ns, pause_ns; /* monotonic: when numbers came last; the usual time between two */
    struct metric_past *past;   /* owned; NULL = not of a metric that a snapshot has the past of */
};

/* What a series' statistics also depend on: the feed's. */
struct series_context {
    enum source_id source;
    double rate_hz;
    int64_t t0_ns, t1_ns; /* the window of the GPU's counters, UNIX time */
    int64_t now_ns;       /* monotonic; 0 = nothing is too old (a file, a measurement) */
    bool closed;          /* take the closed window */
};

void series_init(struct series *s);
void series_fini(struct series *s); /* accepts a zeroed one */

/* Takes over what a plan says; false when memory ran out. */
bool series_set(struct series *s, const struct plan_series *p);

/* The samples of a column, of a feed of rate_hz; NaN is none. */
void series_take(struct series *s, const struct event_samples *ev, size_t column, double rate_hz);

/* Its plan promises numbers. */
bool series_gives(const struct series *s);

/* Forgets all samples, and how often they came; what the plan says stays. */
void series_forget(struct series *s);

/* Closes the growing window, if it has a sample: else the one that was closed before stays. The
 * times and the coverage are those of the feed's window. */
void series_close(struct series *s, int64_t t0_ns, int64_t t1_ns, double coverage);

/* Seconds since numbers came last, when that is too long for so many samples a second (0 = not
 * known) and for what was usual; else 0. now_ns as in the context. */
double series_silence_s(const struct series *s, double rate_hz, int64_t now_ns);

/* Of energy that is its increase over the window of the context, of any other counter its last
 * reading. */
void series_stats(const struct series *s, const struct series_context *context,
                  struct metric_stats *out);

/* Statistics without a number in them. */
extern const struct metric_stats no_stats;

#endif
