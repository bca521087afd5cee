/* SPDX-License-Identifier: MIT */
/* CUDA's GPUs, counted as nvidia-smi does: in the order of the PCI bus. */
#ifndef SMEFF_VENDOR_CUDA_GPU_H
#define SMEFF_VENDOR_CUDA_GPU_H

#include <stdbool.h>

#include "base/error.h"
#include "vendor/cuda_api.h"

struct cuda_gpu {
    int ordinal; /* CUDA's, which is the index, too */
    CUdevice device;
    char name[96], uuid[64], pci_bus[32];
};

/* Makes CUDA count GPUs as nvidia-smi does, loads it and starts it (no context is made). path as
 * for cuda_api_load. ERR_NO_GPU: no driver, or it finds no GPU. On failure nothing stays loaded. */
enum status cuda_start(struct cuda_api *cuda, const char *path, struct error *err);

/* Has somebody (a batch system, say) given this process certain GPUs only? Readers look at all GPUs
 * anyway; what puts work on a GPU must ask which one is meant. */
bool cuda_restricted(void);
#define CUDA_RESTRICTED_TEXT                                                                       \
    "CUDA_VISIBLE_DEVICES is set: say with --gpu which GPU may be loaded (all GPUs are counted)"

/* ERR_NO_GPU: no such index; the text says how many there are. */
enum status cuda_gpu_open(struct cuda_gpu *g, const struct cuda_api *cuda, unsigned index,
                          struct error *err);

/* which: an index, or a UUID or its beginning as nvidia-smi takes it. ERR_USAGE: neither;
 * ERR_NO_GPU: no GPU is called so. */
enum status cuda_gpu_find(struct cuda_gpu *g, const struct cuda_api *cuda, const char *which,
                          struct error *err);

#endif
