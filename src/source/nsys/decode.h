/* SPDX-License-Identifier: MIT */
/* From a cell of GPU_METRICS.value to a number, by the declared storage. */
#ifndef SMEFF_SOURCE_NSYS_DECODE_H
#define SMEFF_SOURCE_NSYS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/nsys/series.h"

/* false when the payload cannot be a value of the declared kind; then it must not be used.
 * Multipliers of the metric set are not applied, as in the file. */
bool nsys_decode(const struct nsys_raw *r, int64_t payload, double *out);

/* After all rows: does a 4-byte counter of g look as if it ran over? Fills reason when it does.
 * Counts are checked against the same metric's "[Avg Warps per Cycle]" row, the clock and the
 * period; where that cannot be done, a value above 2^31 is not believed. */
bool nsys_wrapped(struct nsys_gpu *g, const struct nsys_raw *r, char *reason, size_t size);

#endif
