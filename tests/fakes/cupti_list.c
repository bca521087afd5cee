/* SPDX-License-Identifier: MIT */
/* Fake libcupti: the host calls that list things. Names come from the script's "pm." settings. */
#include <stdio.h>
#include <string.h>

#include "fake_cupti.h"
#include "fake_cupti_host.h"

static const char *const chips[] = {
    "GV100", "GV11B", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103",
    "GA104", "GA106", "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104", "AD106", "AD107",
    "GB100", "GB102", "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B",
};

bool host_knows_chip(const char *chip)
{
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++)
        if (strcmp(chips[i], chip) == 0)
            return true;
    return false;
}

CUptiResult cuptiProfilerHostGetSupportedChips(struct cupti_host_supported_chips *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_supported_chips);
    if (rc)
        return rc;
    p->numChips = sizeof chips / sizeof chips[0];
    p->ppChipNames = chips;
    return CUPTI_SUCCESS;
}

static enum cupti_metric_type type_of(const char *base)
{
    return strstr(base, "throughput")                        ? CUPTI_METRIC_THROUGHPUT
           : strstr(base, "rate") || strstr(base, "average") ? CUPTI_METRIC_RATIO
                                                             : CUPTI_METRIC_COUNTER;
}

/* "pm.BASE" settings; those of whole expressions have a rollup and are left out. */
static size_t list_bases(const struct section *section, enum cupti_metric_type type,
                         const char **out, size_t n)
{
    char unused[NAME_SIZE];
    for (size_t i = 0; i < section->n; i++) {
        const char *key = section->list[i].key;
        bool is_base = strncmp(key, "pm.", 3) == 0 && !metric_base(key + 3, unused);
        for (size_t k = 0; is_base && k < n; k++)
            is_base = strcmp(out[k], key + 3) != 0;
        if (is_base && type_of(key) == type)
            out[n++] = key + 3;
    }
    return n;
}

CUptiResult cuptiProfilerHostGetBaseMetrics(struct cupti_host_base_metrics *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_base_metrics);
    if (rc)
        return rc;
    struct cupti_host_object *host = p->pHostObject;
    if (!host)
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->numMetrics = list_bases(script_common(), p->metricType, host->bases, 0);
    if (host->gpu)
        p->numMetrics = list_bases(&host->gpu->own, p->metricType, host->bases, p->numMetrics);
    p->ppMetricNames = host->bases;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSubMetrics(struct cupti_host_sub_metrics *p)
{
    static const char *counter[] = {".sum", ".sum.per_second", ".avg",
                                    ".avg.pct_of_peak_sustained_elapsed"};
    static const char *ratio[] = {".pct", ".ratio", ".max_rate"};
    static const char *throughput[] = {".avg.pct_of_peak_sustained_elapsed"};
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_sub_metrics);
    if (rc)
        return rc;
    char whole[NAME_SIZE];
    snprintf(whole, sizeof whole, "%s.avg", p->pMetricName);
    if (!p->pHostObject || !metric_find(p->pHostObject->gpu, whole))
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    enum cupti_metric_type type = type_of(p->pMetricName);
    p->ppSubMetrics = type == CUPTI_METRIC_COUNTER ? counter
                      : type == CUPTI_METRIC_RATIO ? ratio
                                                   : throughput;
    p->numOfSubmetrics = type == CUPTI_METRIC_COUNTER ? 4 : type == CUPTI_METRIC_RATIO ? 3 : 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(struct cupti_host_metric_properties *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_metric_properties);
    if (rc)
        return rc;
    char whole[NAME_SIZE];
    snprintf(whole, sizeof whole, "%s.avg", p->pMetricName);
    if (!p->pHostObject || !(metric_find(p->pHostObject->gpu, whole) ||
                             metric_find(p->pHostObject->gpu, p->pMetricName)))
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    p->pDescription = "fake: a metric";
    p->pHwUnit = "fake";
    p->pDimUnit = "fake";
    p->metricType = type_of(p->pMetricName);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(struct cupti_host_max_metrics *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_max_metrics);
    if (rc)
        return rc;
    if (!p->pChipName || !host_knows_chip(p->pChipName))
        return CUPTI_ERROR_INVALID_CHIP_NAME;
    p->maxMetricsPerPass = METRICS;
    return CUPTI_SUCCESS;
}

/* From 13.2: one set, of all metrics whose names begin with it. */
static const char single_pass_set[] = "TriageCompute";

CUptiResult cuptiProfilerHostGetSinglePassSets(struct cupti_host_single_pass_sets *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_single_pass_sets);
    if (rc)
        return rc;
    if (p->ppSetNames && p->numSets >= 1)
        p->ppSetNames[0] = single_pass_set;
    p->numSets = 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricsInSinglePassSet(struct cupti_host_metrics_in_set *p)
{
    CUptiResult rc = host_begin(__func__, p, CUPTI_SIZE_host_metrics_in_set);
    if (rc)
        return rc;
    if (!p->pSetName || strcmp(p->pSetName, single_pass_set) != 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const struct section *common = script_common();
    bool fill = p->pMetricNameOffsets && p->pMetricNamesBuffer;
    size_t n = 0, bytes = 0;
    for (size_t i = 0; i < common->n; i++) {
        const char *name = common->list[i].key + 3;
        if (strncmp(common->list[i].key, "pm.", 3) != 0 || !strstr(name, single_pass_set))
            continue;
        size_t size = strlen(name) + 1;
        if (fill && (n == p->numMetrics || bytes + size > p->metricNamesBufferSize))
            return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
        if (fill) {
            p->pMetricNameOffsets[n] = bytes;
            memcpy(p->pMetricNamesBuffer + bytes, name, size);
        }
        n++;
        bytes += size;
    }
    p->numMetrics = n;
    p->metricNamesBufferSize = bytes;
    return CUPTI_SUCCESS;
}
