/* SPDX-License-Identifier: MIT */
/* A column of a chart. */
#ifndef SMEFF_COLLECT_COLUMN_H
#define SMEFF_COLLECT_COLUMN_H

#include <stdbool.h>

/* GPUs that charts are kept of. */
enum { COLUMN_GPUS_MAX = 64 };

/* What happened in a span of time; known false: nothing was measured, and the numbers are NaN. */
struct trace_column {
    double min, max, mean;
    bool known;
};

#endif
