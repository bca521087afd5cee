/* SPDX-License-Identifier: MIT */
/* A first pass over the times of GPU_METRICS: which GPUs, how many samples, at what distance,
 * and whether the rows are in order (nsys does not promise it). */
#ifndef SMEFF_SOURCE_NSYS_SURVEY_H
#define SMEFF_SOURCE_NSYS_SURVEY_H

#include "source/nsys/series.h"

struct nsys_survey {
    struct nsys_gpu *gpus; /* owned, ascending typeId */
    size_t n_gpus;
    uint64_t rows, bad_rows; /* bad: timestamp or typeId is no integer */
    bool disordered;         /* rows of a GPU do not come in the order of their times */
};

enum status nsys_survey_read(sqlite3 *db, struct nsys_survey *out, struct error *err);
void nsys_survey_fini(struct nsys_survey *s);

#endif
