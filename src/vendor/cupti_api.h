/* SPDX-License-Identifier: MIT */
/* CUPTI loaded from a given folder, and what its result codes mean. Finding the folder is the
 * caller's business. */
#ifndef SMEFF_VENDOR_CUPTI_API_H
#define SMEFF_VENDOR_CUPTI_API_H

#include <stdint.h>

#include "base/dl.h"
#include "vendor/cupti_abi.h"
#include "vendor/cupti_symbols.h"

/* CUDA 12.8: the first with the append mode, and without sampling of the wrong GPU. */
#define CUPTI_MIN_VERSION 26

enum cupti_result {
    CUPTI_SUCCESS = 0,
#define X(name, number, status, text) CUPTI_ERROR_##name = number,
    CUPTI_RESULTS(X)
#undef X
};

/* Zeroed = not loaded. Optional functions may be NULL. */
struct cupti_api {
    struct dl_lib host, target, lib; /* lib.path tells which libcupti was taken */
    uint32_t version;                /* of the interface: 26 = 12.8, 130001 = 13.0 Update 1 */
#define FIELD(name) __typeof__(name) *name;
    CUPTI_SYMBOLS(FIELD, FIELD, FIELD)
#undef FIELD
};

/* Loads libnvperf_host.so, libnvperf_target.so and the libcupti.so.N with the highest N, all three
 * from the folder dir. A process can hold one copy only.
 * ERR_NOT_FOUND: the folder or one of the three is not there or does not load; ERR_UNSUPPORTED: too
 * old, or an entry point is missing. The text says what and where. On failure *api is untouched.
 * Call cuInit before any of the functions: cuptiDeviceGetChipName crashes where there is no driver
 * library (seen with 13.0.1). */
enum status cupti_api_load(struct cupti_api *api, const char *dir, struct error *err);

/* Accepts NULL and a zeroed struct. */
void cupti_api_unload(struct cupti_api *api);

/* "HARDWARE_BUSY", plain words, and our status. Unknown codes give "?", "unknown result" and
 * ERR_VENDOR; never NULL. 0 gives "SUCCESS" and OK. */
const char *cupti_result_name(CUptiResult rc);
const char *cupti_result_text(CUptiResult rc);
enum status cupti_status(CUptiResult rc);

/* Fills err with "CALL: plain words (NAME, number)"; returns the status. rc must not be 0. */
enum status cupti_fail(struct error *err, const char *call, CUptiResult rc);

#endif
