/* SPDX-License-Identifier: MIT */
/* Statistics of one series in bounded memory: count, mean, extremes, quantiles. A sample counts by
 * its weight (all 1, or how long each is).
 *
 * Quantiles come from a histogram with 1,024 buckets an octave: exact while a bucket holds one
 * distinct value (whole percents always do), else within 0.1 % of the value. */
#ifndef SMEFF_COLLECT_TALLY_H
#define SMEFF_COLLECT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_bucket {
    uint32_t key;    /* sign, exponent and top ten bits of the mantissa */
    bool mixed;      /* holds different values */
    uint64_t weight; /* 0 = free slot */
    double first, sum;
};

struct tally {
    uint64_t count, weight;
    double sum, lost, min, max; /* lost: what rounding took from sum so far */
    bool failed;                /* ran out of memory: quantiles are not known */
    struct tally_bucket *buckets;
    size_t used, cap; /* cap is a power of two, or 0 */
};

void tally_init(struct tally *t);
void tally_fini(struct tally *t); /* accepts a zeroed one */

/* NaN and infinities are ignored: they are no samples. weight is at least 1. */
void tally_add(struct tally *t, double v, uint64_t weight);

/* NaN when there is no sample. */
double tally_mean(const struct tally *t);

/* Nearest rank: the smallest sample that at least q of all weight do not exceed (0 < q <= 1).
 * NaN when there is no sample or memory ran out. */
double tally_quantile(const struct tally *t, double q);

#endif
