/* SPDX-License-Identifier: MIT */
/* At what distance one GPU was sampled, learnt from its samples as they come. */
#ifndef SMEFF_SOURCE_NSYS_PERIOD_H
#define SMEFF_SOURCE_NSYS_PERIOD_H

#include <stdint.h>

#include "base/error.h"

struct nsys_interval_class;

struct nsys_period {
    double reach;                        /* longer than this many local periods is a gap */
    int64_t nominal_ns;                  /* as the capture was asked for; 0 = not known */
    int64_t local_ns;                    /* the last regular interval; 0 = none yet */
    int64_t odd_ns;                      /* the interval before, when it was not regular; else 0 */
    unsigned odd_in_row;                 /* so many intervals like odd_ns in a row */
    unsigned regular;                    /* regular intervals so far, no more than are asked for */
    int64_t longest_ns;                  /* the longest time that one sample covers */
    struct nsys_interval_class *classes; /* owned: how often which interval */
};

/* chip ("GH100") decides how far an interval may move. nominal_hz 0 = not known. */
enum status nsys_period_init(struct nsys_period *p, const char *chip, double nominal_hz,
                             struct error *err);
void nsys_period_fini(struct nsys_period *p); /* accepts a zeroed one */

/* How much time the very first sample covers, told by the interval to the second (> 0). */
int64_t nsys_period_first(struct nsys_period *p, int64_t interval_ns);

/* How much of the interval since the sample before (> 0) a sample covers: all of it, or one local
 * period when it is too long to be one. */
int64_t nsys_period_next(struct nsys_period *p, int64_t interval_ns);

/* Samples a second by the most frequent interval; 0 when there was none. */
double nsys_period_rate_hz(const struct nsys_period *p);

#endif
