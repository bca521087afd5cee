/* SPDX-License-Identifier: MIT */
/* Totals that only grow: what a reader who comes seldom (a scrape each minute) needs to know the
 * exact mean over any time, without losing what happened between two of his visits.
 *
 * A moment counts once, whoever measured it and however often the stream says it: what is history
 * of a new attachment, of a second source, or of a clock that was set back adds nothing. What was
 * not measured adds nothing either, neither to the integral nor to the measured time, so that their
 * quotient is the mean over what was measured. */
#ifndef SMEFF_COLLECT_TOTALS_H
#define SMEFF_COLLECT_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "event/event.h"

enum { TOTALS_GPUS_MAX = 64 };

struct totals;

struct total {
    bool is_offered;   /* a plan promises sound samples at present: what is 0 was measured as 0 */
    double integral;   /* of ratios and rates: the value times the seconds it held (bytes of bytes
                          per second); NaN for all else */
    double measured_s; /* how long it was measured */
    double reading;    /* of KIND_COUNTER: the newest reading of the driver's own count, NaN = none;
                          NaN for all else */
};

/* Nothing that began before begin_ns (UNIX time) counts: a daemon's history is older than a reader
 * who starts now, and has been told by his forerunner. */
enum status totals_create(struct totals **out, int64_t begin_ns, struct error *err);
void totals_destroy(struct totals *t); /* accepts NULL */

/* A sink that feeds t; valid as long as t lives. */
struct event_sink totals_sink(struct totals *t);

struct total totals_of(const struct totals *t, unsigned gpu, enum metric m);

/* Seconds at whose end the driver named this reason (a bit of METRIC_THROTTLE). */
double totals_throttled_s(const struct totals *t, unsigned gpu, size_t bit);

#endif
