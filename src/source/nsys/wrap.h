/* SPDX-License-Identifier: MIT */
/* Counts that 32 bits could not hold: such a value is too low by 2^32 and looks like any other.
 *
 * An "[Avg]" row is a counter's sum over the sample (mean over the units), and the "[Avg Warps per
 * Cycle]" row of the same metric is that divided by the cycles. So the second, times clock, times
 * the length of the sample, must give the first. */
#ifndef SMEFF_SOURCE_NSYS_WRAP_H
#define SMEFF_SOURCE_NSYS_WRAP_H

#include <stdbool.h>

#include "source/nsys/series.h"

/* Where the values of one sample are: columns[index of series] is its column, -1 = none. */
struct nsys_wrap {
    struct nsys_wrap_check *list; /* owned: every count that can run over */
    size_t n;
    int32_t clock; /* column of gpc_clock, -1 = none */
};

enum status nsys_wrap_init(struct nsys_wrap *w, struct nsys_gpu *g, const int32_t *columns,
                           struct error *err);
void nsys_wrap_fini(struct nsys_wrap *w); /* accepts a zeroed one */

/* Makes those counts of a sample NaN that ran over. values[column * stride]; length_ns 0 = not
 * known. */
void nsys_wrap_sample(struct nsys_wrap *w, double *values, size_t stride, int64_t length_ns);

/* After all samples: could a value that nothing stood beside have run over? nominal_ns: the length
 * of a sample where reading did not show it; 0 = not known. */
bool nsys_wrap_possible(const struct nsys_gpu *g, const struct nsys_file_metric *m,
                        double nominal_ns);

#endif
