/* SPDX-License-Identifier: MIT */
/* What an export says about itself: versions, times, GPUs. */
#ifndef SMEFF_SOURCE_NSYS_META_H
#define SMEFF_SOURCE_NSYS_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/nsys/db.h"

struct nsys_meta {
    char schema[32];  /* EXPORT_SCHEMA_VERSION, "" when the file does not say */
    int schema_major; /* -1 when not known, and then so is the minor */
    int schema_minor;
    char product[64]; /* EXPORT_PRODUCT_VERSION, the exporting program's */
    char host[128];
    char set_index[16];  /* GPU_METRICS_OPTIONS:GPU_0:METRIC_SET_INDEX */
    char time_shift[32]; /* what was added to all times on export; "" when nothing */
    double nominal_hz;   /* what the capture was asked for; 0 when not known */
    int64_t epoch_ns;    /* UNIX time of timestamp 0 */
    bool has_epoch;      /* false: wall-clock times are not known */
};

/* Missing tables and cells leave fields at "not known"; only a damaged file is an error. */
enum status nsys_meta_read(struct nsys_db *db, struct nsys_meta *out, struct error *err);

struct nsys_gpu_info {
    int64_t vm, id; /* nsys's own numbering: not the CUDA ordinal, not the nvidia-smi index */
    char name[96], uuid[64], chip[32], bus[32];
};

/* TARGET_INFO_GPU; *out is the caller's (free), NULL with *n = 0 when the table is not there. */
enum status nsys_gpu_info_read(struct nsys_db *db, struct nsys_gpu_info **out, size_t *n,
                               struct error *err);

#endif
