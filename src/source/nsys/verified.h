/* SPDX-License-Identifier: MIT */
/* Files without names: metric ids that may be used all the same, since they were checked. */
#ifndef SMEFF_SOURCE_NSYS_VERIFIED_H
#define SMEFF_SOURCE_NSYS_VERIFIED_H

#include "source/nsys/series.h"

/* Gives their names to the metrics of those GPUs whose version, set, chip, ids and storage are all
 * exactly those of a capture whose names were seen. *used tells whether there was one. */
enum status nsys_verified_names(struct nsys_db *db, const struct nsys_meta *meta,
                                struct nsys_gpu *gpus, size_t n_gpus, bool *used,
                                struct error *err);

#endif
