/* SPDX-License-Identifier: MIT */
#include "vendor/nvml_api.h"

static const struct dl_symbol symbols[] = {
#define REQUIRED(name) {#name, offsetof(struct nvml_api, name), true},
#define OPTIONAL(name) {#name, offsetof(struct nvml_api, name), false},
    NVML_SYMBOLS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

enum status nvml_api_load(struct nvml_api *api, const char *path, struct error *err)
{
    const char *const names[] = {path ? path : "libnvidia-ml.so.1", NULL};
    struct dl_lib lib = {0};
    enum status st = dl_open(&lib, names, symbols, sizeof symbols / sizeof symbols[0], api, err);
    if (st == OK)
        api->lib = lib;
    return st;
}

void nvml_api_unload(struct nvml_api *api)
{
    if (!api)
        return;
    dl_close(&api->lib);
    *api = (struct nvml_api){0};
}

struct result {
    nvmlReturn_t rc;
    enum status status;
    const char *name, *text;
};

static struct result find_result(nvmlReturn_t rc)
{
    static const struct result results[] = {
#define X(name, number, status, text) {number, status, #name, text},
        X(SUCCESS, 0, OK, "done") NVML_RESULTS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].rc == rc)
            return results[i];
    return (struct result){rc, ERR_VENDOR, "?", "unknown result"};
}

const char *nvml_result_name(nvmlReturn_t rc)
{
    return find_result(rc).name;
}

const char *nvml_result_text(nvmlReturn_t rc)
{
    return find_result(rc).text;
}

enum status nvml_status(nvmlReturn_t rc)
{
    return find_result(rc).status;
}

enum status nvml_fail(struct error *err, const char *call, nvmlReturn_t rc)
{
    struct result r = find_result(rc);
    return fail(err, r.status, rc, "%s: %s (%s, %d)", call, r.text, r.name, rc);
}
