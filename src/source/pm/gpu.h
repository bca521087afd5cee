/* SPDX-License-Identifier: MIT */
/* The GPU behind an index: CUDA's ordinal, its identity, its chip and which counters it has. */
#ifndef SMEFF_SOURCE_PM_GPU_H
#define SMEFF_SOURCE_PM_GPU_H

#include <stdint.h>

#include "base/error.h"
#include "vendor/cuda_api.h"
#include "vendor/cupti_api.h"

struct pm_gpu {
    int ordinal;
    char name[96], uuid[64], pci_bus[32], chip[32];
    uint8_t *availability; /* CUPTI's image; owned */
};

/* Makes CUDA count GPUs as nvidia-smi does, then starts it (no context is made).
 * ERR_NO_GPU: no driver, or no such GPU (the text says how many there are). */
enum status pm_cuda_start(struct cuda_api *cuda, struct error *err);

/* ERR_BUSY: another process holds the counters; ERR_PERMISSION: the driver refuses. */
enum status pm_gpu_open(struct pm_gpu *g, const struct cuda_api *cuda,
                        const struct cupti_api *cupti, unsigned index, struct error *err);
void pm_gpu_fini(struct pm_gpu *g); /* accepts a zeroed one */

#endif
