/* SPDX-License-Identifier: MIT */
/* Fake libcupti: PM sampling. Samples come into being in real time, by the interval, in a hardware
 * buffer that overflows when it is not decoded for too long. README.md says how it behaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cupti.h"

struct cupti_pm_object {
    struct gpu *gpu;
    const uint8_t *config; /* the caller's memory, as with the real one */
    struct config_head head;
    int64_t interval_ns;
    uint64_t capacity; /* samples that fit the hardware buffer */
    bool keep_latest;

    char names[METRICS][NAME_SIZE]; /* of the counter data image */
    unsigned n, max;

    bool started, running;
    int64_t start_ns, stop_ns;
    uint64_t decoded; /* samples that left the hardware buffer */
    bool overflowed;
    uint64_t kept_end; /* the first sample that the overflow lost */
};

static struct cupti_pm_object *objects[SCRIPT_GPUS];

/* CUPTI goes on reading the config image: a client that freed or rewrote it hangs or crashes the
 * real one. Here it is told. */
static void check_config(const struct cupti_pm_object *pm)
{
    struct config_head head;
    if (!pm->config ||
        (config_read(pm->config, pm->head.bytes, &head) && head.checksum == pm->head.checksum))
        return;
    fprintf(stderr, "fake libcupti: the config image was freed or changed before Disable\n");
    abort();
}

static CUptiResult begin(const char *function, const void *params, size_t size,
                         struct cupti_pm_object *pm)
{
    CUptiResult rc = cupti_begin(function, params, size);
    if (rc)
        return rc;
    bool alive = false;
    for (unsigned i = 0; i < SCRIPT_GPUS; i++)
        alive = alive || (pm && objects[i] == pm);
    if (!alive)
        return CUPTI_ERROR_INVALID_PARAMETER;
    return script_holds(pm->gpu, "lost") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(struct cupti_pm_enable *p)
{
    struct gpu *gpu = NULL;
    CUptiResult rc =
        cupti_begin_gpu(__func__, p, CUPTI_SIZE_pm_enable, p ? p->deviceIndex : 0, &gpu);
    if (rc)
        return rc;
    if (objects[gpu->index])
        return CUPTI_ERROR_INVALID_OPERATION;
    struct cupti_pm_object *pm = calloc(1, sizeof *pm);
    if (!pm)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    pm->gpu = gpu;
    objects[gpu->index] = pm;
    p->pPmSamplingObject = pm;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(struct cupti_pm_handle *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_handle, pm);
    if (rc && rc != CUPTI_ERROR_UNKNOWN)
        return rc;
    check_config(pm);
    objects[pm->gpu->index] = NULL;
    hold_release(pm->gpu);
    free(pm);
    return rc;
}

/* Turing and GA100 sample by the SYS clock only; Turing cannot overwrite old records either. */
static bool chip_lacks(const struct gpu *gpu, const struct cupti_pm_set_config *p)
{
    const char *chip = script_text(gpu, "chip", "");
    bool turing = strncmp(chip, "TU", 2) == 0, ga100 = strcmp(chip, "GA100") == 0;
    bool volta = strncmp(chip, "GV", 2) == 0;
    return volta || (p->triggerMode == CUPTI_TRIGGER_TIME && (turing || ga100)) ||
           (p->hwBufferAppendMode == CUPTI_APPEND_KEEP_LATEST && turing);
}

CUptiResult cuptiPmSamplingSetConfig(struct cupti_pm_set_config *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_set_config, pm);
    if (rc)
        return rc;
    struct config_head head;
    if (pm->running)
        return CUPTI_ERROR_INVALID_OPERATION;
    if (!config_read(p->pConfig, p->configSize, &head) || head.n == 0 ||
        p->hardwareBufferSize == 0 || p->samplingInterval == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (script_holds(pm->gpu, "denied"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    if (head.passes != 1 || chip_lacks(pm->gpu, p))
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (!hold_take(pm->gpu))
        return CUPTI_ERROR_HARDWARE_BUSY;
    double sample_bytes = script_number(pm->gpu, "sample_bytes", 1024);
    pm->config = p->pConfig;
    pm->head = head;
    pm->interval_ns =
        (int64_t)p->samplingInterval; /* a SYS clock of 1 GHz, where cycles are meant */
    pm->capacity = (uint64_t)((double)p->hardwareBufferSize / sample_bytes);
    pm->keep_latest = p->hwBufferAppendMode == CUPTI_APPEND_KEEP_LATEST;
    pm->started = false;
    return CUPTI_SUCCESS;
}

static bool is_configured(const struct cupti_pm_object *pm, const char *name)
{
    for (unsigned i = 0; pm->config && i < pm->head.n; i++)
        if (strcmp(config_name(pm->config, i), name) == 0)
            return true;
    return false;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(struct cupti_pm_image_size *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_image_size, pm);
    if (rc)
        return rc;
    if (!p->pMetricNames || p->numMetrics == 0 || p->numMetrics > METRICS || p->maxSamples == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < p->numMetrics; i++)
        if (!is_configured(pm, p->pMetricNames[i]))
            return CUPTI_ERROR_INVALID_PARAMETER;
    memset(pm->names, 0, sizeof pm->names);
    for (size_t i = 0; i < p->numMetrics; i++)
        strncpy(pm->names[i], p->pMetricNames[i], NAME_SIZE - 1);
    pm->n = (unsigned)p->numMetrics;
    pm->max = p->maxSamples;
    p->counterDataSize = counter_size(pm->n, pm->max);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(struct cupti_pm_image_initialize *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_image_initialize, pm);
    if (rc)
        return rc;
    if (pm->n == 0 || !p->pCounterData || p->counterDataSize != counter_size(pm->n, pm->max))
        return CUPTI_ERROR_INVALID_PARAMETER;
    counter_initialize(p->pCounterData, pm->names, pm->n, pm->max);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(struct cupti_pm_handle *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_handle, pm);
    if (rc)
        return rc;
    if (!pm->config || pm->running)
        return CUPTI_ERROR_INVALID_OPERATION;
    check_config(pm);
    pm->started = pm->running = true;
    pm->start_ns = script_now_ns();
    pm->decoded = 0;
    pm->overflowed = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(struct cupti_pm_handle *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_handle, pm);
    if (rc)
        return rc;
    if (!pm->running)
        return CUPTI_ERROR_INVALID_OPERATION;
    check_config(pm);
    pm->running = false;
    pm->stop_ns = script_now_ns();
    return CUPTI_SUCCESS;
}

/* Samples that had ended by a time: the first one, of the set-up time, ends at the start. */
static uint64_t samples_until(const struct cupti_pm_object *pm, int64_t t_ns)
{
    return t_ns < pm->start_ns ? 0 : 1 + (uint64_t)((t_ns - pm->start_ns) / pm->interval_ns);
}

/* The samples that a decode may give out, first to end, after what the buffer has lost. */
static uint64_t available(struct cupti_pm_object *pm)
{
    int64_t now = pm->running ? script_now_ns() : pm->stop_ns;
    int64_t lag = (int64_t)(script_number(pm->gpu, "lag", 0) * 1e9);
    uint64_t recorded = samples_until(pm, now);
    uint64_t end = samples_until(pm, pm->running ? now - lag : now);
    if (recorded > pm->decoded + pm->capacity && pm->keep_latest) {
        pm->decoded = recorded - pm->capacity;
        end = pm->running ? end : pm->decoded; /* a wrapped buffer decodes only while running */
    } else if (recorded > pm->decoded + pm->capacity && !pm->overflowed) {
        pm->kept_end = pm->decoded + pm->capacity;
        pm->overflowed = true;
    }
    return pm->overflowed && end > pm->kept_end ? pm->kept_end : end;
}

/* Counters that come late (seen on an H200) lack in the newest sample, and in the first one of an
 * emptied image. */
enum lack { LACK_NOTHING, LACK_NEWEST, LACK_FIRST };

static struct sample make_sample(const struct cupti_pm_object *pm, uint64_t i, enum lack lack)
{
    int64_t t1 = pm->start_ns + (int64_t)i * pm->interval_ns, t0 = t1 - pm->interval_ns;
    if (i == 0) /* covers the set-up time, with nonsense for rates */
        t0 = t1 - (int64_t)(script_number(pm->gpu, "setup", 0) * 1e9);
    struct sample s = {.t0_ns = (uint64_t)t0, .t1_ns = (uint64_t)t1};
    for (unsigned k = 0; k < pm->n; k++) {
        const char *base = strstr(pm->names[k], "sm__");
        bool corrupt = base && ((lack == LACK_NEWEST && script_holds(pm->gpu, "corrupt_newest")) ||
                                (lack == LACK_FIRST && script_holds(pm->gpu, "corrupt_first")));
        double factor = i == 0 ? 1e-10 : corrupt ? 0.03 : 1;
        s.values[k] = factor * wave_mean(&metric_find(pm->gpu, pm->names[k])->wave, t0, t1);
    }
    return s;
}

CUptiResult cuptiPmSamplingDecodeData(struct cupti_pm_decode *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_decode, pm);
    if (rc)
        return rc;
    struct counter_head head;
    if (!pm->started)
        return CUPTI_ERROR_INVALID_OPERATION;
    check_config(pm);
    if (!counter_read(p->pCounterDataImage, p->counterDataImageSize, &head) || head.n != pm->n)
        return CUPTI_ERROR_INVALID_PARAMETER;
    uint64_t end = available(pm);
    p->decodeStopReason = CUPTI_DECODE_STOP_END_OF_RECORDS;
    bool emptied = head.count == 0 && pm->decoded > 0;
    for (; pm->decoded < end; pm->decoded++, emptied = false) {
        enum lack lack = emptied ? LACK_FIRST : pm->decoded + 1 == end ? LACK_NEWEST : LACK_NOTHING;
        struct sample s = make_sample(pm, pm->decoded, lack);
        if (!counter_append(p->pCounterDataImage, &s)) {
            p->decodeStopReason = CUPTI_DECODE_STOP_IMAGE_FULL;
            break;
        }
    }
    if (strcmp(script_text(pm->gpu, "image_full", "keep"), "lose") == 0 && pm->decoded < end)
        pm->decoded = end;
    if (script_find(pm->gpu, "stop_reason"))
        p->decodeStopReason = (enum cupti_decode_stop)script_number(pm->gpu, "stop_reason", 0);
    p->overflow = pm->overflowed;
    return p->overflow ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(struct cupti_pm_image_info *p)
{
    CUptiResult rc = cupti_begin(__func__, p, CUPTI_SIZE_pm_image_info);
    if (rc)
        return rc;
    struct counter_head head;
    if (!counter_read(p->pCounterDataImage, p->counterDataImageSize, &head))
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->numTotalSamples = head.max;
    p->numPopulatedSamples = p->numCompletedSamples = head.count;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(struct cupti_pm_sample_info *p)
{
    struct cupti_pm_object *pm = p ? p->pPmSamplingObject : NULL;
    CUptiResult rc = begin(__func__, p, CUPTI_SIZE_pm_sample_info, pm);
    if (rc)
        return rc;
    struct counter_head head;
    struct sample sample;
    if (!counter_read(p->pCounterDataImage, p->counterDataImageSize, &head) ||
        !counter_get(p->pCounterDataImage, p->sampleIndex, &sample))
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->startTimestamp = sample.t0_ns;
    p->endTimestamp = sample.t1_ns;
    return CUPTI_SUCCESS;
}
