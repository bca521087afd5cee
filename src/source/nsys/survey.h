/* SPDX-License-Identifier: MIT */
/* Which GPUs an export has: a look at the first rows of GPU_METRICS and at the table of names. */
#ifndef SMEFF_SOURCE_NSYS_SURVEY_H
#define SMEFF_SOURCE_NSYS_SURVEY_H

#include <stdbool.h>

#include "source/nsys/series.h"

struct nsys_survey {
    struct nsys_gpu *gpus; /* owned, ascending typeId: those of the first rows and of the names */
    size_t n_gpus;
    uint64_t rows;    /* rows looked at */
    bool usable;      /* one of all rows has a time and a typeId */
    bool left_out;    /* there are more GPUs */
    int64_t first_ns; /* the earliest time in them */
};

enum status nsys_survey_read(struct nsys_db *db, struct nsys_survey *out, struct error *err);
void nsys_survey_fini(struct nsys_survey *s);

#endif
