/* SPDX-License-Identifier: MIT */
/* CUPTI's PM sampling and profiler host interfaces as they are in memory on 64-bit Linux: our own
 * declarations. Members keep NVIDIA's names, so that its documentation can be read beside them:
 * https://docs.nvidia.com/cupti/api/modules.html
 * tests/abi compares names, sizes, offsets and numbers with NVIDIA's headers. */
#ifndef SMEFF_VENDOR_CUPTI_ABI_H
#define SMEFF_VENDOR_CUPTI_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUptiResult; /* an enum of NVIDIA's; numbers that we do not know pass through */

struct cupti_pm_object;   /* one GPU being sampled */
struct cupti_host_object; /* one set of metrics for one chip */

enum cupti_profiler_type { CUPTI_PROFILER_TYPE_RANGE = 0, CUPTI_PROFILER_TYPE_PM_SAMPLING = 1 };

enum cupti_profiler_api {
    CUPTI_API_RANGE = 0,
    CUPTI_API_PC_SAMPLING = 1,
    CUPTI_API_SASS = 2,
    CUPTI_API_PM_SAMPLING = 3,
};

enum cupti_support {
    CUPTI_SUPPORT_UNKNOWN = 0,
    CUPTI_SUPPORT_UNSUPPORTED = 1,
    CUPTI_SUPPORT_DISABLED = 2, /* possible, but switched off */
    CUPTI_SUPPORT_SUPPORTED = 3,
    CUPTI_SUPPORT_LIMITED = 4, /* from 13.3; the number is from a public binding */
};

enum cupti_trigger {
    CUPTI_TRIGGER_SYSCLK = 0, /* interval in SYS clock cycles: the only one on Turing and GA100 */
    CUPTI_TRIGGER_TIME = 1,   /* interval in nanoseconds */
};

enum cupti_append {
    CUPTI_APPEND_KEEP_OLDEST = 0, /* a full hardware buffer is an error */
    CUPTI_APPEND_KEEP_LATEST = 1, /* a full hardware buffer loses the oldest records silently */
};

enum cupti_decode_stop {
    CUPTI_DECODE_STOP_OTHER = 0,
    CUPTI_DECODE_STOP_IMAGE_FULL = 1,
    CUPTI_DECODE_STOP_END_OF_RECORDS = 2,
};

enum cupti_metric_type {
    CUPTI_METRIC_COUNTER = 0,
    CUPTI_METRIC_RATIO = 1,
    CUPTI_METRIC_THROUGHPUT = 2,
};

/* Every structure begins so. structSize is the end of the last member, not sizeof: see below. */
#define CUPTI_HEAD                                                                                 \
    size_t structSize;                                                                             \
    void *pPriv

struct cupti_profiler_initialize { /* also for cuptiProfilerDeInitialize */
    CUPTI_HEAD;
};

struct cupti_device_supported {
    CUPTI_HEAD;
    int32_t cuDevice; /* in: a CUdevice */
    enum cupti_support isSupported;
    enum cupti_support architecture;
    enum cupti_support sli;
    enum cupti_support vGpu;
    enum cupti_support confidentialCompute;
    enum cupti_support cmp;
    enum cupti_support wsl;
    enum cupti_profiler_api api; /* in */
};

struct cupti_chip_name {
    CUPTI_HEAD;
    size_t deviceIndex;    /* in: the CUDA ordinal */
    const char *pChipName; /* out: owned by CUPTI */
};

struct cupti_pm_availability {
    CUPTI_HEAD;
    size_t deviceIndex;
    size_t counterAvailabilityImageSize; /* out when the image is NULL, else in */
    uint8_t *pCounterAvailabilityImage;
};

struct cupti_pm_enable {
    CUPTI_HEAD;
    size_t deviceIndex;
    struct cupti_pm_object *pPmSamplingObject; /* out */
};

struct cupti_pm_handle { /* Disable, Start, Stop */
    CUPTI_HEAD;
    struct cupti_pm_object *pPmSamplingObject;
};

struct cupti_pm_set_config {
    CUPTI_HEAD;
    struct cupti_pm_object *pPmSamplingObject;
    size_t configSize;
    const uint8_t *pConfig; /* CUPTI keeps the pointer: valid and unchanged until Disable */
    size_t hardwareBufferSize;
    uint64_t samplingInterval;
    enum cupti_trigger triggerMode;
    enum cupti_append hwBufferAppendMode;
};

struct cupti_pm_image_size {
    CUPTI_HEAD;
    struct cupti_pm_object *pPmSamplingObject;
    const char **pMetricNames;
    size_t numMetrics;
    uint32_t maxSamples;
    size_t counterDataSize; /* out */
};

struct cupti_pm_image_initialize {
    CUPTI_HEAD;
    struct cupti_pm_object *pPmSamplingObject;
    size_t counterDataSize;
    uint8_t *pCounterData;
};

struct cupti_pm_decode {
    CUPTI_HEAD;
    struct cupti_pm_object *pPmSamplingObject;
    uint8_t *pCounterDataImage;
    size_t counterDataImageSize;
    enum cupti_decode_stop decodeStopReason; /* out */
    uint8_t overflow;                        /* out */
};

struct cupti_pm_image_info {
    CUPTI_HEAD;
    const uint8_t *pCounterDataImage;
    size_t counterDataImageSize;
    size_t numTotalSamples;
    size_t numPopulatedSamples;
    size_t numCompletedSamples; /* those that may be evaluated */
};

struct cupti_pm_sample_info {
    CUPTI_HEAD;
    struct cupti_pm_object *pPmSamplingObject;
    const uint8_t *pCounterDataImage;
    size_t counterDataImageSize;
    size_t sampleIndex;
    uint64_t startTimestamp; /* out: nanoseconds since 1970 */
    uint64_t endTimestamp;
};

struct cupti_host_initialize {
    CUPTI_HEAD;
    enum cupti_profiler_type profilerType;
    const char *pChipName;                    /* upper case */
    const uint8_t *pCounterAvailabilityImage; /* may be NULL */
    struct cupti_host_object *pHostObject;    /* out */
};

struct cupti_host_handle { /* Deinitialize */
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
};

struct cupti_host_supported_chips {
    CUPTI_HEAD;
    size_t numChips;
    const char *const *ppChipNames;
};

struct cupti_host_base_metrics {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    enum cupti_metric_type metricType;
    const char **ppMetricNames;
    size_t numMetrics;
};

struct cupti_host_sub_metrics {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    enum cupti_metric_type metricType;
    const char *pMetricName;
    size_t numOfSubmetrics;
    const char **ppSubMetrics;
};

struct cupti_host_metric_properties {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    const char *pMetricName;
    const char *pDescription;
    const char *pHwUnit;
    const char *pDimUnit;
    enum cupti_metric_type metricType;
};

struct cupti_host_add_metrics {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    const char **ppMetricNames;
    size_t numMetrics;
};

struct cupti_host_config_size {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    size_t configImageSize;
};

struct cupti_host_config {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    size_t configImageSize;
    uint8_t *pConfigImage;
};

struct cupti_host_passes {
    CUPTI_HEAD;
    size_t configImageSize;
    uint8_t *pConfigImage;
    size_t numOfPasses;
};

struct cupti_host_max_metrics {
    CUPTI_HEAD;
    enum cupti_profiler_type profilerType;
    const char *pChipName;
    uint8_t *pCounterAvailabilityImage;
    size_t maxMetricsPerPass;
};

struct cupti_host_evaluate {
    CUPTI_HEAD;
    struct cupti_host_object *pHostObject;
    const uint8_t *pCounterDataImage;
    size_t counterDataImageSize;
    size_t rangeIndex; /* the sample's index */
    const char **ppMetricNames;
    size_t numMetrics;
    double *pMetricValues; /* in: room for numMetrics values */
};

/* From CUPTI 13.2. Members are documented, offsets are what the rules of C make of them. */
struct cupti_host_single_pass_sets {
    CUPTI_HEAD;
    const char *pChipName;
    size_t numSets;
    const char **ppSetNames; /* NULL asks for the number */
};

struct cupti_host_metrics_in_set {
    CUPTI_HEAD;
    const char *pChipName;
    const char *pSetName;
    size_t numMetrics;
    size_t metricNamesBufferSize;
    size_t *pMetricNameOffsets;
    uint8_t *pMetricNamesBuffer; /* both NULL ask for the sizes */
};

/* X(name, last member, structSize). CUPTI refuses any size but the end of the last member that
 * some version of it knows. These are the sizes of 13.0, which later versions go on accepting. */
#define CUPTI_STRUCTS(X)                                                                           \
    X(profiler_initialize, pPriv, 16)                                                              \
    X(device_supported, api, 52)                                                                   \
    X(chip_name, pChipName, 32)                                                                    \
    X(pm_availability, pCounterAvailabilityImage, 40)                                              \
    X(pm_enable, pPmSamplingObject, 32)                                                            \
    X(pm_handle, pPmSamplingObject, 24)                                                            \
    X(pm_set_config, hwBufferAppendMode, 64)                                                       \
    X(pm_image_size, counterDataSize, 56)                                                          \
    X(pm_image_initialize, pCounterData, 40)                                                       \
    X(pm_decode, overflow, 45)                                                                     \
    X(pm_image_info, numCompletedSamples, 56)                                                      \
    X(pm_sample_info, endTimestamp, 64)                                                            \
    X(host_initialize, pHostObject, 48)                                                            \
    X(host_handle, pHostObject, 24)                                                                \
    X(host_supported_chips, ppChipNames, 32)                                                       \
    X(host_base_metrics, numMetrics, 48)                                                           \
    X(host_sub_metrics, ppSubMetrics, 56)                                                          \
    X(host_metric_properties, metricType, 60)                                                      \
    X(host_add_metrics, numMetrics, 40)                                                            \
    X(host_config_size, configImageSize, 32)                                                       \
    X(host_config, pConfigImage, 40)                                                               \
    X(host_passes, numOfPasses, 40)                                                                \
    X(host_max_metrics, maxMetricsPerPass, 48)                                                     \
    X(host_evaluate, pMetricValues, 72)                                                            \
    X(host_single_pass_sets, ppSetNames, 40)                                                       \
    X(host_metrics_in_set, pMetricNamesBuffer, 64)

enum {
#define X(name, last, size) CUPTI_SIZE_##name = size,
    CUPTI_STRUCTS(X)
#undef X
};

#define X(name, last, size)                                                                        \
    static_assert(offsetof(struct cupti_##name, last) +                                            \
                          sizeof(((struct cupti_##name *)0)->last) ==                              \
                      CUPTI_SIZE_##name,                                                           \
                  "structSize of cupti_" #name);
CUPTI_STRUCTS(X)
#undef X

/* A zeroed structure with its size: struct cupti_pm_decode p = CUPTI_INIT(pm_decode); */
#define CUPTI_INIT(name)                                                                           \
    {                                                                                              \
        .structSize = CUPTI_SIZE_##name                                                            \
    }

/* Prototypes only; the functions are looked up at run time (vendor/cupti_api.h). */
CUptiResult cuptiGetVersion(uint32_t *version);
CUptiResult cuptiGetResultString(CUptiResult result, const char **text);
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text);
CUptiResult cuptiProfilerInitialize(struct cupti_profiler_initialize *p);
CUptiResult cuptiProfilerDeInitialize(struct cupti_profiler_initialize *p);
CUptiResult cuptiProfilerDeviceSupported(struct cupti_device_supported *p);
CUptiResult cuptiDeviceGetChipName(struct cupti_chip_name *p);

CUptiResult cuptiPmSamplingGetCounterAvailability(struct cupti_pm_availability *p);
CUptiResult cuptiPmSamplingEnable(struct cupti_pm_enable *p);
CUptiResult cuptiPmSamplingDisable(struct cupti_pm_handle *p);
CUptiResult cuptiPmSamplingSetConfig(struct cupti_pm_set_config *p);
CUptiResult cuptiPmSamplingStart(struct cupti_pm_handle *p);
CUptiResult cuptiPmSamplingStop(struct cupti_pm_handle *p);
CUptiResult cuptiPmSamplingGetCounterDataSize(struct cupti_pm_image_size *p);
CUptiResult cuptiPmSamplingCounterDataImageInitialize(struct cupti_pm_image_initialize *p);
CUptiResult cuptiPmSamplingDecodeData(struct cupti_pm_decode *p);
CUptiResult cuptiPmSamplingGetCounterDataInfo(struct cupti_pm_image_info *p);
CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(struct cupti_pm_sample_info *p);

CUptiResult cuptiProfilerHostInitialize(struct cupti_host_initialize *p);
CUptiResult cuptiProfilerHostDeinitialize(struct cupti_host_handle *p);
CUptiResult cuptiProfilerHostGetSupportedChips(struct cupti_host_supported_chips *p);
CUptiResult cuptiProfilerHostGetBaseMetrics(struct cupti_host_base_metrics *p);
CUptiResult cuptiProfilerHostGetSubMetrics(struct cupti_host_sub_metrics *p);
CUptiResult cuptiProfilerHostGetMetricProperties(struct cupti_host_metric_properties *p);
CUptiResult cuptiProfilerHostConfigAddMetrics(struct cupti_host_add_metrics *p);
CUptiResult cuptiProfilerHostGetConfigImageSize(struct cupti_host_config_size *p);
CUptiResult cuptiProfilerHostGetConfigImage(struct cupti_host_config *p);
CUptiResult cuptiProfilerHostGetNumOfPasses(struct cupti_host_passes *p);
CUptiResult cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(struct cupti_host_max_metrics *p);
CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct cupti_host_evaluate *p);
CUptiResult cuptiProfilerHostGetSinglePassSets(struct cupti_host_single_pass_sets *p);
CUptiResult cuptiProfilerHostGetMetricsInSinglePassSet(struct cupti_host_metrics_in_set *p);

#endif
