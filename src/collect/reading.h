/* SPDX-License-Identifier: MIT */
/* Readings of a moment, which have no length of their own. */
#ifndef SMEFF_COLLECT_READING_H
#define SMEFF_COLLECT_READING_H

#include <math.h>
#include <stdint.h>

/* For how long a reading stands: since the one before it (0 = none); but not for a hole, which is
 * longer than 12 s and two periods: then, and at first, for a period of rate_hz (0 = a second). */
static inline int64_t reading_length_ns(int64_t at_ns, int64_t before_ns, double rate_hz)
{
    static const double hole_s = 12;
    double period_s = rate_hz > 0 ? 1 / rate_hz : 1;
    int64_t since_ns = before_ns ? at_ns - before_ns : 0;
    if (since_ns > 0 && (double)since_ns <= 1e9 * fmax(2 * period_s, hole_s))
        return since_ns;
    return (int64_t)(1e9 * fmin(period_s, hole_s));
}

#endif
