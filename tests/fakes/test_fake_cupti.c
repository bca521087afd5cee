/* SPDX-License-Identifier: MIT */
/* What other tests rely on: the fake CUPTI behaves as its README.md says. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/support.h"
#include "play.h"
#include "vendor/cuda_api.h"
#include "vendor/cupti_api.h"
#include "wave.h"

#define SM     "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
#define DRAM   "dram__throughput.avg.pct_of_peak_sustained_elapsed"
#define CLOCK  "gpc__cycles_elapsed.avg.per_second"
#define NVLINK "nvlrx__bytes.sum.per_second"

enum { MAX_SAMPLES = 4000, INTERVAL_NS = 1000000 };

static struct cuda_api cuda;
static struct cupti_api api;

/* One sampling of GPU 0, as a client would do it. */
static struct session {
    struct cupti_host_object *host;
    struct cupti_pm_object *pm;
    const char **names;
    size_t n;
    uint8_t *config, *image;
    size_t config_size, image_size;
    struct cupti_pm_decode decode; /* of the last decode */
    size_t count;                  /* samples in the image */
} s;

static void load(const char *script)
{
    play(script);
    struct cupti_profiler_initialize p = CUPTI_INIT(profiler_initialize);
    assert_int_equal(cuda_api_load(&cuda, FAKES_DIR "/cuda/libcuda.so.1", NULL), OK);
    assert_int_equal(cupti_api_load(&api, FAKES_DIR "/cupti", NULL), OK);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(api.cuptiProfilerInitialize(&p), CUPTI_SUCCESS);
}

static struct cupti_host_object *new_host(const char *chip, const uint8_t *availability)
{
    struct cupti_host_initialize p = CUPTI_INIT(host_initialize);
    p.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    p.pChipName = chip;
    p.pCounterAvailabilityImage = availability;
    assert_int_equal(api.cuptiProfilerHostInitialize(&p), CUPTI_SUCCESS);
    return p.pHostObject;
}

static void free_host(struct cupti_host_object *host)
{
    struct cupti_host_handle p = CUPTI_INIT(host_handle);
    p.pHostObject = host;
    assert_int_equal(api.cuptiProfilerHostDeinitialize(&p), CUPTI_SUCCESS);
}

static CUptiResult add(struct cupti_host_object *host, const char *name)
{
    struct cupti_host_add_metrics p = CUPTI_INIT(host_add_metrics);
    p.pHostObject = host;
    p.ppMetricNames = &name;
    p.numMetrics = 1;
    return api.cuptiProfilerHostConfigAddMetrics(&p);
}

/* The config image of what was added so far; malloc'ed. */
static uint8_t *config_of(struct cupti_host_object *host, size_t *size)
{
    struct cupti_host_config_size p = CUPTI_INIT(host_config_size);
    p.pHostObject = host;
    assert_int_equal(api.cuptiProfilerHostGetConfigImageSize(&p), CUPTI_SUCCESS);
    struct cupti_host_config q = CUPTI_INIT(host_config);
    q.pHostObject = host;
    q.configImageSize = *size = p.configImageSize;
    q.pConfigImage = malloc(p.configImageSize);
    assert_int_equal(api.cuptiProfilerHostGetConfigImage(&q), CUPTI_SUCCESS);
    return q.pConfigImage;
}

static size_t passes_of(struct cupti_host_object *host)
{
    struct cupti_host_passes p = CUPTI_INIT(host_passes);
    p.pConfigImage = config_of(host, &p.configImageSize);
    assert_int_equal(api.cuptiProfilerHostGetNumOfPasses(&p), CUPTI_SUCCESS);
    free(p.pConfigImage);
    return p.numOfPasses;
}

static CUptiResult enable(void)
{
    struct cupti_pm_enable p = CUPTI_INIT(pm_enable);
    CUptiResult rc = api.cuptiPmSamplingEnable(&p);
    if (rc == CUPTI_SUCCESS)
        s.pm = p.pPmSamplingObject;
    return rc;
}

static CUptiResult handle_call(CUptiResult (*f)(struct cupti_pm_handle *))
{
    struct cupti_pm_handle p = CUPTI_INIT(pm_handle);
    p.pPmSamplingObject = s.pm;
    return f(&p);
}

static CUptiResult set_config(size_t buffer, enum cupti_append append)
{
    struct cupti_pm_set_config p = CUPTI_INIT(pm_set_config);
    p.pPmSamplingObject = s.pm;
    p.pConfig = s.config;
    p.configSize = s.config_size;
    p.hardwareBufferSize = buffer;
    p.samplingInterval = INTERVAL_NS;
    p.triggerMode = CUPTI_TRIGGER_TIME;
    p.hwBufferAppendMode = append;
    return api.cuptiPmSamplingSetConfig(&p);
}

static CUptiResult initialize_image(void)
{
    struct cupti_pm_image_initialize p = CUPTI_INIT(pm_image_initialize);
    p.pPmSamplingObject = s.pm;
    p.counterDataSize = s.image_size;
    p.pCounterData = s.image;
    return api.cuptiPmSamplingCounterDataImageInitialize(&p);
}

static void make_image(uint32_t max)
{
    struct cupti_pm_image_size p = CUPTI_INIT(pm_image_size);
    p.pPmSamplingObject = s.pm;
    p.pMetricNames = s.names;
    p.numMetrics = s.n;
    p.maxSamples = max;
    assert_int_equal(api.cuptiPmSamplingGetCounterDataSize(&p), CUPTI_SUCCESS);
    s.image_size = p.counterDataSize;
    s.image = malloc(s.image_size);
    assert_int_equal(initialize_image(), CUPTI_SUCCESS);
}

/* Everything up to SetConfig, whose result it returns. */
static CUptiResult configure(const char *script, const char **names, size_t n, size_t buffer,
                             enum cupti_append append)
{
    load(script);
    s = (struct session){.names = names, .n = n, .host = new_host("GH100", NULL)};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(add(s.host, names[i]), CUPTI_SUCCESS);
    s.config = config_of(s.host, &s.config_size);
    assert_int_equal(enable(), CUPTI_SUCCESS);
    return set_config(buffer, append);
}

static void start(const char *script, const char **names, size_t n, size_t buffer, uint32_t max)
{
    assert_int_equal(configure(script, names, n, buffer, CUPTI_APPEND_KEEP_OLDEST), CUPTI_SUCCESS);
    make_image(max);
    assert_int_equal(handle_call(api.cuptiPmSamplingStart), CUPTI_SUCCESS);
}

static CUptiResult decode(void)
{
    s.decode = (struct cupti_pm_decode)CUPTI_INIT(pm_decode);
    s.decode.pPmSamplingObject = s.pm;
    s.decode.pCounterDataImage = s.image;
    s.decode.counterDataImageSize = s.image_size;
    CUptiResult rc = api.cuptiPmSamplingDecodeData(&s.decode);
    struct cupti_pm_image_info p = CUPTI_INIT(pm_image_info);
    p.pCounterDataImage = s.image;
    p.counterDataImageSize = s.image_size;
    assert_int_equal(api.cuptiPmSamplingGetCounterDataInfo(&p), CUPTI_SUCCESS);
    s.count = p.numCompletedSamples;
    return rc;
}

static void sample_times(size_t i, uint64_t *t0, uint64_t *t1)
{
    struct cupti_pm_sample_info p = CUPTI_INIT(pm_sample_info);
    p.pPmSamplingObject = s.pm;
    p.pCounterDataImage = s.image;
    p.counterDataImageSize = s.image_size;
    p.sampleIndex = i;
    assert_int_equal(api.cuptiPmSamplingCounterDataGetSampleInfo(&p), CUPTI_SUCCESS);
    *t0 = p.startTimestamp;
    *t1 = p.endTimestamp;
}

static CUptiResult evaluate(size_t i, const char *name, double *value)
{
    struct cupti_host_evaluate p = CUPTI_INIT(host_evaluate);
    p.pHostObject = s.host;
    p.pCounterDataImage = s.image;
    p.counterDataImageSize = s.image_size;
    p.rangeIndex = i;
    p.ppMetricNames = &name;
    p.numMetrics = 1;
    p.pMetricValues = value;
    return api.cuptiProfilerHostEvaluateToGpuValues(&p);
}

static double value_of(size_t i, const char *name)
{
    double x = NAN;
    assert_int_equal(evaluate(i, name, &x), CUPTI_SUCCESS);
    return x;
}

static int stop(void **state)
{
    (void)state;
    if (s.pm)
        handle_call(api.cuptiPmSamplingDisable);
    if (s.host)
        free_host(s.host);
    free(s.config);
    free(s.image);
    s = (struct session){0};
    cupti_api_unload(&api);
    cuda_api_unload(&cuda);
    return 0;
}

static int end(void **state)
{
    (void)state;
    play_end();
    return 0;
}

static const char *two[] = {SM, CLOCK};

static void test_samples(void **state)
{
    (void)state;
    static const char script[] = "setup = 0.5\npm.sm__cycles_active = ramp 0 100 0.05\n";
    struct timespec now;
    start(script, two, 2, 64 << 20, MAX_SAMPLES);
    usleep(50 * 1000);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(s.decode.decodeStopReason, CUPTI_DECODE_STOP_END_OF_RECORDS);
    assert_int_equal(s.decode.overflow, 0);
    assert_in_range(s.count, 38, MAX_SAMPLES - 1); /* 50 ms less the lag of 12, or more */
    uint64_t t0 = 0, t1 = 0, before = 0;
    sample_times(0, &t0, &before);
    assert_int_equal(before - t0, 500000000); /* the set-up time */
    assert_near(value_of(0, CLOCK), 0.198, 1e-9);
    struct wave ramp;
    assert_true(wave_parse(&ramp, "ramp 0 100 0.05"));
    for (size_t i = 1; i < s.count; i++) {
        sample_times(i, &t0, &t1);
        assert_int_equal(t0, before);
        assert_int_equal(t1, t0 + INTERVAL_NS);
        assert_near(value_of(i, SM), wave_mean(&ramp, (int64_t)t0, (int64_t)t1), 1e-9);
        assert_near(value_of(i, CLOCK), 1.98e9, 0);
        before = t1;
    }
    assert_in_range((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - t1, 12000000,
                    5000000000);
    assert_int_equal(handle_call(api.cuptiPmSamplingStop), CUPTI_SUCCESS);
    assert_int_equal(handle_call(api.cuptiPmSamplingStop), CUPTI_ERROR_INVALID_OPERATION);
}

/* The image belongs to the caller: it goes on filling until it is initialised again. */
static void test_image(void **state)
{
    (void)state;
    start("lag = 0\n", two, 2, 64 << 20, 5);
    usleep(20 * 1000);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.decode.decodeStopReason, CUPTI_DECODE_STOP_IMAGE_FULL);
    uint64_t t0 = 0, last = 0, first = 0;
    sample_times(4, &t0, &last);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    assert_int_equal(s.count, 5);
    assert_int_equal(initialize_image(), CUPTI_SUCCESS);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    assert_int_equal(s.count, 5);
    sample_times(0, &first, &t0);
    assert_int_equal(first, last); /* what did not fit came with the next decode */
    double x = 0;
    assert_int_equal(evaluate(0, DRAM, &x), CUPTI_ERROR_INVALID_PARAMETER); /* not configured */
    assert_int_equal(evaluate(5, SM, &x), CUPTI_ERROR_INVALID_PARAMETER);
    memset(s.image, 0, s.image_size);
    struct cupti_pm_decode p = s.decode;
    assert_int_equal(api.cuptiPmSamplingDecodeData(&p), CUPTI_ERROR_INVALID_PARAMETER);
}

static void test_overflow(void **state)
{
    (void)state;
    start("lag = 0\nsample_bytes = 1000\n", two, 2, 10 * 1000, 100); /* room for 10 samples */
    usleep(30 * 1000);
    assert_int_equal(decode(), CUPTI_ERROR_OUT_OF_MEMORY);
    assert_int_equal(s.decode.overflow, 1);
    assert_int_equal(s.count, 10);
    uint64_t t0 = 0, t1 = 0;
    sample_times(9, &t0, &t1);
    assert_int_equal(t1 - t0, INTERVAL_NS);
    usleep(5 * 1000);
    assert_int_equal(decode(), CUPTI_ERROR_OUT_OF_MEMORY); /* and no more data come */
    assert_int_equal(s.count, 10);
}

static void test_keep_latest(void **state)
{
    (void)state;
    assert_int_equal(
        configure("lag = 0\nsample_bytes = 1000\n", two, 2, 10 * 1000, CUPTI_APPEND_KEEP_LATEST),
        CUPTI_SUCCESS);
    make_image(100);
    assert_int_equal(handle_call(api.cuptiPmSamplingStart), CUPTI_SUCCESS);
    usleep(30 * 1000);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    assert_int_equal(s.decode.overflow, 0);
    assert_int_equal(s.count, 10);
    assert_near(value_of(0, CLOCK), 1.98e9, 0); /* the first sample is among the lost ones */
}

/* Tries to take the counters in another process; the code is its answer. */
static int compete(void)
{
    struct cupti_pm_availability p = CUPTI_INIT(pm_availability);
    if (configure("", two, 2, 1 << 20, CUPTI_APPEND_KEEP_OLDEST) != CUPTI_ERROR_HARDWARE_BUSY)
        return 1;
    return api.cuptiPmSamplingGetCounterAvailability(&p) == CUPTI_ERROR_HARDWARE_BUSY ? 0 : 2;
}

static void test_second_client(void **state)
{
    (void)state;
    int ready[2];
    char byte = 0;
    play("");
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        start("", two, 2, 1 << 20, 100);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(in_child(compete), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(configure("", two, 2, 1 << 20, CUPTI_APPEND_KEEP_OLDEST), CUPTI_SUCCESS);
    struct cupti_pm_availability p = CUPTI_INIT(pm_availability);
    assert_int_equal(api.cuptiPmSamplingGetCounterAvailability(&p), CUPTI_SUCCESS); /* its own */
    assert_int_equal(enable(), CUPTI_ERROR_INVALID_OPERATION);
    assert_int_equal(handle_call(api.cuptiPmSamplingDisable), CUPTI_SUCCESS);
    assert_int_equal(enable(), CUPTI_SUCCESS);
    close(ready[0]);
    close(ready[1]);
}

static void test_denied_busy_lost(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        CUptiResult enable, availability, config;
    } rows[] = {
        {"denied = yes\n", 0, 35, 35},
        {"busy = yes\n", 0, 26, 26},
        {"fail = cuptiPmSamplingSetConfig:35\n", 0, 0, 35},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUptiResult rc = configure(rows[i].script, two, 2, 1 << 20, CUPTI_APPEND_KEEP_OLDEST);
        assert_int_equal(rc, rows[i].config);
        struct cupti_pm_availability p = CUPTI_INIT(pm_availability);
        assert_int_equal(api.cuptiPmSamplingGetCounterAvailability(&p), rows[i].availability);
        stop(NULL);
    }
    char script[400];
    snprintf(script, sizeof script, "lost = file %s\n", play_path("gone"));
    start(script, two, 2, 1 << 20, 100);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    FILE *f = fopen(play_path("gone"), "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(decode(), CUPTI_ERROR_UNKNOWN);
    assert_int_equal(enable(), CUPTI_ERROR_UNKNOWN);
    unlink(play_path("gone"));
}

static void test_structure_sizes(void **state)
{
    (void)state;
    load("");
    struct cupti_chip_name chip = CUPTI_INIT(chip_name);
    assert_int_equal(api.cuptiDeviceGetChipName(&chip), CUPTI_SUCCESS);
    assert_string_equal(chip.pChipName, "GH100");
    chip.structSize++;
    assert_int_equal(api.cuptiDeviceGetChipName(&chip), CUPTI_ERROR_INVALID_PARAMETER);
    struct cupti_device_supported d = CUPTI_INIT(device_supported);
    d.structSize = sizeof d; /* the mistake that the interface invites */
    assert_int_equal(api.cuptiProfilerDeviceSupported(&d), CUPTI_ERROR_INVALID_PARAMETER);
    d.structSize = 52;
    assert_int_equal(api.cuptiProfilerDeviceSupported(&d), CUPTI_SUCCESS);
    assert_int_equal(d.isSupported, CUPTI_SUPPORT_SUPPORTED);
    d.pPriv = &d;
    assert_int_equal(api.cuptiProfilerDeviceSupported(&d), CUPTI_ERROR_INVALID_PARAMETER);
    struct cupti_pm_enable e = CUPTI_INIT(pm_enable);
    e.deviceIndex = 1;
    assert_int_equal(api.cuptiPmSamplingEnable(&e), CUPTI_ERROR_INVALID_DEVICE);
}

static void test_metrics(void **state)
{
    (void)state;
    load("group.sm__warps_active_realtime = q\ngroup.sm__inst_executed_realtime = q\n");
    struct cupti_pm_availability p = CUPTI_INIT(pm_availability);
    uint8_t image[9184];
    assert_int_equal(api.cuptiPmSamplingGetCounterAvailability(&p), CUPTI_SUCCESS);
    assert_int_equal(p.counterAvailabilityImageSize, sizeof image);
    p.pCounterAvailabilityImage = image;
    assert_int_equal(api.cuptiPmSamplingGetCounterAvailability(&p), CUPTI_SUCCESS);

    static const struct {
        const char *name;
        CUptiResult rc;
        size_t passes; /* of the set so far */
    } rows[] = {
        {SM, 0, 1},
        {"sm__cycles_active", 1, 1},
        {"sm__cycles_active.mean", 1, 1},
        {"no__such_metric.avg", 1, 1},
        {NVLINK, 999, 1},
        {DRAM, 0, 1},
        {"sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed", 0, 1},
        {"sm__inst_executed_realtime.avg.per_cycle_elapsed", 0, 2}, /* same group */
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 0, 19},
    };
    struct cupti_host_object *host = new_host("GH100", image);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(add(host, rows[i].name), rows[i].rc);
        assert_int_equal(passes_of(host), rows[i].passes);
    }
    free_host(host);
    host = new_host("GH100", NULL);
    assert_int_equal(add(host, NVLINK), CUPTI_SUCCESS); /* nobody told it that there are no links */
    free_host(host);
    struct cupti_host_initialize bad = CUPTI_INIT(host_initialize);
    bad.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    bad.pChipName = "gh100";
    assert_int_equal(api.cuptiProfilerHostInitialize(&bad), CUPTI_ERROR_INVALID_CHIP_NAME);
}

static void test_refused_configs(void **state)
{
    (void)state;
    static const char *many[] = {"sm__throughput.avg.pct_of_peak_sustained_elapsed"};
    assert_int_equal(configure("", many, 1, 1 << 20, CUPTI_APPEND_KEEP_OLDEST),
                     CUPTI_ERROR_NOT_SUPPORTED);
    stop(NULL);
    assert_int_equal(configure("chip = TU102\n", two, 2, 1 << 20, CUPTI_APPEND_KEEP_OLDEST),
                     CUPTI_ERROR_NOT_SUPPORTED); /* no time trigger */
    assert_int_equal(handle_call(api.cuptiPmSamplingStart), CUPTI_ERROR_INVALID_OPERATION);
}

static int change_config(void)
{
    fclose(stderr); /* the message is meant for people */
    start("", two, 2, 1 << 20, 100);
    memset(s.config + s.config_size / 2, 0xA5, 16);
    decode();
    return 0;
}

static int ask_chip_without_driver(void)
{
    struct cupti_chip_name p = CUPTI_INIT(chip_name);
    play("");
    assert_int_equal(cupti_api_load(&api, FAKES_DIR "/cupti", NULL), OK);
    return api.cuptiDeviceGetChipName(&p);
}

static int sample_with_hang(void)
{
    start("hang = cuptiPmSamplingDecodeData:2\n", two, 2, 1 << 20, 100);
    decode();
    decode();
    return 0;
}

static int sample_with_crash(void)
{
    start("crash = cuptiPmSamplingDecodeData:2\n", two, 2, 1 << 20, 100);
    decode();
    decode();
    return 0;
}

static void test_what_kills(void **state)
{
    (void)state;
    static const struct {
        int (*f)(void);
        int signal;
    } rows[] = {
        {change_config, SIGABRT},
        {ask_chip_without_driver, SIGSEGV},
        {sample_with_hang, SIGALRM},
        {sample_with_crash, SIGSEGV},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int status = in_child(rows[i].f);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), rows[i].signal);
    }
}

static void test_no_driver(void **state)
{
    (void)state;
    play("");
    struct cupti_profiler_initialize p = CUPTI_INIT(profiler_initialize);
    assert_int_equal(cupti_api_load(&api, FAKES_DIR "/cupti", NULL), OK);
    assert_int_equal(api.cuptiProfilerInitialize(&p), CUPTI_ERROR_UNKNOWN);
    assert_int_equal(enable(), CUPTI_ERROR_INVALID_PARAMETER);
    assert_int_equal(cuda_api_load(&cuda, FAKES_DIR "/cuda/libcuda.so.1", NULL), OK);
    assert_int_equal(api.cuptiProfilerInitialize(&p), CUPTI_ERROR_NOT_INITIALIZED); /* no cuInit */
}

static void test_lists(void **state)
{
    (void)state;
    load("pm.extra__metric = 5\n");
    struct cupti_host_object *host = new_host("GH100", NULL);
    struct cupti_host_base_metrics p = CUPTI_INIT(host_base_metrics);
    p.pHostObject = host;
    p.metricType = CUPTI_METRIC_COUNTER;
    assert_int_equal(api.cuptiProfilerHostGetBaseMetrics(&p), CUPTI_SUCCESS);
    bool extra = false, whole = false;
    for (size_t i = 0; i < p.numMetrics; i++) {
        extra = extra || strcmp(p.ppMetricNames[i], "extra__metric") == 0;
        whole = whole || strstr(p.ppMetricNames[i], ".per_second");
    }
    assert_true(extra);
    assert_false(whole);
    struct cupti_host_supported_chips c = CUPTI_INIT(host_supported_chips);
    assert_int_equal(api.cuptiProfilerHostGetSupportedChips(&c), CUPTI_SUCCESS);
    assert_in_range(c.numChips, 20, 100);
    free_host(host);
}

static void test_newest_sample_corrupt(void **state)
{
    (void)state;
    start("lag = 0\ncorrupt_newest = yes\n", two, 2, 64 << 20, MAX_SAMPLES);
    usleep(10 * 1000);
    assert_int_equal(decode(), CUPTI_SUCCESS);
    assert_in_range(s.count, 5, MAX_SAMPLES - 1);
    assert_near(value_of(s.count - 2, SM), 86, 0);
    assert_near(value_of(s.count - 1, SM), 86 * 0.03, 1e-9);
    assert_near(value_of(s.count - 1, CLOCK), 1.98e9, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_samples, stop),
        cmocka_unit_test_teardown(test_image, stop),
        cmocka_unit_test_teardown(test_overflow, stop),
        cmocka_unit_test_teardown(test_keep_latest, stop),
        cmocka_unit_test_teardown(test_second_client, stop),
        cmocka_unit_test_teardown(test_denied_busy_lost, stop),
        cmocka_unit_test_teardown(test_structure_sizes, stop),
        cmocka_unit_test_teardown(test_metrics, stop),
        cmocka_unit_test_teardown(test_refused_configs, stop),
        cmocka_unit_test(test_what_kills),
        cmocka_unit_test_teardown(test_no_driver, stop),
        cmocka_unit_test_teardown(test_lists, stop),
        cmocka_unit_test_teardown(test_newest_sample_corrupt, stop),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
