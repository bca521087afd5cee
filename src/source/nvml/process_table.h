/* SPDX-License-Identifier: MIT */
/* The processes of one GPU, put together from the driver's several lists. */
#ifndef SMEFF_SOURCE_NVML_PROCESS_TABLE_H
#define SMEFF_SOURCE_NVML_PROCESS_TABLE_H

#include <stdint.h>

#include "vendor/nvml_api.h"

struct process_row {
    unsigned pid;
    double memory_bytes;  /* NaN = the driver does not tell */
    double sm;            /* ratio; NaN likewise */
    uint64_t sm_stamp_us; /* UNIX time of sm */
};

struct process_table {
    struct process_row *rows; /* in the order of pid; owned */
    size_t n;
};

/* Fills a zeroed table with compute and graphics processes. On failure the table stays empty and
 * *call names the call. */
nvmlReturn_t process_table_fill(struct process_table *t, const struct nvml_api *api,
                                nvmlDevice_t dev, const char **call);

/* Puts in each process's newest utilisation that is not older than since_us (UNIX time). On failure
 * (NOT_FOUND: nobody used the SMs) there is none. */
nvmlReturn_t process_table_use(struct process_table *t, const struct nvml_api *api,
                               nvmlDevice_t dev, uint64_t since_us, const char **call);

void process_table_fini(struct process_table *t); /* accepts a zeroed one */

#endif
