/* SPDX-License-Identifier: MIT */
/* From a cell of GPU_METRICS.value to a number, by the declared storage. */
#ifndef SMEFF_SOURCE_NSYS_DECODE_H
#define SMEFF_SOURCE_NSYS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/nsys/series.h"

/* false when the payload cannot be a value of the declared kind; then it must not be used.
 * Multipliers of the metric set are not applied, as in the file. */
bool nsys_decode(const struct nsys_file_metric *m, int64_t payload, double *out);

#endif
