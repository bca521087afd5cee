/* SPDX-License-Identifier: MIT */
/* NVIDIA's management library, loaded at run time, and what its return codes mean. */
#ifndef SMEFF_VENDOR_NVML_API_H
#define SMEFF_VENDOR_NVML_API_H

#include "base/dl.h"
#include "vendor/nvml_abi.h"
#include "vendor/nvml_symbols.h"

enum nvml_result {
    NVML_SUCCESS = 0,
#define X(name, number, status, text) NVML_ERROR_##name = number,
    NVML_RESULTS(X)
#undef X
};

/* Zeroed = not loaded. Optional functions may be NULL: then one value is unsupported. */
struct nvml_api {
    struct dl_lib lib;
#define FIELD(name) __typeof__(name) *name;
    NVML_SYMBOLS(FIELD, FIELD)
#undef FIELD
};

/* path: the library to take, or NULL for libnvidia-ml.so.1 of the system. Starts nothing: the
 * caller calls nvmlInit_v2, which wakes a sleeping GPU.
 * Errors as dl_open's; on failure *api is untouched. */
enum status nvml_api_load(struct nvml_api *api, const char *path, struct error *err);

/* Accepts NULL and a zeroed struct. Does not call nvmlShutdown. */
void nvml_api_unload(struct nvml_api *api);

/* "GPU_IS_LOST", plain words, and our status. Unknown codes give "?", "unknown result" and
 * ERR_VENDOR; never NULL. 0 gives "SUCCESS" and OK. */
const char *nvml_result_name(nvmlReturn_t rc);
const char *nvml_result_text(nvmlReturn_t rc);
enum status nvml_status(nvmlReturn_t rc);

/* Fills err with "CALL: plain words (NAME, number)"; returns the status. rc must not be 0. */
enum status nvml_fail(struct error *err, const char *call, nvmlReturn_t rc);

#endif
