/* SPDX-License-Identifier: MIT */
/* The GPU behind an index: who it is, its chip and which counters it has. */
#ifndef SMEFF_SOURCE_PM_GPU_H
#define SMEFF_SOURCE_PM_GPU_H

#include <stdint.h>

#include "base/error.h"
#include "vendor/cuda_gpu.h"
#include "vendor/cupti_api.h"

struct pm_gpu {
    struct cuda_gpu cuda; /* who it is */
    char chip[32];
    uint8_t *availability; /* CUPTI's image; owned */
};

/* ERR_NO_GPU: no such GPU (the text says how many there are); ERR_BUSY: another process holds the
 * counters; ERR_PERMISSION: the driver refuses. */
enum status pm_gpu_open(struct pm_gpu *g, const struct cuda_api *cuda,
                        const struct cupti_api *cupti, unsigned index, struct error *err);
void pm_gpu_fini(struct pm_gpu *g); /* accepts a zeroed one */

#endif
