/* SPDX-License-Identifier: MIT */
/* Fake libcupti: the profiler host calls, as far as sampling needs them. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cupti.h"
#include "fake_cupti_host.h"

/* Without its two helper libraries every host call of the real one returns 15. */
static bool has_helpers(void)
{
    static const char *const names[] = {"libnvperf_host.so", "libnvperf_target.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *lib = dlopen(names[i], RTLD_LAZY);
        if (!lib)
            return false;
        dlclose(lib);
    }
    return true;
}

CUptiResult host_begin(const char *function, const void *params, size_t size)
{
    CUptiResult rc = cupti_begin(function, params, size);
    if (rc)
        return rc;
    return has_helpers() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

/* The first GPU with this chip. A chip that no GPU has takes its metrics from the common part. */
static struct gpu *gpu_of_chip(const char *chip)
{
    for (unsigned i = 0; i < script_gpus(); i++)
        if (strcmp(script_text(script_gpu(i), "chip", ""), chip) == 0)
            return script_gpu(i);
    return NULL;
}

CUptiResult cuptiProfilerHostInitialize(struct cupti_host_initialize *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_initialize);
    if (rc)
        return rc;
    if (p->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING || !p->pChipName)
        return CUPTI_ERROR_INVALID_PARAMETER;
    struct gpu *gpu = gpu_of_chip(p->pChipName);
    if (!gpu && !host_knows_chip(p->pChipName))
        return CUPTI_ERROR_INVALID_CHIP_NAME;
    if (p->pCounterAvailabilityImage) {
        gpu = cupti_availability_gpu(p->pCounterAvailabilityImage);
        if (!gpu)
            return CUPTI_ERROR_INVALID_PARAMETER;
    }
    struct cupti_host_object *host = calloc(1, sizeof *host);
    if (!host)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    host->gpu = gpu;
    host->knows_availability = p->pCounterAvailabilityImage != NULL;
    p->pHostObject = host;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(struct cupti_host_handle *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_handle);
    if (rc)
        return rc;
    if (!p->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    free(p->pHostObject);
    return CUPTI_SUCCESS;
}

static bool has_metric(const struct cupti_host_object *host, const char *name)
{
    for (unsigned i = 0; i < host->n; i++)
        if (strcmp(host->names[i], name) == 0)
            return true;
    return false;
}

static CUptiResult add_metric(struct cupti_host_object *host, const char *name)
{
    const struct setting *s = metric_find(host->gpu, name);
    if (!s)
        return CUPTI_ERROR_INVALID_PARAMETER; /* the real one's, though 17 is documented */
    if (metric_is_unavailable(s) && host->knows_availability)
        return CUPTI_ERROR_UNKNOWN;
    if (has_metric(host, name))
        return CUPTI_SUCCESS;
    if (host->n == METRICS)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    strncpy(host->names[host->n++], name, NAME_SIZE - 1); /* the rest is zero */
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(struct cupti_host_add_metrics *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_add_metrics);
    if (rc == CUPTI_SUCCESS && !(p->pHostObject && p->ppMetricNames))
        rc = CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; rc == CUPTI_SUCCESS && i < p->numMetrics; i++)
        rc = add_metric(p->pHostObject, p->ppMetricNames[i]);
    return rc;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(struct cupti_host_config_size *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_config_size);
    if (rc)
        return rc;
    if (!p->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->configImageSize = config_size(p->pHostObject->n);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(struct cupti_host_config *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_config);
    if (rc)
        return rc;
    struct cupti_host_object *host = p->pHostObject;
    if (!host || !p->pConfigImage || p->configImageSize < config_size(host->n))
        return CUPTI_ERROR_INVALID_PARAMETER;
    unsigned passes = metric_passes(host->gpu, host->names, host->n);
    config_write(p->pConfigImage, passes, host->names, host->n);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(struct cupti_host_passes *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_passes);
    if (rc)
        return rc;
    struct config_head head;
    if (!config_read(p->pConfigImage, p->configImageSize, &head))
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->numOfPasses = head.passes;
    return CUPTI_SUCCESS;
}

static CUptiResult evaluate(const struct cupti_host_evaluate *p, const struct counter_head *head,
                            const struct sample *sample, size_t k)
{
    const char *name = p->ppMetricNames[k];
    if (!has_metric(p->pHostObject, name))
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (unsigned i = 0; i < head->n; i++) {
        if (strcmp(counter_name(p->pCounterDataImage, i), name) == 0) {
            p->pMetricValues[k] = sample->values[i];
            return CUPTI_SUCCESS;
        }
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct cupti_host_evaluate *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_evaluate);
    if (rc)
        return rc;
    struct counter_head head;
    struct sample sample;
    if (!p->pHostObject || !p->ppMetricNames || !p->pMetricValues ||
        !counter_read(p->pCounterDataImage, p->counterDataImageSize, &head) ||
        !counter_get(p->pCounterDataImage, p->rangeIndex, &sample))
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t k = 0; rc == CUPTI_SUCCESS && k < p->numMetrics; k++)
        rc = evaluate(p, &head, &sample, k);
    return rc;
}
