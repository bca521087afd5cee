/* SPDX-License-Identifier: MIT */
#include "source/pm/session.h"

#include <stdlib.h>
#include <string.h>

/* Host memory for records. A busy H200 writes up to 9 MB/s with the core set at 50 Hz, 13 MB/s at
 * 1 kHz by the library's estimate, and 200 to 290 MB/s with the costly counters (measured). */
enum { BUFFER_SLOW = 32 << 20, BUFFER_FAST = 128 << 20, BUFFER_HEAVY = 256 << 20 };

/* The image is emptied when three quarters are full: a copy of 26 KiB for each sample that it has
 * room for, so not after each decode. The rest is room for a decode that comes late; what does not
 * fit comes with the next one. */
enum { DECODES_KEPT = 4 };

/* Where counters can come late, two samples are lost each time the image is emptied: make it rare.
 */
enum { LATE_SAMPLES = 1000 };

/* The cycle trigger counts SYS clock cycles; their rate is not known beforehand. Samples carry
 * their own times, so a wrong guess costs evenness only. */
static const double sys_clock_guess_hz = 1.2e9;

static bool needs_cycle_trigger(const char *chip)
{
    return strncmp(chip, "TU1", 3) == 0 || strcmp(chip, "GA100") == 0;
}

static enum status make_host(struct pm_session *s, const char *chip, const uint8_t *availability,
                             struct error *err)
{
    struct cupti_host_initialize init = CUPTI_INIT(host_initialize);
    init.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    init.pChipName = chip;
    init.pCounterAvailabilityImage = availability;
    CUptiResult rc = s->cupti->cuptiProfilerHostInitialize(&init);
    if (rc)
        return cupti_fail(err, "cuptiProfilerHostInitialize", rc);
    s->host = init.pHostObject;
    struct cupti_host_add_metrics add = CUPTI_INIT(host_add_metrics);
    add.pHostObject = s->host;
    add.ppMetricNames = (const char **)s->pack->names;
    add.numMetrics = s->pack->n_names;
    rc = s->cupti->cuptiProfilerHostConfigAddMetrics(&add);
    return rc ? cupti_fail(err, "cuptiProfilerHostConfigAddMetrics", rc) : OK;
}

static enum status configure(struct pm_session *s, const char *chip, double rate_hz,
                             struct error *err)
{
    struct cupti_pm_enable enable = CUPTI_INIT(pm_enable);
    enable.deviceIndex = s->device;
    CUptiResult rc = s->cupti->cuptiPmSamplingEnable(&enable);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingEnable", rc);
    s->object = enable.pPmSamplingObject;
    bool cycles = needs_cycle_trigger(chip);
    s->interval = (uint64_t)((cycles ? sys_clock_guess_hz : 1e9) / rate_hz + 0.5);
    struct cupti_pm_set_config config = CUPTI_INIT(pm_set_config);
    config.pPmSamplingObject = s->object;
    config.configSize = s->pack->config_size;
    config.pConfig = s->pack->config;
    config.hardwareBufferSize = s->pack->heavy  ? BUFFER_HEAVY
                                : rate_hz > 200 ? BUFFER_FAST
                                                : BUFFER_SLOW;
    config.samplingInterval = s->interval;
    config.triggerMode = cycles ? CUPTI_TRIGGER_SYSCLK : CUPTI_TRIGGER_TIME;
    config.hwBufferAppendMode = CUPTI_APPEND_KEEP_OLDEST;
    rc = s->cupti->cuptiPmSamplingSetConfig(&config);
    return rc ? cupti_fail(err, "cuptiPmSamplingSetConfig", rc) : OK;
}

static enum status make_image(struct pm_session *s, struct error *err)
{
    struct cupti_pm_image_size size = CUPTI_INIT(pm_image_size);
    size.pPmSamplingObject = s->object;
    size.pMetricNames = (const char **)s->pack->names;
    size.numMetrics = s->pack->n_names;
    size.maxSamples = s->capacity;
    CUptiResult rc = s->cupti->cuptiPmSamplingGetCounterDataSize(&size);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingGetCounterDataSize", rc);
    s->image_size = size.counterDataSize;
    s->image = malloc(s->image_size);
    s->pristine = malloc(s->image_size);
    s->row = calloc(s->pack->n_names, sizeof *s->row);
    if (!s->image || !s->pristine || !s->row)
        return fail(err, ERR_NOMEM, 0, "no %zu MB for %u samples", 2 * s->image_size / 1000000,
                    s->capacity);
    struct cupti_pm_image_initialize init = CUPTI_INIT(pm_image_initialize);
    init.pPmSamplingObject = s->object;
    init.counterDataSize = s->image_size;
    init.pCounterData = s->pristine;
    rc = s->cupti->cuptiPmSamplingCounterDataImageInitialize(&init);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingCounterDataImageInitialize", rc);
    memcpy(s->image, s->pristine, s->image_size);
    return OK;
}

static enum status begin(struct pm_session *s, struct error *err)
{
    struct cupti_pm_handle start = CUPTI_INIT(pm_handle);
    start.pPmSamplingObject = s->object;
    CUptiResult rc = s->cupti->cuptiPmSamplingStart(&start);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingStart", rc);
    s->started = s->skip_first = true;
    return OK;
}

enum status pm_session_start(struct pm_session *s, const struct cupti_api *cupti,
                             const struct pm_pack *pack, size_t device, const char *chip,
                             const uint8_t *availability, double rate_hz,
                             uint32_t samples_per_decode, struct error *err)
{
    *s = (struct pm_session){.cupti = cupti, .pack = pack, .device = device};
    s->capacity = DECODES_KEPT * samples_per_decode + (pack->late ? LATE_SAMPLES : 8);
    enum status st = make_host(s, chip, availability, err);
    if (!st)
        st = configure(s, chip, rate_hz, err);
    if (!st)
        st = make_image(s, err);
    if (!st)
        st = begin(s, err);
    if (st)
        pm_session_stop(s);
    return st;
}

static enum status read_sample(struct pm_session *s, size_t index, struct pm_sample *out,
                               struct error *err)
{
    struct cupti_pm_sample_info info = CUPTI_INIT(pm_sample_info);
    info.pPmSamplingObject = s->object;
    info.pCounterDataImage = s->image;
    info.counterDataImageSize = s->image_size;
    info.sampleIndex = index;
    CUptiResult rc = s->cupti->cuptiPmSamplingCounterDataGetSampleInfo(&info);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingCounterDataGetSampleInfo", rc);
    out->t0_ns = (int64_t)info.startTimestamp;
    out->t1_ns = (int64_t)info.endTimestamp;
    struct cupti_host_evaluate eval = CUPTI_INIT(host_evaluate);
    eval.pHostObject = s->host;
    eval.pCounterDataImage = s->image;
    eval.counterDataImageSize = s->image_size;
    eval.rangeIndex = index;
    eval.ppMetricNames = (const char **)s->pack->names;
    eval.numMetrics = s->pack->n_names;
    eval.pMetricValues = s->row;
    rc = s->cupti->cuptiProfilerHostEvaluateToGpuValues(&eval);
    if (rc)
        return cupti_fail(err, "cuptiProfilerHostEvaluateToGpuValues", rc);
    out->values = s->row;
    return OK;
}

/* Neighbours' stamps differ by some nanoseconds of clock conversion (seen on an H200): closer than
 * a hundredth of their length they touch. A stamp from another clock, or a sample of no length, has
 * been seen by others, and is never passed on. */
static bool put_in_order(const struct pm_session *s, struct pm_sample *sample)
{
    int64_t step_ns = sample->t0_ns - s->last_end_ns, length_ns = sample->t1_ns - sample->t0_ns;
    if (length_ns <= 0)
        return false;
    if (s->last_end_ns == 0)
        return true;
    if (step_ns > -length_ns / 100 && step_ns < length_ns / 100)
        sample->t0_ns = s->last_end_ns;
    return sample->t0_ns >= s->last_end_ns;
}

static enum status give_one(struct pm_session *s, size_t index, const struct pm_sample_sink *sink,
                            struct error *err)
{
    struct pm_sample sample;
    enum status st = read_sample(s, index, &sample, err);
    if (st)
        return st;
    bool drop = s->skip_first || !put_in_order(s, &sample);
    s->skip_first = false;
    if (drop)
        return OK;
    s->last_end_ns = sample.t1_ns;
    s->length_ns = sample.t1_ns - sample.t0_ns;
    return sink->take(sink->self, &sample, err);
}

/* Copying is several times faster than CUPTI's own initialisation. What was held back is lost, and
 * its late counters would come as a sample of their own: that one is dropped, too. */
static void empty_image(struct pm_session *s)
{
    memcpy(s->image, s->pristine, s->image_size);
    s->next = 0;
    s->skip_first |= s->pack->late;
}

static enum status give_out(struct pm_session *s, const struct pm_sample_sink *sink, size_t *given,
                            struct error *err)
{
    struct cupti_pm_image_info info = CUPTI_INIT(pm_image_info);
    info.pCounterDataImage = s->image;
    info.counterDataImageSize = s->image_size;
    CUptiResult rc = s->cupti->cuptiPmSamplingGetCounterDataInfo(&info);
    if (rc)
        return cupti_fail(err, "cuptiPmSamplingGetCounterDataInfo", rc);
    size_t held = s->pack->late ? 1 : 0, completed = info.numCompletedSamples;
    enum status st = OK;
    for (*given = 0; !st && s->next + held < completed; s->next++, ++*given)
        st = give_one(s, s->next, sink, err);
    if (!st && completed > s->capacity * 3 / 4)
        empty_image(s);
    return st;
}

enum status pm_session_decode(struct pm_session *s, const struct pm_sample_sink *sink,
                              bool *overflow, struct error *err)
{
    *overflow = false;
    /* on a machine that cannot keep up there is always more: what is here must be passed on */
    for (int fills = 0; fills < PM_FILLS_MAX; fills++) {
        struct cupti_pm_decode decode = CUPTI_INIT(pm_decode);
        decode.pPmSamplingObject = s->object;
        decode.pCounterDataImage = s->image;
        decode.counterDataImageSize = s->image_size;
        CUptiResult rc = s->cupti->cuptiPmSamplingDecodeData(&decode);
        *overflow = rc == CUPTI_ERROR_OUT_OF_MEMORY || decode.overflow;
        if (rc && !*overflow)
            return cupti_fail(err, "cuptiPmSamplingDecodeData", rc);
        size_t given = 0;
        enum status st = give_out(s, sink, &given, err);
        if (st)
            return st;
        if (*overflow || given == 0 || decode.decodeStopReason != CUPTI_DECODE_STOP_IMAGE_FULL)
            return OK;
    }
    return OK;
}

void pm_session_stop(struct pm_session *s)
{
    if (s->object) {
        struct cupti_pm_handle handle = CUPTI_INIT(pm_handle);
        handle.pPmSamplingObject = s->object;
        if (s->started)
            s->cupti->cuptiPmSamplingStop(&handle);
        s->cupti->cuptiPmSamplingDisable(&handle);
    }
    if (s->host) {
        struct cupti_host_handle handle = CUPTI_INIT(host_handle);
        handle.pHostObject = s->host;
        s->cupti->cuptiProfilerHostDeinitialize(&handle);
    }
    free(s->image);
    free(s->pristine);
    free(s->row);
    *s = (struct pm_session){0};
}
