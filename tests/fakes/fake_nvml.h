/* SPDX-License-Identifier: MIT */
/* Inside of the fake libnvidia-ml: what nvml_*.c share. Our declarations of the real interface make
 * the exported functions, so a wrong prototype does not compile. */
#ifndef FAKES_FAKE_NVML_H
#define FAKES_FAKE_NVML_H

#pragma GCC visibility push(default)
#include "vendor/nvml_abi.h"
#pragma GCC visibility pop

#include "script.h"
#include "vendor/nvml_api.h"

/* What every call on a GPU does first: planned faults, initialisation, handle, loss of the GPU. */
nvmlReturn_t nvml_begin(const char *function, nvmlDevice_t dev, const struct gpu **gpu);

/* The script's number for a function: "FUNCTION.selector" when selector is not NULL and there is
 * one, else "FUNCTION". NOT_SUPPORTED when there is neither; "error CODE" gives the code. */
nvmlReturn_t nvml_number(const char *function, const char *selector, const struct gpu *gpu,
                         double *out);

#endif
