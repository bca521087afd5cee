/* SPDX-License-Identifier: MIT */
#include "vendor/cuda_api.h"

static const struct dl_symbol symbols[] = {
#define REQUIRED(name) {#name, offsetof(struct cuda_api, name), true},
#define OPTIONAL(name) {#name, offsetof(struct cuda_api, name), false},
    CUDA_SYMBOLS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

enum status cuda_api_load(struct cuda_api *api, const char *path, struct error *err)
{
    const char *const names[] = {path ? path : "libcuda.so.1", NULL};
    struct dl_lib lib = {0};
    enum status st = dl_open(&lib, names, symbols, sizeof symbols / sizeof symbols[0], api, err);
    if (st == OK)
        api->lib = lib;
    return st;
}

void cuda_api_unload(struct cuda_api *api)
{
    if (!api)
        return;
    dl_close(&api->lib);
    *api = (struct cuda_api){0};
}

enum status cuda_status(CUresult rc)
{
    switch (rc) {
    case CUDA_SUCCESS:
        return OK;
#define X(name, number, status)                                                                    \
    case number:                                                                                   \
        return status;
        CUDA_RESULTS(X)
#undef X
    default:
        return ERR_VENDOR;
    }
}

enum status cuda_fail(struct error *err, const struct cuda_api *api, const char *call, CUresult rc)
{
    const char *name = NULL, *text = NULL;
    if (api->cuGetErrorName(rc, &name) != CUDA_SUCCESS || !name)
        name = "?";
    if (api->cuGetErrorString(rc, &text) != CUDA_SUCCESS || !text)
        text = "unknown result";
    return fail(err, cuda_status(rc), rc, "%s: %s (%s, %d)", call, text, name, rc);
}
