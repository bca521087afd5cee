/* SPDX-License-Identifier: MIT */
#include "source/pm/gpu.h"

#include <stdio.h>
#include <stdlib.h>

static enum status read_chip(struct pm_gpu *g, const struct cupti_api *cupti, struct error *err)
{
    struct cupti_profiler_initialize init = CUPTI_INIT(profiler_initialize);
    CUptiResult rc = cupti->cuptiProfilerInitialize(&init);
    if (rc)
        return cupti_fail(err, "cuptiProfilerInitialize", rc);
    struct cupti_chip_name chip = CUPTI_INIT(chip_name);
    chip.deviceIndex = (size_t)g->cuda.ordinal;
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
    p.deviceIndex = (size_t)g->cuda.ordinal;
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
    enum status st = cuda_gpu_open(&g->cuda, cuda, index, err);
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
