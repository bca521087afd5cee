/* SPDX-License-Identifier: MIT */
#include "load/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "metric/unit.h"
#include "vendor/cuda_gpu.h"
#include "vendor/pcie.h"

enum { CAPABILITY_MIN = 75 };

enum status load_check(const struct load_device *d, const char *call, CUresult rc,
                       struct error *err)
{
    return rc ? cuda_fail(err, &d->cuda, call, rc) : OK;
}

/* ---- finding ---- */

static enum status check_functions(const struct cuda_api *cuda, struct error *err)
{
#define NEEDED(name)
#define CHECK(name)                                                                                \
    if (!cuda->name)                                                                               \
        return fail(err, ERR_UNSUPPORTED, 0, "this driver is too old: it lacks %s", #name);
    CUDA_SYMBOLS(NEEDED, CHECK)
#undef NEEDED
#undef CHECK
    return OK;
}

static enum status attribute(const struct load_device *d, enum cuda_attribute which, unsigned *out,
                             struct error *err)
{
    int value = 0;
    enum status st = LOAD_CALL(d, err, cuDeviceGetAttribute, &value, which, d->number);
    if (st == OK)
        *out = value > 0 ? (unsigned)value : 0;
    return st;
}

/* 0 where the driver does not tell. */
static unsigned attribute_or_0(const struct load_device *d, enum cuda_attribute which)
{
    unsigned value = 0;
    return attribute(d, which, &value, NULL) ? 0 : value;
}

static enum status read_facts(struct load_device *d, struct error *err)
{
    struct load_gpu *g = &d->gpu;
    unsigned threads = 0, shared = 0;
    enum status st = attribute(d, CUDA_ATTRIBUTE_CAPABILITY_MAJOR, &g->major, err);
    if (!st)
        st = attribute(d, CUDA_ATTRIBUTE_CAPABILITY_MINOR, &g->minor, err);
    if (!st)
        st = attribute(d, CUDA_ATTRIBUTE_SM_COUNT, &g->sm_count, err);
    if (!st)
        st = attribute(d, CUDA_ATTRIBUTE_THREADS_PER_SM, &threads, err);
    if (!st)
        st = attribute(d, CUDA_ATTRIBUTE_SHARED_PER_SM, &shared, err);
    if (st)
        return st;
    g->warps_per_sm = threads / 32;
    g->shared_per_sm = shared;
    if (!g->sm_count || !g->warps_per_sm)
        return fail(err, ERR_VENDOR, 0, "the driver says that the GPU has no SMs");
    g->integrated = attribute_or_0(d, CUDA_ATTRIBUTE_INTEGRATED) != 0;
    g->l2_bytes = attribute_or_0(d, CUDA_ATTRIBUTE_L2_BYTES);
    /* double data rate; kHz and bits */
    double peak = 2e3 * attribute_or_0(d, CUDA_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                  attribute_or_0(d, CUDA_ATTRIBUTE_MEMORY_BUS_WIDTH) / 8;
    g->memory_peak = peak > 0 ? peak : NAN;
    return OK;
}

enum status load_device_find(struct load_device *d, const char *library, const char *which,
                             struct error *err)
{
    struct cuda_gpu gpu;
    enum status st = cuda_start(&d->cuda, library, err);
    if (!st)
        st = check_functions(&d->cuda, err);
    if (!st)
        st = cuda_gpu_find(&gpu, &d->cuda, which ? which : "0", err);
    if (st)
        return st;
    d->number = gpu.device;
    d->gpu.index = gpu.ordinal;
    str_clean(d->gpu.name, sizeof d->gpu.name, gpu.name, strlen(gpu.name));
    memcpy(d->gpu.uuid, gpu.uuid, sizeof gpu.uuid);
    memcpy(d->gpu.pci_bus, gpu.pci_bus, sizeof gpu.pci_bus);
    d->gpu.pcie_payload = pcie_max_payload("", gpu.pci_bus);
    st = read_facts(d, err);
    if (!st && d->gpu.major * 10 + d->gpu.minor < CAPABILITY_MIN)
        return fail(err, ERR_UNSUPPORTED, 0,
                    "%s has compute capability %u.%u; loads need 7.5 (Turing) or later",
                    d->gpu.name, d->gpu.major, d->gpu.minor);
    return st;
}

/* ---- opening and closing ---- */

static enum status load_module(struct load_device *d, enum load_image image, struct error *err)
{
    char log[256] = "";
    int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    enum status st =
        LOAD_CALL(d, err, cuModuleLoadDataEx, &d->module, load_image(image), 2, options, values);
    return st && *log ? fail_wrap(err, st, "%s", log) : st;
}

static enum status create_events(struct load_device *d, struct error *err)
{
    enum status st = LOAD_CALL(d, err, cuEventCreate, &d->begin, CUDA_EVENT_BLOCKING_SYNC);
    for (int i = 0; !st && i < LOAD_SLOTS; i++)
        st = LOAD_CALL(d, err, cuEventCreate, &d->ends[i], CUDA_EVENT_BLOCKING_SYNC);
    return st;
}

enum status load_device_open(struct load_device *d, enum load_image image, struct error *err)
{
    CUcontext context = NULL;
    void *records = NULL;
    size_t size = LOAD_SLOTS * sizeof *d->records;
    enum status st = LOAD_CALL(d, err, cuDevicePrimaryCtxRetain, &context, d->number);
    d->retained = st == OK;
    if (!st)
        st = LOAD_CALL(d, err, cuCtxSetCurrent, context);
    if (!st)
        st = LOAD_CALL(d, err, cuStreamCreate, &d->stream, CUDA_STREAM_NON_BLOCKING);
    if (!st)
        st = create_events(d, err);
    if (!st)
        st = LOAD_CALL(d, err, cuMemHostAlloc, &records, size, 0);
    if (!st) {
        d->records = records;
        memset(records, 0, size);
    }
    return st || image == LOAD_IMAGE_NONE ? st : load_module(d, image, err);
}

static void free_memory(struct load_device *d)
{
    for (int i = 0; i < LOAD_MEMORY; i++)
        if (d->memory[i])
            d->cuda.cuMemFree_v2(d->memory[i]);
    memset(d->memory, 0, sizeof d->memory);
}

/* Results do not matter here: after an error each call returns that one again, and the context,
 * which owns all, goes last. */
void load_device_close(struct load_device *d)
{
    const struct cuda_api *cuda = &d->cuda;
    if (d->stream)
        cuda->cuStreamSynchronize(d->stream);
    if (d->graph_exec)
        cuda->cuGraphExecDestroy(d->graph_exec);
    if (d->graph)
        cuda->cuGraphDestroy(d->graph);
    free_memory(d);
    if (d->pinned)
        cuda->cuMemFreeHost(d->pinned);
    if (d->records)
        cuda->cuMemFreeHost(d->records);
    for (int i = 0; i < LOAD_SLOTS; i++)
        if (d->ends[i])
            cuda->cuEventDestroy_v2(d->ends[i]);
    if (d->begin)
        cuda->cuEventDestroy_v2(d->begin);
    if (d->module)
        cuda->cuModuleUnload(d->module);
    if (d->stream)
        cuda->cuStreamDestroy_v2(d->stream);
    if (d->retained)
        cuda->cuDevicePrimaryCtxRelease_v2(d->number);
    cuda_api_unload(&d->cuda);
    *d = (struct load_device){0};
}

/* ---- memory ---- */

static enum status no_memory(const struct load_device *d, unsigned n, uint64_t least,
                             struct error *err)
{
    size_t free_bytes = 0, total = 0;
    char free_text[32] = "an unknown amount", needed[32];
    if (d->cuda.cuMemGetInfo_v2(&free_bytes, &total) == CUDA_SUCCESS)
        unit_format(free_text, sizeof free_text, UNIT_BYTES, (double)free_bytes, 0);
    return fail(err, ERR_NOMEM, CUDA_ERROR_OUT_OF_MEMORY,
                "GPU %d has too little free memory: %s; this load needs at least %s", d->gpu.index,
                free_text, unit_format(needed, sizeof needed, UNIT_BYTES, (double)(n * least), 0));
}

enum status load_take_memory(struct load_device *d, unsigned n, uint64_t *bytes, uint64_t least,
                             struct error *err)
{
    for (uint64_t size = *bytes; size >= least && size > 0; size /= 2) {
        enum status st = OK;
        for (unsigned i = 0; !st && i < n; i++)
            st = LOAD_CALL(d, err, cuMemAlloc_v2, &d->memory[i], size);
        if (!st)
            *bytes = size;
        if (st != ERR_NOMEM)
            return st;
        free_memory(d);
    }
    return no_memory(d, n, least, err);
}

enum status load_take_pinned(struct load_device *d, uint64_t *bytes, uint64_t least,
                             struct error *err)
{
    enum status st = ERR_NOMEM;
    for (uint64_t size = *bytes; st == ERR_NOMEM && size >= least; size /= 2) {
        st = LOAD_CALL(d, err, cuMemHostAlloc, &d->pinned, size, 0);
        if (!st)
            *bytes = size;
    }
    return st;
}

/* ---- work ---- */

enum status load_function(struct load_device *d, CUfunction *out, const char *name,
                          struct error *err)
{
    return LOAD_CALL(d, err, cuModuleGetFunction, out, d->module, name);
}

enum status load_launch(struct load_device *d, CUfunction function, struct load_grid grid,
                        void **params, struct error *err)
{
    return LOAD_CALL(d, err, cuLaunchKernel, function, grid.blocks, 1, 1, grid.threads, 1, 1,
                     (unsigned)grid.shared, d->stream, params, NULL);
}

enum status load_wait(struct load_device *d, struct error *err)
{
    enum status st = LOAD_CALL(d, err, cuEventRecord, d->begin, d->stream);
    return st ? st : LOAD_CALL(d, err, cuEventSynchronize, d->begin);
}
