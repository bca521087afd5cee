/* SPDX-License-Identifier: MIT */
#include "source/pm/gpu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status pm_cuda_start(struct cuda_api *cuda, struct error *err)
{
    /* CUDA's own order is "fastest first", and CUDA_VISIBLE_DEVICES hides GPUs from CUPTI, too */
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    enum status st = cuda_api_load(cuda, NULL, err);
    if (st)
        return fail(err, ERR_NO_GPU, 0, "no NVIDIA driver: libcuda.so.1 is not there");
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

static enum status identify(struct pm_gpu *g, const struct cuda_api *cuda, unsigned index,
                            struct error *err)
{
    int count = 0;
    CUdevice device;
    struct cuda_uuid uuid;
    CUresult rc = cuda->cuDeviceGetCount(&count);
    if (rc)
        return cuda_fail(err, cuda, "cuDeviceGetCount", rc);
    if (count <= 0 || index >= (unsigned)count)
        return fail(err, ERR_NO_GPU, 0, "no GPU %u: this machine has %d", index, count);
    g->ordinal = (int)index;
    if ((rc = cuda->cuDeviceGet(&device, g->ordinal)))
        return cuda_fail(err, cuda, "cuDeviceGet", rc);
    if ((rc = cuda->cuDeviceGetName(g->name, sizeof g->name, device)))
        return cuda_fail(err, cuda, "cuDeviceGetName", rc);
    if ((rc = cuda->cuDeviceGetUuid_v2(&uuid, device)))
        return cuda_fail(err, cuda, "cuDeviceGetUuid", rc);
    format_uuid(g->uuid, &uuid);
    if ((rc = cuda->cuDeviceGetPCIBusId(g->pci_bus, sizeof g->pci_bus, device)))
        return cuda_fail(err, cuda, "cuDeviceGetPCIBusId", rc);
    for (char *p = g->pci_bus; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return OK;
}

static enum status read_chip(struct pm_gpu *g, const struct cupti_api *cupti, struct error *err)
{
    struct cupti_profiler_initialize init = CUPTI_INIT(profiler_initialize);
    CUptiResult rc = cupti->cuptiProfilerInitialize(&init);
    if (rc)
        return cupti_fail(err, "cuptiProfilerInitialize", rc);
    struct cupti_chip_name chip = CUPTI_INIT(chip_name);
    chip.deviceIndex = (size_t)g->ordinal;
    rc = cupti->cuptiDeviceGetChipName(&chip);
    if (rc)
        return cupti_fail(err, "cuptiDeviceGetChipName", rc);
    snprintf(g->chip, sizeof g->chip, "%s", chip.pChipName ? chip.pChipName : "");
    return OK;
}

static enum status read_availability(struct pm_gpu *g, const struct cupti_api *cupti,
                                     struct error *err)
{
    struct cupti_pm_availability p = CUPTI_INIT(pm_availability);
    p.deviceIndex = (size_t)g->ordinal;
    CUptiResult rc = cupti->cuptiPmSamplingGetCounterAvailability(&p);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingGetCounterAvailability", rc);
    g->availability =
        calloc(1, p.counterAvailabilityImageSize ? p.counterAvailabilityImageSize : 1);
    if (!g->availability)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    p.pCounterAvailabilityImage = g->availability;
    rc = cupti->cuptiPmSamplingGetCounterAvailability(&p);
    return rc ? cupti_fail(err, "cuptiPmSamplingGetCounterAvailability", rc) : OK;
}

enum status pm_gpu_open(struct pm_gpu *g, const struct cuda_api *cuda,
                        const struct cupti_api *cupti, unsigned index, struct error *err)
{
    *g = (struct pm_gpu){0};
    enum status st = identify(g, cuda, index, err);
    if (!st)
        st = read_chip(g, cupti, err);
    if (!st)
        st = read_availability(g, cupti, err);
    if (st)
        pm_gpu_fini(g);
    return st;
}

void pm_gpu_fini(struct pm_gpu *g)
{
    free(g->availability);
    *g = (struct pm_gpu){0};
}
