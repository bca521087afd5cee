/* SPDX-License-Identifier: MIT */
/* Fake libnvidia-ml: GPM. A metric is the mean of the script's gpm.ID between the two samples. */
#include "fake_nvml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIN_INTERVAL_NS = 100 * 1000 * 1000 };

struct nvmlGpmSample_st {
    const struct gpu *gpu; /* NULL = nothing was sampled into it yet */
    int64_t t_ns;
};

static bool supported(const struct gpu *gpu)
{
    return script_holds(gpu, "gpm");
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t dev, struct nvml_gpm_support *support)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    if (support->version != NVML_GPM_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    support->isSupportedDevice = supported(gpu);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    *sample = calloc(1, sizeof **sample);
    return *sample ? NVML_SUCCESS : NVML_ERROR_MEMORY;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    if (!sample)
        return NVML_ERROR_INVALID_ARGUMENT;
    free(sample);
    return NVML_SUCCESS;
}

static nvmlReturn_t take(const char *function, nvmlDevice_t dev, nvmlGpmSample_t sample)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(function, dev, &gpu);
    if (rc)
        return rc;
    if (!supported(gpu))
        return NVML_ERROR_NOT_SUPPORTED;
    *sample = (struct nvmlGpmSample_st){gpu, script_now_ns()};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t dev, nvmlGpmSample_t sample)
{
    return take(__func__, dev, sample);
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t dev, unsigned gpu_instance, nvmlGpmSample_t sample)
{
    (void)gpu_instance;
    return take(__func__, dev, sample);
}

/* Samples too close to one another have no data: byte rates then read 0, the others nothing. */
static void get_metric(const struct nvmlGpmSample_st *a, const struct nvmlGpmSample_st *b,
                       struct nvml_gpm_metric *m)
{
    char key[24];
    snprintf(key, sizeof key, "gpm.%u", m->metricId);
    const struct setting *s = script_find(a->gpu, key);
    bool is_rate = (m->metricId >= 20 && m->metricId <= 21) || m->metricId >= 60;
    m->metricInfo.shortName = m->metricInfo.longName = m->metricInfo.unit = NULL;
    m->value = NAN;
    m->nvmlReturn = NVML_SUCCESS;
    if (!s)
        m->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    else if (s->wave.kind == WAVE_ERROR)
        m->nvmlReturn = s->wave.code;
    else if (b->t_ns - a->t_ns >= MIN_INTERVAL_NS)
        m->value = wave_mean(&s->wave, a->t_ns, b->t_ns);
    else if (is_rate)
        m->value = 0;
    else
        m->nvmlReturn = NVML_ERROR_NO_DATA;
}

nvmlReturn_t nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    if (metrics->version != NVML_GPM_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const struct nvmlGpmSample_st *a = metrics->sample1, *b = metrics->sample2;
    if (!a || !b || !a->gpu || a->gpu != b->gpu)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < metrics->numMetrics; i++)
        get_metric(a, b, &metrics->metrics[i]);
    return NVML_SUCCESS;
}

static unsigned streaming[SCRIPT_GPUS];

nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t dev, unsigned *state)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc == NVML_SUCCESS)
        *state = streaming[gpu->index];
    return rc;
}

nvmlReturn_t nvmlGpmSetStreamingEnabled(nvmlDevice_t dev, unsigned state)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc == NVML_SUCCESS)
        streaming[gpu->index] = state != 0;
    return rc;
}
