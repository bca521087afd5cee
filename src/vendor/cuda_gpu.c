/* SPDX-License-Identifier: MIT */
#include "vendor/cuda_gpu.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

enum status cuda_start(struct cuda_api *cuda, const char *path, struct error *err)
{
    /* CUDA's own order is "fastest first", and CUDA_VISIBLE_DEVICES hides GPUs from CUPTI, too */
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    enum status st = cuda_api_load(cuda, path, err);
    if (st)
        return fail(err, ERR_NO_GPU, 0,
                    "no NVIDIA driver: libcuda.so.1 was not found (smeff doctor says more)");
    CUresult rc = cuda->cuInit(0);
    if (rc) {
        st = cuda_fail(err, cuda, "cuInit", rc);
        cuda_api_unload(cuda);
    }
    return st;
}

static void format_uuid(char dst[64], const struct cuda_uuid *uuid)
{
    const unsigned char *b = (const unsigned char *)uuid;
    size_t n = (size_t)snprintf(dst, 64, "GPU-");
    for (size_t i = 0; i < 16; i++)
        n += (size_t)snprintf(dst + n, 64 - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

static enum status count_gpus(int *count, const struct cuda_api *cuda, struct error *err)
{
    CUresult rc = cuda->cuDeviceGetCount(count);
    return rc ? cuda_fail(err, cuda, "cuDeviceGetCount", rc) : OK;
}

bool cuda_restricted(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && *visible;
}

enum status cuda_gpu_open(struct cuda_gpu *out, const struct cuda_api *cuda, unsigned index,
                          struct error *err)
{
    int count = 0;
    struct cuda_gpu g = {.ordinal = (int)index};
    struct cuda_uuid uuid;
    enum status st = count_gpus(&count, cuda, err);
    if (st)
        return st;
    if (count <= 0 || index >= (unsigned)count)
        return fail(err, ERR_NO_GPU, 0, "no GPU %u: this machine has %d", index, count);
    CUresult rc = cuda->cuDeviceGet(&g.device, g.ordinal);
    if (rc)
        return cuda_fail(err, cuda, "cuDeviceGet", rc);
    if ((rc = cuda->cuDeviceGetName(g.name, sizeof g.name, g.device)))
        return cuda_fail(err, cuda, "cuDeviceGetName", rc);
    if ((rc = cuda->cuDeviceGetUuid_v2(&uuid, g.device)))
        return cuda_fail(err, cuda, "cuDeviceGetUuid", rc);
    format_uuid(g.uuid, &uuid);
    if ((rc = cuda->cuDeviceGetPCIBusId(g.pci_bus, sizeof g.pci_bus, g.device)))
        return cuda_fail(err, cuda, "cuDeviceGetPCIBusId", rc);
    for (char *p = g.pci_bus; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    *out = g;
    return OK;
}

enum status cuda_gpu_find(struct cuda_gpu *g, const struct cuda_api *cuda, const char *which,
                          struct error *err)
{
    uint64_t index;
    int count = 0;
    if (num_parse_u64(which, &index) && index <= INT_MAX)
        return cuda_gpu_open(g, cuda, (unsigned)index, err);
    if (!str_starts_with(which, "GPU-"))
        return fail(err, ERR_USAGE, 0, "--gpu is one GPU's index or UUID, not \"%s\"", which);
    enum status st = count_gpus(&count, cuda, err);
    int found = 0;
    for (unsigned i = 0; !st && i < (unsigned)count; i++) {
        struct cuda_gpu one;
        st = cuda_gpu_open(&one, cuda, i, err);
        if (st || !str_starts_with(one.uuid, which))
            continue;
        *g = one;
        found++;
    }
    if (st || found == 1)
        return st;
    return found ? fail(err, ERR_USAGE, 0, "--gpu %s: %d GPUs are called so", which, found)
                 : fail(err, ERR_NO_GPU, 0, "no GPU %s: this machine has %d others", which, count);
}
