/* SPDX-License-Identifier: MIT */
/* What the samples were since one looked last: least, mean and most of each metric of each GPU, for
 * viewers that draw several times a second. */
#ifndef SMEFF_COLLECT_FRAMES_H
#define SMEFF_COLLECT_FRAMES_H

#include <stdbool.h>

#include "event/event.h"

enum { FRAMES_GPUS_MAX = 64 };

struct frames;

enum status frames_create(struct frames **out, struct error *err);
void frames_destroy(struct frames *f); /* accepts NULL */

/* A sink that feeds f. Of several sources of a metric the finest is taken, as long as it delivers.
 * Counters (energy) and flags are left out, and what no plan announced. */
struct event_sink frames_sink(struct frames *f);

/* The time that the samples since the last frames_clear cover, UNIX time; false: there were none.
 */
bool frames_span(const struct frames *f, int64_t *t0_ns, int64_t *t1_ns);

/* One metric of one GPU since the last frames_clear; false: no sample. */
bool frames_of(const struct frames *f, unsigned gpu, enum metric m, double *min, double *mean,
               double *max);

/* The next frame begins. */
void frames_clear(struct frames *f);

#endif
