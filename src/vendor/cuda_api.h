/* SPDX-License-Identifier: MIT */
/* The CUDA driver library, loaded at run time, and what its result codes mean. */
#ifndef SMEFF_VENDOR_CUDA_API_H
#define SMEFF_VENDOR_CUDA_API_H

#include "base/dl.h"
#include "vendor/cuda_abi.h"
#include "vendor/cuda_symbols.h"

enum cuda_result {
    CUDA_SUCCESS = 0,
#define X(name, number, status) CUDA_ERROR_##name = number,
    CUDA_RESULTS(X)
#undef X
};

/* Zeroed = not loaded. Optional functions may be NULL. */
struct cuda_api {
    struct dl_lib lib;
#define FIELD(name) __typeof__(name) *name;
    CUDA_SYMBOLS(FIELD, FIELD)
#undef FIELD
};

/* path: the library to take, or NULL for libcuda.so.1 of the system. Starts nothing: the caller
 * calls cuInit, which may block for as long as the driver needs.
 * Errors as dl_open's; on failure *api is untouched. */
enum status cuda_api_load(struct cuda_api *api, const char *path, struct error *err);

/* Accepts NULL and a zeroed struct. */
void cuda_api_unload(struct cuda_api *api);

/* Our status for a result; ERR_VENDOR for codes that we do not tell apart. */
enum status cuda_status(CUresult rc);

/* Fills err with "CALL: the driver's words (NAME, number)"; returns the status. rc must not be 0.
 */
enum status cuda_fail(struct error *err, const struct cuda_api *api, const char *call, CUresult rc);

#endif
