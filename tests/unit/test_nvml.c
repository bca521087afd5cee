/* SPDX-License-Identifier: MIT */
/* The source nvml on the fake library: every value and unit, what is missing, what fails and comes
 * back, sleeping GPUs, processes. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_script.h"
#include "metric/throttle.h"
#include "source/nvml/nvml.h"
#include "source/nvml/process_table.h"

#define LIBRARY     FAKES_DIR "/nvml/libnvidia-ml.so.1"
#define OLD_LIBRARY FAKES_DIR "/nvml_old/libnvidia-ml.so.1"

/* ---- what a source says -------------------------------------------------------------------- */

enum { GPUS = 2, STATES = 40, PROCESSES = 8 };

/* A state that a metric went through, in the order in which plans told it. */
struct step {
    enum value_state state;
    char reason[VALUE_REASON_SIZE];
    char counter[120];
};

struct seen {
    unsigned plans, samples;
    struct event_gpu gpu;
    char name[96], uuid[96], pci[32];
    double rate_hz;
    struct step first[METRIC_COUNT], last[METRIC_COUNT];
    enum value_state states[METRIC_COUNT][STATES]; /* every change */
    size_t n_states[METRIC_COUNT];
    double resolution[METRIC_COUNT];
    enum unit unit[METRIC_COUNT];
    enum metric order[METRIC_COUNT];
    size_t n_series;
    double value[METRIC_COUNT]; /* the last that is not NaN */
    unsigned numbers[METRIC_COUNT], nans[METRIC_COUNT];
    int64_t t0_ns, t1_ns, first_t0_ns;
    unsigned gaps, lists;
    struct event_process processes[PROCESSES];
    char process_names[PROCESSES][64];
    size_t n_processes;
};

static struct recorder {
    struct seen gpus[GPUS];
    unsigned beats, samples, all;
    char notes[1000];
    struct source_stop stop;
    volatile sig_atomic_t timed_out;
    unsigned stop_after;                     /* samples of all GPUs; 0 = never */
    void (*on_event)(const struct event *e); /* to change the world in mid-run */
    int64_t last_event_ns, longest_silence_ns;
} rec;

static void take_plan(const struct event_plan *p)
{
    struct seen *s = &rec.gpus[p->gpu];
    assert_int_equal(p->source, SOURCE_NVML);
    if (s->plans)
        assert_int_equal(p->n, s->n_series);
    s->n_series = p->n;
    s->rate_hz = p->rate_hz;
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_series *series = &p->series[i];
        int m = series->metric;
        struct step *step = &s->last[m];
        assert_string_equal(series->name, metric_info((enum metric)m)->key);
        assert_int_equal(series->state == VALUE_OK, series->reason[0] == '\0');
        s->order[i] = (enum metric)m;
        s->unit[m] = series->unit;
        s->resolution[m] = series->resolution;
        step->state = series->state;
        snprintf(step->reason, sizeof step->reason, "%s", series->reason);
        snprintf(step->counter, sizeof step->counter, "%s", series->counter);
        size_t *n = &s->n_states[m];
        if ((*n == 0 || s->states[m][*n - 1] != series->state) && *n < STATES)
            s->states[m][(*n)++] = series->state;
        if (!s->plans)
            s->first[m] = *step;
    }
    s->plans++;
}

static void take_samples(const struct event_samples *e)
{
    struct seen *s = &rec.gpus[e->gpu];
    assert_int_equal(e->source, SOURCE_NVML);
    assert_int_equal(e->n, 1);
    assert_true(s->plans > 0);
    assert_true(e->t0_ns[0] <= e->t1_ns[0]);
    if (s->samples == 0)
        s->first_t0_ns = e->t0_ns[0];
    else if (e->t0_ns[0] != s->t1_ns)
        s->gaps++;
    s->t0_ns = e->t0_ns[0];
    s->t1_ns = e->t1_ns[0];
    for (size_t c = 0; c < e->columns; c++) {
        assert_true(e->series[c] < s->n_series);
        enum metric m = s->order[e->series[c]];
        double v = e->values[c * e->stride];
        assert_int_equal(s->last[m].state, VALUE_OK);
        if (isnan(v)) {
            s->nans[m]++;
            continue;
        }
        s->value[m] = v;
        s->numbers[m]++;
    }
    s->samples++;
    if (++rec.samples == rec.stop_after)
        rec.stop.raised = 1;
}

static void take_processes(const struct event_processes *e)
{
    struct seen *s = &rec.gpus[e->gpu];
    s->lists++;
    s->n_processes = e->n;
    assert_true(e->n <= PROCESSES);
    for (size_t i = 0; i < e->n; i++) {
        s->processes[i] = e->list[i];
        snprintf(s->process_names[i], sizeof s->process_names[i], "%s", e->list[i].name);
    }
}

static void take_gpu(const struct event_gpu *e)
{
    struct seen *s = &rec.gpus[e->gpu];
    s->gpu = *e;
    assert_string_equal(e->chip, "");
    snprintf(s->name, sizeof s->name, "%s", e->name);
    snprintf(s->uuid, sizeof s->uuid, "%s", e->uuid);
    snprintf(s->pci, sizeof s->pci, "%s", e->pci_bus);
}

static enum status push(void *self, const struct event *e, struct error *err)
{
    (void)self, (void)err;
    int64_t now = clock_monotonic_ns();
    if (rec.all++ && now - rec.last_event_ns > rec.longest_silence_ns)
        rec.longest_silence_ns = now - rec.last_event_ns;
    rec.last_event_ns = now;
    if (e->kind == EVENT_GPU)
        take_gpu(&e->u.gpu);
    else if (e->kind == EVENT_PLAN)
        take_plan(&e->u.plan);
    else if (e->kind == EVENT_SAMPLES)
        take_samples(&e->u.samples);
    else if (e->kind == EVENT_PROCESSES)
        take_processes(&e->u.processes);
    else if (e->kind == EVENT_NOTE) {
        size_t used = strlen(rec.notes);
        snprintf(rec.notes + used, sizeof rec.notes - used, "%s\n", e->u.note.text);
    } else if (e->kind == EVENT_BEAT)
        rec.beats++;
    if (rec.on_event)
        rec.on_event(e);
    return OK;
}

static const struct event_sink sink = {push, NULL};

static void forget(void)
{
    rec = (struct recorder){0};
    for (size_t g = 0; g < GPUS; g++)
        for (int m = 0; m < METRIC_COUNT; m++)
            rec.gpus[g].value[m] = NAN;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static struct source_request request = {.rate_hz = 10};
static struct nvml_options options = {.library = LIBRARY, .slow_ns = 1};

static int reset(void **state)
{
    (void)state;
    forget();
    request = (struct source_request){.rate_hz = 10};
    options = (struct nvml_options){.library = LIBRARY, .root = folder, .slow_ns = 1};
    return 0;
}

/* Nothing waits for ever: a run that a test does not stop fails it. */
static void too_long(int signal)
{
    (void)signal;
    rec.timed_out = 1;
    rec.stop.raised = 1;
}

/* Opens, describes and runs until rec.stop_after samples; returns run's status. */
static enum status run(const char *script, struct error *err)
{
    struct source *s = NULL;
    struct error local = ERROR_INIT;
    play(script);
    assert_int_equal(nvml_open(&s, &request, &options, &local), OK);
    assert_int_equal(s->ops->describe(s, &sink, &local), OK);
    signal(SIGALRM, too_long);
    alarm(15);
    enum status st = s->ops->run(s, &sink, &rec.stop, err);
    alarm(0);
    s->ops->close(s);
    assert_false(rec.timed_out);
    return st;
}

static void run_well(const char *script, unsigned samples)
{
    struct error err = ERROR_INIT;
    rec.stop_after = samples;
    enum status st = run(script, &err);
    if (st)
        fail_msg("%s", err.text);
}

static enum status open_fails(struct error *err)
{
    struct source *s = NULL;
    *err = (struct error)ERROR_INIT;
    enum status st = nvml_open(&s, &request, &options, err);
    assert_int_not_equal(st, OK);
    assert_null(s);
    return st;
}

/* ---- values -------------------------------------------------------------------------------- */

static const struct {
    enum metric metric;
    double value; /* of the script below, in the catalogue's unit */
    double resolution;
} expected[] = {
    {METRIC_GPU_UTIL, 0.37, 0.01},    {METRIC_MEM_UTIL, 0.12, 0.01},
    {METRIC_MEM_USED, 7e9, 0},        {METRIC_MEM_TOTAL, 24e9, 0},
    {METRIC_POWER, 312.5, 0.001},     {METRIC_POWER_LIMIT, 450, 0.001},
    {METRIC_ENERGY, 1234.567, 0.001}, {METRIC_TEMPERATURE, 67, 1},
    {METRIC_MEM_TEMPERATURE, 88, 1},  {METRIC_CLOCK_SM, 1755e6, 1e6},
    {METRIC_CLOCK_MEM, 10501e6, 1e6}, {METRIC_THROTTLE, 0x24, 0},
    {METRIC_FAN, 0.45, 0.01},         {METRIC_PCIE_GEN, 4, 1},
    {METRIC_PCIE_WIDTH, 8, 1},        {METRIC_ECC_ERRORS, 3, 1},
};

static const char values_script[] = "nvmlDeviceGetUtilizationRates = 37\n"
                                    "nvmlDeviceGetUtilizationRates.memory = 12\n"
                                    "memory = 24000000000\n"
                                    "memory.used = 7000000000\n"
                                    "memory.reserved = 500000000\n"
                                    "field.186 = 312500\n"
                                    "nvmlDeviceGetPowerUsage = 200000\n"
                                    "nvmlDeviceGetEnforcedPowerLimit = 450000\n"
                                    "nvmlDeviceGetPowerManagementLimit = 999000\n"
                                    "nvmlDeviceGetTotalEnergyConsumption = 1234567\n"
                                    "nvmlDeviceGetTemperatureV = 67\n"
                                    "nvmlDeviceGetTemperature = 11\n"
                                    "field.82 = 88\n"
                                    "nvmlDeviceGetClockInfo = 9\n"
                                    "nvmlDeviceGetClockInfo.1 = 1755\n"
                                    "nvmlDeviceGetClockInfo.2 = 10501\n"
                                    "nvmlDeviceGetCurrentClocksEventReasons = 36\n"
                                    "nvmlDeviceGetCurrentClocksThrottleReasons = 1\n"
                                    "nvmlDeviceGetNumFans = 2\n"
                                    "nvmlDeviceGetFanSpeed_v2.0 = 40\n"
                                    "nvmlDeviceGetFanSpeed_v2.1 = 50\n"
                                    "nvmlDeviceGetCurrPcieLinkGeneration = 4\n"
                                    "nvmlDeviceGetMaxPcieLinkGeneration = 5\n"
                                    "nvmlDeviceGetCurrPcieLinkWidth = 8\n"
                                    "nvmlDeviceGetMaxPcieLinkWidth = 16\n"
                                    "nvmlDeviceGetTotalEccErrors = 99\n"
                                    "nvmlDeviceGetTotalEccErrors.1.0 = 3\n";

enum { EXPECTED = sizeof expected / sizeof expected[0] };

static void test_every_value(void **state)
{
    (void)state;
    run_well(values_script, 2);
    const struct seen *s = &rec.gpus[0];
    size_t covered = 0;
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (!nvml_ops.covers((enum metric)m))
            continue;
        assert_int_equal(s->order[covered++], m); /* in the order of the catalogue */
        assert_int_equal(metric_info((enum metric)m)->group, GROUP_DRIVER);
    }
    assert_int_equal(covered, EXPECTED);
    assert_int_equal(s->n_series, EXPECTED);
    assert_int_equal(s->plans, 1);
    for (size_t i = 0; i < EXPECTED; i++) {
        enum metric m = expected[i].metric;
        assert_int_equal(s->first[m].state, VALUE_OK);
        assert_int_equal(s->unit[m], metric_info(m)->unit);
        assert_near(s->value[m], expected[i].value, fabs(expected[i].value) * 1e-12);
        assert_near(s->resolution[m], expected[i].resolution, 0);
        assert_int_equal(s->numbers[m], 2);
        assert_true(s->first[m].counter[0] != '\0');
    }
    assert_contains(s->first[METRIC_MEM_USED].counter, "without what the driver reserves");
    assert_contains(s->first[METRIC_POWER].counter, "at the instant");
    assert_contains(rec.notes, "NVIDIA driver 580.159.03, NVML 13.580.159.03 (" LIBRARY ")");
}

static void test_identity(void **state)
{
    (void)state;
    run_well("[gpu]\nname = NVIDIA GeForce RTX 4090\n"
             "uuid = GPU-00112233-4455-6677-8899-aabbccddeeff\npci = 0000:00:06.0\n"
             "[gpu]\nname = B\npci = 10000:E1:00.0\n",
             2);
    assert_string_equal(rec.gpus[0].name, "NVIDIA GeForce RTX 4090");
    assert_string_equal(rec.gpus[0].uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    assert_string_equal(rec.gpus[0].pci, "0000:00:06.0");
    assert_string_equal(rec.gpus[1].name, "B");
    assert_string_equal(rec.gpus[1].pci, "10000:e1:00.0");
}

/* Without the newer calls the older ones serve, and the plan says what they count. */
static void test_old_driver(void **state)
{
    (void)state;
    options.library = OLD_LIBRARY;
    run_well(values_script, 1);
    const struct seen *s = &rec.gpus[0];
    assert_near(s->value[METRIC_MEM_USED], 7.5e9, 0);
    assert_contains(s->first[METRIC_MEM_USED].counter, "includes what the driver reserves");
    assert_near(s->value[METRIC_TEMPERATURE], 11, 0);
    assert_string_equal(s->first[METRIC_TEMPERATURE].counter, "nvmlDeviceGetTemperature");
    assert_near(s->value[METRIC_THROTTLE], 1, 0);
    assert_string_equal(s->first[METRIC_THROTTLE].counter,
                        "nvmlDeviceGetCurrentClocksThrottleReasons");
    for (size_t i = 0; i < EXPECTED; i++)
        assert_int_equal(s->first[expected[i].metric].state, VALUE_OK);
}

static void test_power_without_the_instant(void **state)
{
    (void)state;
    run_well("field.186 = error 3\nnvmlDeviceGetPowerUsage = 200000\n", 1);
    assert_near(rec.gpus[0].value[METRIC_POWER], 200, 0);
    assert_contains(rec.gpus[0].first[METRIC_POWER].counter, "nvmlDeviceGetPowerUsage: mean");
}

/* "No number" where a driver gives 0 or garbage for what it does not know. */
static void test_no_readings(void **state)
{
    (void)state;
    run_well("nvmlDeviceGetUtilizationRates = 101\n"
             "field.186 = 0\nnvmlDeviceGetPowerUsage = 0\nfield.82 = 0\n"
             "nvmlDeviceGetCurrPcieLinkWidth = 0\nnvmlDeviceGetEnforcedPowerLimit = 0\n",
             1);
    const struct seen *s = &rec.gpus[0];
    static const enum metric none[] = {METRIC_POWER, METRIC_MEM_TEMPERATURE, METRIC_PCIE_WIDTH,
                                       METRIC_POWER_LIMIT};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_int_equal(s->last[none[i]].state, VALUE_UNSUPPORTED);
        assert_string_equal(s->last[none[i]].reason, "the driver gives 0, which is no reading");
        assert_int_equal(s->numbers[none[i]], 0);
    }
    assert_int_equal(s->numbers[METRIC_GPU_UTIL], 0);
    assert_int_equal(s->nans[METRIC_GPU_UTIL], 1);
    assert_near(s->value[METRIC_MEM_UTIL], 0.83, 0);
}

static void test_no_fan(void **state)
{
    (void)state;
    run_well("", 1);
    assert_int_equal(rec.gpus[0].first[METRIC_FAN].state, VALUE_UNSUPPORTED);
    assert_string_equal(rec.gpus[0].first[METRIC_FAN].reason, "the board has no fan of its own");
}

/* ---- rates and times ----------------------------------------------------------------------- */

static void test_slow_and_quick(void **state)
{
    (void)state;
    request.rate_hz = 4;
    options.slow_ns = 900 * 1000 * 1000;
    run_well(values_script, 6); /* 0, 250 … 1250 ms: slow ones at 0 and 1000 */
    const struct seen *s = &rec.gpus[0];
    static const enum metric quick[] = {METRIC_GPU_UTIL, METRIC_MEM_UTIL, METRIC_POWER,
                                        METRIC_ENERGY, METRIC_THROTTLE};
    static const enum metric slow[] = {
        METRIC_TEMPERATURE, METRIC_MEM_TEMPERATURE, METRIC_FAN,      METRIC_PCIE_GEN,
        METRIC_PCIE_WIDTH,  METRIC_ECC_ERRORS,      METRIC_MEM_USED, METRIC_CLOCK_SM,
        METRIC_CLOCK_MEM,   METRIC_POWER_LIMIT};
    for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++)
        assert_int_equal(s->numbers[quick[i]], 6);
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        assert_int_equal(s->numbers[slow[i]], 2);
        assert_int_equal(s->nans[slow[i]], 4);
    }
    assert_int_equal(s->lists, 2);
    assert_int_equal(s->gaps, 0);
    assert_in_range(s->t1_ns - s->first_t0_ns, 1249000000, 1700000000);
    assert_in_range(s->t1_ns - s->t0_ns, 150000000, 500000000);
    assert_near(s->rate_hz, 4, 0);
    assert_near((double)s->t1_ns, (double)clock_unix_ns(), 1e9);
}

/* A short measurement has the energy of its own seconds, a long one costs less. */
static void test_costly_readings_become_seldom(void **state)
{
    (void)state;
    request.rate_hz = 10;
    options.slow_ns = 1000 * 1000 * 1000;
    options.early_ns = 450 * 1000 * 1000;
    run_well(values_script, 13); /* 0, 100 … 400 ms, and with the slow ones at 1000 */
    assert_int_equal(rec.gpus[0].numbers[METRIC_ENERGY], 6);
    assert_int_equal(rec.gpus[0].numbers[METRIC_POWER], 13);
    assert_int_equal(rec.gpus[0].numbers[METRIC_TEMPERATURE], 2);
}

static void test_default_rate(void **state)
{
    (void)state;
    request.rate_hz = 0;
    options.slow_ns = 0;
    run_well("", 6); /* at 0, 1 … 5 s; slow ones at 0 and 5 */
    assert_near(rec.gpus[0].rate_hz, 1, 0);
    assert_int_equal(rec.gpus[0].numbers[METRIC_POWER], 6);
    assert_int_equal(rec.gpus[0].numbers[METRIC_TEMPERATURE], 2);
    assert_int_equal(rec.gpus[0].lists, 2);
    assert_near((double)(rec.gpus[0].t1_ns - rec.gpus[0].first_t0_ns), 5e9, 1.5e8);
}

static void test_rate_has_limits(void **state)
{
    (void)state;
    request.rate_hz = 1e9;
    run_well("", 2);
    assert_near(rec.gpus[0].rate_hz, 10, 0);
    assert_contains(rec.notes, "10 times a second, not 1e+09: possible are 0.1 to 10");
}

static void stop_after_three_beats(const struct event *e)
{
    (void)e;
    if (rec.beats == 3)
        rec.stop.raised = 1;
}

/* Between two slow rounds it says that it lives. */
static void test_beats(void **state)
{
    (void)state;
    request.rate_hz = 0.001;
    rec.on_event = stop_after_three_beats;
    struct error err = ERROR_INIT;
    assert_int_equal(run("", &err), OK);
    assert_near(rec.gpus[0].rate_hz, 0.1, 0);
    assert_int_equal(rec.samples, 1);
    assert_true(rec.longest_silence_ns <= 1000000000);
    assert_true(rec.longest_silence_ns > 300000000);
}

/* ---- what fails ---------------------------------------------------------------------------- */

/* Each call, with the metrics that hang on it and no other call. */
static const struct call {
    const char *setting; /* "SETTING = error N" makes it fail; NULL = fail = FUNCTION:N */
    const char *function;
    int metrics[2];
} calls[] = {
    {"nvmlDeviceGetUtilizationRates",
     "nvmlDeviceGetUtilizationRates",
     {METRIC_GPU_UTIL, METRIC_MEM_UTIL}},
    {"nvmlDeviceGetEnforcedPowerLimit",
     "nvmlDeviceGetEnforcedPowerLimit",
     {METRIC_POWER_LIMIT, METRIC_NONE}},
    {"nvmlDeviceGetTotalEnergyConsumption",
     "nvmlDeviceGetTotalEnergyConsumption",
     {METRIC_ENERGY, METRIC_NONE}},
    {"field.82", NULL, {METRIC_MEM_TEMPERATURE, METRIC_NONE}},
    {"nvmlDeviceGetClockInfo.1", NULL, {METRIC_CLOCK_SM, METRIC_NONE}},
    {"nvmlDeviceGetClockInfo.2", NULL, {METRIC_CLOCK_MEM, METRIC_NONE}},
    {"nvmlDeviceGetNumFans", "nvmlDeviceGetNumFans", {METRIC_FAN, METRIC_NONE}},
    {"nvmlDeviceGetFanSpeed_v2.1", NULL, {METRIC_FAN, METRIC_NONE}},
    {"nvmlDeviceGetCurrPcieLinkGeneration",
     "nvmlDeviceGetCurrPcieLinkGeneration",
     {METRIC_PCIE_GEN, METRIC_NONE}},
    {"nvmlDeviceGetCurrPcieLinkWidth",
     "nvmlDeviceGetCurrPcieLinkWidth",
     {METRIC_PCIE_WIDTH, METRIC_NONE}},
    {"nvmlDeviceGetTotalEccErrors.1.0",
     "nvmlDeviceGetTotalEccErrors",
     {METRIC_ECC_ERRORS, METRIC_NONE}},
    /* with a second call to fall back on */
    {NULL, "nvmlDeviceGetMemoryInfo_v2", {METRIC_MEM_USED, METRIC_MEM_TOTAL}},
    {NULL, "nvmlDeviceGetTemperatureV", {METRIC_TEMPERATURE, METRIC_NONE}},
    {NULL, "nvmlDeviceGetCurrentClocksEventReasons", {METRIC_THROTTLE, METRIC_NONE}},
};

static bool hangs_on(const struct call *c, enum metric m)
{
    return c->metrics[0] == (int)m || c->metrics[1] == (int)m;
}

/* From the first call on: that metric says why, with the state that the code means, and the others
 * have their values. */
static void test_each_call_refused(void **state)
{
    static const struct {
        int code;
        enum value_state state;
        const char *words;
    } kinds[] = {
        {3, VALUE_UNSUPPORTED, ": not supported by this GPU (NOT_SUPPORTED, 3)"},
        {4, VALUE_NO_PERMISSION, ": no permission (NO_PERMISSION, 4)"},
        {999, VALUE_FAILED, ": unknown driver failure (UNKNOWN, 999)"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (!calls[i].setting)
            continue;
        char script[4000];
        size_t k = i % 3;
        reset(state);
        snprintf(script, sizeof script, "%s%s = error %d\n", values_script, calls[i].setting,
                 kinds[k].code);
        run_well(script, 1);
        for (size_t e = 0; e < EXPECTED; e++) {
            enum metric m = expected[e].metric;
            const struct step *s = &rec.gpus[0].last[m];
            bool hit = hangs_on(&calls[i], m);
            assert_int_equal(s->state, hit ? kinds[k].state : VALUE_OK);
            assert_int_equal(rec.gpus[0].numbers[m], !hit);
            if (hit)
                assert_contains(s->reason, kinds[k].words);
        }
    }
}

/* In mid-run: one call fails once (the second is the first round's, the first was the plan's). That
 * metric alone becomes failed, and ok again. */
static void test_each_call_fails_and_recovers(void **state)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (!calls[i].function)
            continue;
        char script[4000];
        reset(state);
        snprintf(script, sizeof script, "%sfail = %s:10:2\n", values_script, calls[i].function);
        run_well(script, 3);
        for (size_t e = 0; e < EXPECTED; e++) {
            enum metric m = expected[e].metric;
            const struct seen *s = &rec.gpus[0];
            bool hit = hangs_on(&calls[i], m);
            assert_int_equal(s->n_states[m], hit ? 3 : 1);
            assert_int_equal(s->states[m][0], VALUE_OK);
            if (hit)
                assert_int_equal(s->states[m][1], VALUE_FAILED);
            assert_int_equal(s->last[m].state, VALUE_OK);
            assert_int_equal(s->numbers[m], hit ? 2 : 3);
            assert_near(s->value[m], expected[e].value, fabs(expected[e].value) * 1e-12);
        }
        assert_int_equal(rec.gpus[0].plans, 3);
    }
}

/* What fails is tried again only with the slow readings. */
static void test_failure_is_not_hammered(void **state)
{
    (void)state;
    options.slow_ns = 350 * 1000 * 1000;
    run_well("fail = nvmlDeviceGetTotalEnergyConsumption:999:2\n", 8);
    assert_int_equal(rec.gpus[0].numbers[METRIC_ENERGY], 4); /* from 400 ms on */
}

/* A driver that takes a call back: the older one serves, and the plan names it. */
static void test_falls_back_in_mid_run(void **state)
{
    (void)state;
    char script[4000];
    snprintf(script, sizeof script, "%sfail = nvmlDeviceGetMemoryInfo_v2:26:3+\n", values_script);
    run_well(script, 3);
    const struct seen *s = &rec.gpus[0];
    assert_int_equal(s->n_states[METRIC_MEM_USED], 1);
    assert_contains(s->first[METRIC_MEM_USED].counter, "_v2");
    assert_contains(s->last[METRIC_MEM_USED].counter, "includes what the driver reserves");
    assert_near(s->value[METRIC_MEM_USED], 7.5e9, 0);
    assert_int_equal(s->numbers[METRIC_MEM_USED], 3);
}

/* An instant and a mean are two things: a failure does not swap them at once. */
static void test_power_keeps_its_meaning(void **state)
{
    (void)state;
    char script[4000];
    snprintf(script, sizeof script, "%sfail = nvmlDeviceGetFieldValues:999:3\n", values_script);
    run_well(script, 3); /* power, memory temperature; power fails */
    const struct seen *s = &rec.gpus[0];
    assert_int_equal(s->n_states[METRIC_POWER], 3);
    assert_int_equal(s->states[METRIC_POWER][1], VALUE_FAILED);
    assert_contains(s->last[METRIC_POWER].counter, "at the instant");
    assert_near(s->value[METRIC_POWER], 312.5, 0);
}

static void lose_gpu(const struct event *e)
{
    (void)e;
    if (rec.samples == 3)
        write_file("gone", "");
}

static void test_gpu_lost(void **state)
{
    (void)state;
    char script[300];
    struct error err = ERROR_INIT;
    rec.on_event = lose_gpu;
    snprintf(script, sizeof script, "[gpu]\n[gpu]\nlost = file %s\n", at("gone"));
    assert_int_equal(run(script, &err), ERR_VENDOR);
    assert_contains(err.text, "GPU 1 fell off the bus (GPU_IS_LOST)");
    assert_contains(err.text, "nvidia-bug-report.sh");

    /* started anew, the other one is read, and the plan says what is with this one */
    forget();
    struct source *s = NULL;
    assert_int_equal(nvml_open(&s, &request, &options, NULL), OK);
    assert_int_equal(s->ops->describe(s, &sink, NULL), OK);
    rec.stop_after = 2;
    assert_int_equal(s->ops->run(s, &sink, &rec.stop, NULL), OK);
    s->ops->close(s);
    assert_int_equal(rec.gpus[0].samples, 2);
    assert_int_equal(rec.gpus[1].samples, 0);
    assert_int_equal(rec.gpus[1].last[METRIC_POWER].state, VALUE_FAILED);
    assert_contains(rec.gpus[1].last[METRIC_POWER].reason, "GPU 1 fell off the bus");

    /* wanted alone, it is a reason not to open */
    static const unsigned one[] = {1};
    request.gpus = one;
    request.n_gpus = 1;
    assert_int_equal(open_fails(&err), ERR_VENDOR);
    assert_contains(err.text, "GPU 1 fell off the bus");
    unlink(at("gone"));
}

/* NVML that no longer answers at all: only a new start helps. */
static void test_driver_goes(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    rec.stop_after = 20;
    assert_int_equal(run("fail = nvmlDeviceGetClockInfo:1:10+\n", &err), ERR_VENDOR);
    assert_contains(err.text, "nvmlDeviceGetClockInfo memory: NVML was not initialised");
}

/* ---- which GPUs ---------------------------------------------------------------------------- */

static void test_two_gpus(void **state)
{
    (void)state;
    run_well("[gpu]\nfield.186 = 100000\n[gpu]\nfield.186 = 200000\n"
             "nvmlDeviceGetTotalEnergyConsumption = error 3\n",
             4);
    assert_int_equal(rec.gpus[0].samples, 2);
    assert_int_equal(rec.gpus[1].samples, 2);
    assert_near(rec.gpus[0].value[METRIC_POWER], 100, 0);
    assert_near(rec.gpus[1].value[METRIC_POWER], 200, 0);
    assert_int_equal(rec.gpus[0].last[METRIC_ENERGY].state, VALUE_OK);
    assert_int_equal(rec.gpus[1].last[METRIC_ENERGY].state, VALUE_UNSUPPORTED);
}

static void test_one_of_two(void **state)
{
    (void)state;
    static const unsigned one[] = {1};
    request.gpus = one;
    request.n_gpus = 1;
    run_well("gpus = 2\n", 2);
    assert_int_equal(rec.gpus[0].plans, 0);
    assert_int_equal(rec.gpus[1].samples, 2);
    assert_string_equal(rec.gpus[1].pci, "0000:02:00.0");
}

static void test_cannot_open(void **state)
{
    (void)state;
    static const unsigned high[] = {0, 7};
    struct error err = ERROR_INIT;
    request.gpus = high;
    request.n_gpus = 2;
    play("gpus = 2\n");
    assert_int_equal(open_fails(&err), ERR_NO_GPU);
    assert_string_equal(err.text, "no GPU 7: there are GPUs 0 to 1 here");
    play("");
    assert_int_equal(open_fails(&err), ERR_NO_GPU);
    assert_string_equal(err.text, "no GPU 7: the only one here is GPU 0");
    play("gpus = 0\n");
    assert_int_equal(open_fails(&err), ERR_NO_GPU);
    assert_string_equal(err.text, "the NVIDIA driver finds no GPU");
    play("fail = nvmlInit_v2:9\n");
    assert_int_equal(open_fails(&err), ERR_NO_GPU);
    assert_contains(err.text, "the NVIDIA driver is not loaded");
    play("fail = nvmlInit_v2:4\n");
    assert_int_equal(open_fails(&err), ERR_PERMISSION);
    options.library = "/no/such/libnvidia-ml.so.1";
    assert_int_equal(open_fails(&err), ERR_NO_GPU);
    assert_contains(err.text, "no NVIDIA driver: libnvidia-ml.so.1 was not found");
    options.library = FAKES_DIR "/nvml_broken/libnvidia-ml.so.1";
    assert_int_equal(open_fails(&err), ERR_UNSUPPORTED);
    assert_contains(err.text, "lacks nvmlInit_v2");
    nvml_ops.close(NULL);
}

/* One GPU is withheld from this user: its plan says so, the other one is read. */
static void test_no_permission_for_one(void **state)
{
    (void)state;
    run_well("gpus = 2\nfail = nvmlDeviceGetHandleByIndex_v2:4:1\n", 2);
    assert_int_equal(rec.gpus[0].last[METRIC_POWER].state, VALUE_NO_PERMISSION);
    assert_contains(rec.gpus[0].last[METRIC_POWER].reason, "no permission");
    assert_int_equal(rec.gpus[0].samples, 0);
    assert_int_equal(rec.gpus[0].plans, 1); /* it is left alone */
    assert_int_equal(rec.gpus[1].samples, 2);
}

/* ---- sleep --------------------------------------------------------------------------------- */

#define DEVICES "sys/bus/pci/devices"

static void make_dirs(const char *path)
{
    char part[PATH_MAX];
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(at(part), 0700);
    }
    mkdir(at(path), 0700);
}

static void set_power(const char *id, const char *word)
{
    char name[200];
    snprintf(name, sizeof name, DEVICES "/%s/power/runtime_status", id);
    write_file(name, word);
}

static void make_device(const char *id, const char *vendor, const char *class, const char *driver,
                        const char *power)
{
    char name[200], target[200];
    snprintf(name, sizeof name, DEVICES "/%s/power", id);
    make_dirs(name);
    snprintf(name, sizeof name, DEVICES "/%s/vendor", id);
    write_file(name, vendor);
    snprintf(name, sizeof name, DEVICES "/%s/class", id);
    write_file(name, class);
    snprintf(name, sizeof name, DEVICES "/%s/driver", id);
    snprintf(target, sizeof target, "../../../bus/pci/drivers/%s", driver);
    assert_int_equal(symlink(target, at(name)), 0);
    set_power(id, power);
}

/* A laptop: two GPUs of the driver, one at a virtual machine, a sound device, an Intel GPU. */
static void make_laptop(const char *first, const char *second)
{
    make_device("0000:00:02.0", "0x8086\n", "0x030000\n", "i915", "active\n");
    make_device("0000:01:00.0", "0x10de\n", "0x030000\n", "nvidia", first);
    make_device("0000:01:00.1", "0x10de\n", "0x040300\n", "snd_hda_intel", "active\n");
    make_device("0000:02:00.0", "0x10de\n", "0x030200\n", "nvidia", second);
    make_device("0000:03:00.0", "0x10de\n", "0x030200\n", "vfio-pci", "active\n");
    make_dirs("dev");
    write_file("dev/nvidia0", "");
    write_file("dev/nvidia1", "");
    write_file("dev/nvidiactl", "");
}

static int remove_laptop(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        execlp("rm", "rm", "-rf", at("sys"), at("dev"), at("gone"), (char *)NULL);
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

/* GPU 1 sleeps from the third sample on, for 300 ms of GPU 0's life. "lost" stands for "was
 * touched": any call on it in that time ends the run. */
static void sleep_and_wake(const struct event *e)
{
    if (e->kind != EVENT_SAMPLES || e->u.samples.gpu != 0)
        return;
    unsigned n = rec.gpus[0].samples;
    if (n == 3) {
        set_power("0000:02:00.0", "suspended\n");
        write_file("gone", "");
    } else if (n == 6) {
        unlink(at("gone"));
        set_power("0000:02:00.0", "active\n");
    }
}

static void test_sleeps_and_wakes(void **state)
{
    (void)state;
    char script[300];
    make_laptop("active\n", "active\n");
    rec.on_event = sleep_and_wake;
    snprintf(script, sizeof script, "[gpu]\n[gpu]\nlost = file %s\n", at("gone"));
    run_well(script, 15);
    const struct seen *s = &rec.gpus[1];
    assert_int_equal(rec.gpus[0].n_states[METRIC_POWER], 1);
    assert_int_equal(s->n_states[METRIC_POWER], 3);
    assert_int_equal(s->states[METRIC_POWER][1], VALUE_UNSUPPORTED);
    assert_int_equal(s->last[METRIC_POWER].state, VALUE_OK);
    assert_true(rec.gpus[0].samples - s->samples == 3);
    assert_int_equal(s->gaps, 1); /* its sleep is not covered by a sample */
    assert_int_equal(rec.gpus[0].gaps, 0);
}

static void wake_second(const struct event *e)
{
    (void)e;
    if (rec.samples < 3)
        assert_string_equal(rec.gpus[1].name, "");
    if (rec.samples == 3)
        set_power("0000:02:00.0", "active\n");
}

/* One sleeps from the start: it is not asked who it is. When it wakes, it is read at once, the slow
 * readings too. */
static void test_wakes_later(void **state)
{
    (void)state;
    make_laptop("active\n", "suspended\n");
    options.slow_ns = INT64_C(60000000000);
    rec.on_event = wake_second;
    run_well("[gpu]\n[gpu]\nname = Second\nfield.186 = 77000\nprocess = 99999999 1 7 1\n", 7);
    const struct seen *s = &rec.gpus[1];
    assert_int_equal(rec.gpus[0].samples, 5);
    assert_int_equal(s->samples, 2);
    assert_int_equal(s->first[METRIC_POWER].state, VALUE_UNSUPPORTED);
    assert_int_equal(s->last[METRIC_POWER].state, VALUE_OK);
    assert_near(s->value[METRIC_POWER], 77, 0);
    assert_int_equal(s->numbers[METRIC_TEMPERATURE], 1);
    assert_string_equal(s->name, "Second");
}

static void sleep_alone(const struct event *e)
{
    (void)e;
    if (rec.samples == 2 && rec.beats == 0)
        set_power("0000:01:00.0", "suspended\n");
    if (rec.beats == 15)
        set_power("0000:01:00.0", "active\n");
}

static void test_sleeps_alone(void **state)
{
    (void)state;
    make_laptop("active\n", "suspended\n");
    rec.on_event = sleep_alone;
    run_well("", 4);
    assert_int_equal(rec.gpus[0].n_states[METRIC_POWER], 3);
    assert_true(rec.longest_silence_ns <= 1000000000);
}

static void wake_first(const struct event *e)
{
    (void)e;
    if (rec.beats == 2)
        set_power("0000:01:00.0", "active\n");
}

/* All wanted GPUs sleep: NVML is not even started, but who is there and why there is no number is
 * said. When one wakes it is read; the other one goes on sleeping. */
static void test_all_sleep(void **state)
{
    (void)state;
    make_laptop("suspended\n", "suspending\n");
    rec.on_event = stop_after_three_beats;
    struct error err = ERROR_INIT;
    assert_int_equal(run("gpus = 2\nfail = nvmlInit_v2:999\n", &err), OK);
    assert_int_equal(rec.samples, 0);
    assert_string_equal(rec.gpus[0].pci, "0000:01:00.0");
    assert_string_equal(rec.gpus[1].pci, "0000:02:00.0");
    for (size_t g = 0; g < 2; g++)
        for (size_t i = 0; i < EXPECTED; i++) {
            assert_int_equal(rec.gpus[g].last[expected[i].metric].state, VALUE_UNSUPPORTED);
            assert_string_equal(rec.gpus[g].last[expected[i].metric].reason,
                                "the GPU sleeps (runtime suspended); not woken for a reading");
        }
    assert_true(rec.longest_silence_ns <= 1000000000);

    forget();
    rec.on_event = wake_first;
    run_well("[gpu]\nname = A\n[gpu]\nlost = yes\n", 3);
    assert_int_equal(rec.gpus[0].samples, 3);
    assert_string_equal(rec.gpus[0].name, "A");
    assert_int_equal(rec.gpus[1].last[METRIC_POWER].state, VALUE_UNSUPPORTED);
    assert_contains(rec.gpus[1].last[METRIC_POWER].reason, "sleeps");
    assert_string_equal(rec.gpus[1].name, "");
    assert_string_equal(rec.gpus[1].pci, "0000:02:00.0");
}

static void test_wanted_one_sleeps(void **state)
{
    (void)state;
    static const unsigned zero[] = {0}, one[] = {1}, two[] = {2};
    make_laptop("active\n", "suspended\n");
    request.gpus = one;
    request.n_gpus = 1;
    rec.on_event = stop_after_three_beats;
    struct error err = ERROR_INIT;
    assert_int_equal(run("gpus = 2\nfail = nvmlInit_v2:999\n", &err), OK);
    assert_string_equal(rec.gpus[1].pci, "0000:02:00.0");
    request.gpus = two;
    play("gpus = 2\n");
    assert_int_equal(open_fails(&err), ERR_NO_GPU);

    /* a container that is given one GPU of several: its number is no place on the bus */
    forget();
    unlink(at("dev/nvidia0"));
    set_power("0000:01:00.0", "suspended\n");
    set_power("0000:02:00.0", "active\n");
    request.gpus = zero;
    run_well("[gpu]\npci = 0000:02:00.0\n", 1);
    assert_int_equal(rec.gpus[0].samples, 1);
}

/* ---- processes ----------------------------------------------------------------------------- */

/* A child whose command is longer than the kernel's name of it. */
static pid_t start_long_name(void)
{
    symlink("/bin/sleep", at("a-command-of-many-letters"));
    pid_t pid = fork();
    if (pid == 0)
        execl(at("a-command-of-many-letters"), at("a-command-of-many-letters"), "30", (char *)NULL);
    char path[64], comm[64] = "";
    for (int i = 0; i < 500 && strncmp(comm, "a-command", 9) != 0; i++) {
        usleep(2000);
        snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        if (!fgets(comm, sizeof comm, f))
            comm[0] = '\0';
        fclose(f);
    }
    return pid;
}

static void test_processes(void **state)
{
    (void)state;
    char script[800];
    pid_t child = start_long_name();
    prctl(PR_SET_NAME, "short name");
    snprintf(script, sizeof script,
             "process = 99999999 5000 7 1\n" /* not to be seen here */
             "process = %d 2000 50 20\n"
             "process = %d 1500 101 0 graphics\n" /* the driver's garbage */
             "process = %d 2000 50 20 graphics\n",
             (int)getpid(), (int)child, (int)getpid());
    run_well(script, 1);
    prctl(PR_SET_NAME, "test_nvml");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    const struct seen *s = &rec.gpus[0];
    assert_int_equal(s->n_processes, 3);
    size_t mine = getpid() < child ? 0 : 1, its = 1 - mine;
    assert_int_equal(s->processes[mine].pid, getpid());
    assert_string_equal(s->process_names[mine], "short name");
    assert_near(s->processes[mine].gpu_memory_bytes, 2000, 0);
    assert_near(s->processes[mine].sm_utilization, 0.5, 0);
    assert_int_equal(s->processes[its].pid, child);
    assert_string_equal(s->process_names[its], "a-command-of-many-letters");
    assert_true(isnan(s->processes[its].sm_utilization));
    assert_int_equal(s->processes[2].pid, 99999999);
    assert_string_equal(s->process_names[2], "fake-process-99999999");
    assert_near(s->processes[2].sm_utilization, 0.07, 0);
}

static void test_processes_of_old_driver(void **state)
{
    (void)state;
    options.library = OLD_LIBRARY;
    run_well("process = 99999999 18446744073709551615 7 1\n"
             "fail = nvmlSystemGetProcessName:3\n",
             1);
    const struct seen *s = &rec.gpus[0];
    assert_int_equal(s->n_processes, 1);
    assert_string_equal(s->process_names[0], "");
    assert_true(isnan(s->processes[0].gpu_memory_bytes)); /* NVML_NOT_AVAILABLE */
    assert_near(s->processes[0].sm_utilization, 0.07, 0);
}

/* The newer call is refused: the older one tells. Neither tells: no number. */
static void test_utilization_calls(void **state)
{
    run_well("process = 99999999 1 7 1\nfail = nvmlDeviceGetProcessesUtilizationInfo:3\n", 1);
    assert_near(rec.gpus[0].processes[0].sm_utilization, 0.07, 0);
    reset(state);
    run_well("process = 99999999 1 7 1\nfail = nvmlDeviceGetProcessesUtilizationInfo:6\n", 1);
    assert_int_equal(rec.gpus[0].n_processes, 1);
    assert_true(isnan(rec.gpus[0].processes[0].sm_utilization));
}

/* A driver of the test's own: 100 processes, some with several readings. */
enum { MANY = 100 };
#define SINCE_US UINT64_C(1000000)
static unsigned table_calls;

static nvmlReturn_t many_running(nvmlDevice_t dev, unsigned *count, struct nvml_process *list)
{
    (void)dev;
    unsigned room = *count, n = table_calls++ ? MANY : MANY / 2; /* it grows meanwhile */
    *count = n;
    for (unsigned i = 0; i < n && n <= room; i++)
        list[i] = (struct nvml_process){.pid = 1000 - i, .usedGpuMemory = i};
    return n <= room ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

static const struct nvml_process_sample uses[] = {
    {.pid = 1000, .timeStamp = SINCE_US + 5, .smUtil = 30},
    {.pid = 1000, .timeStamp = SINCE_US + 9, .smUtil = 40}, /* the newest */
    {.pid = 1000, .timeStamp = SINCE_US + 7, .smUtil = 50},
    {.pid = 999, .timeStamp = SINCE_US - 1, .smUtil = 60}, /* too old */
    {.pid = 998, .timeStamp = SINCE_US + 1, .smUtil = 70},
    {.pid = 998, .timeStamp = SINCE_US + 2, .smUtil = 4000000000}, /* garbage, but the newest */
    {.pid = 5, .timeStamp = SINCE_US + 2, .smUtil = 80},           /* gone meanwhile */
};
enum { USES = sizeof uses / sizeof uses[0] };

static nvmlReturn_t use_by_old_call(nvmlDevice_t dev, struct nvml_process_sample *list,
                                    unsigned *count, unsigned long long last_seen)
{
    (void)dev;
    assert_int_equal(last_seen, SINCE_US);
    assert_true(*count >= USES);
    memcpy(list, uses, sizeof uses);
    *count = USES;
    return NVML_SUCCESS;
}

static nvmlReturn_t use_by_new_call(nvmlDevice_t dev, struct nvml_processes_utilization *u)
{
    (void)dev;
    assert_int_equal(u->version, NVML_PROCESSES_UTILIZATION_V1);
    assert_int_equal(u->lastSeenTimeStamp, SINCE_US);
    assert_true(u->processSamplesCount >= USES);
    for (size_t i = 0; i < USES; i++)
        u->procUtilArray[i] = (struct nvml_process_utilization){
            .pid = uses[i].pid, .timeStamp = uses[i].timeStamp, .smUtil = uses[i].smUtil};
    u->processSamplesCount = USES;
    return NVML_SUCCESS;
}

static nvmlReturn_t never_enough(nvmlDevice_t dev, unsigned *count, struct nvml_process *list)
{
    (void)dev, (void)list;
    *count = UINT_MAX;
    table_calls++;
    return NVML_ERROR_INSUFFICIENT_SIZE;
}

static nvmlReturn_t lies(nvmlDevice_t dev, unsigned *count, struct nvml_process *list)
{
    (void)dev, (void)list;
    *count += 1;
    return NVML_SUCCESS;
}

static void test_table_of_processes(void **state)
{
    (void)state;
    for (int new_call = 0; new_call < 2; new_call++) {
        struct nvml_api api = {.nvmlDeviceGetComputeRunningProcesses_v3 = many_running};
        struct process_table t = {0};
        const char *call = NULL;
        table_calls = 0;
        if (new_call)
            api.nvmlDeviceGetProcessesUtilizationInfo = use_by_new_call;
        else
            api.nvmlDeviceGetProcessUtilization = use_by_old_call;
        assert_int_equal(process_table_fill(&t, &api, NULL, &call), NVML_SUCCESS);
        assert_int_equal(t.n, MANY);
        assert_int_equal(process_table_use(&t, &api, NULL, SINCE_US, &call), NVML_SUCCESS);
        assert_int_equal(t.rows[MANY - 1].pid, 1000);
        assert_near(t.rows[MANY - 1].sm, 0.4, 0);
        assert_true(isnan(t.rows[MANY - 2].sm));
        assert_true(isnan(t.rows[MANY - 3].sm));
        assert_true(isnan(t.rows[0].sm));
        assert_near(t.rows[0].memory_bytes, MANY - 1, 0);
        process_table_fini(&t);
    }
}

static void test_table_of_a_mad_driver(void **state)
{
    (void)state;
    struct nvml_api api = {.nvmlDeviceGetComputeRunningProcesses_v3 = never_enough};
    struct process_table t = {0};
    const char *call = NULL;
    table_calls = 0;
    assert_int_not_equal(process_table_fill(&t, &api, NULL, &call), NVML_SUCCESS);
    assert_true(table_calls < 10);
    api.nvmlDeviceGetComputeRunningProcesses_v3 = lies; /* more than there was room for */
    assert_int_equal(process_table_fill(&t, &api, NULL, &call), NVML_ERROR_UNKNOWN);
    api = (struct nvml_api){0};
    assert_int_equal(process_table_fill(&t, &api, NULL, &call), NVML_ERROR_FUNCTION_NOT_FOUND);
    assert_string_equal(call, "nvmlDeviceGetComputeRunningProcesses_v3");
    assert_null(t.rows);
}

static void test_no_list_of_processes(void **state)
{
    run_well("fail = nvmlDeviceGetComputeRunningProcesses_v3:4\n", 3);
    assert_int_equal(rec.gpus[0].lists, 0);
    assert_contains(rec.notes, "its processes cannot be listed: "
                               "nvmlDeviceGetComputeRunningProcesses_v3: no permission");
    assert_null(strstr(strstr(rec.notes, "listed") + 1, "listed")); /* once */
    reset(state);
    run_well("process = 99999999 1 7 1\nfail = nvmlDeviceGetGraphicsRunningProcesses_v3:3\n", 1);
    assert_int_equal(rec.gpus[0].n_processes, 1);
    reset(state);
    run_well("", 1);
    assert_int_equal(rec.gpus[0].lists, 1); /* nobody is a fact too */
    assert_int_equal(rec.gpus[0].n_processes, 0);
}

/* ---- words --------------------------------------------------------------------------------- */

static void test_throttle_words(void **state)
{
    (void)state;
    char text[THROTTLE_TEXT_SIZE];
    assert_string_equal(throttle_words(0, text, sizeof text), "none");
    assert_string_equal(throttle_words(0x24, text, sizeof text), "power limit, heat (driver)");
    assert_string_equal(throttle_words(0x1FF, text, sizeof text),
                        "idle, clocks set by an administrator, power limit, hardware slowdown, "
                        "sync boost, heat (driver), heat (hardware), external power brake, "
                        "display clock");
    assert_string_equal(throttle_words(0x8000000000000201, text, sizeof text),
                        "idle, 0x200, 0x8000000000000000");
    assert_string_equal(throttle_words(0x24, text, 20), "power limit");
    assert_string_equal(throttle_words(0x4, text, 12), "power limit");
    assert_string_equal(throttle_words(0x4, text, 11), "");
    assert_string_equal(throttle_words(0x24, text, 1), "");
}

#define TEST(f)       cmocka_unit_test_setup(f, reset)
#define TEST_SLEEP(f) cmocka_unit_test_setup_teardown(f, reset, remove_laptop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_value),
        TEST(test_identity),
        TEST(test_old_driver),
        TEST(test_power_without_the_instant),
        TEST(test_no_readings),
        TEST(test_no_fan),
        TEST(test_slow_and_quick),
        TEST(test_costly_readings_become_seldom),
        TEST(test_default_rate),
        TEST(test_rate_has_limits),
        TEST(test_beats),
        TEST(test_each_call_refused),
        TEST(test_each_call_fails_and_recovers),
        TEST(test_failure_is_not_hammered),
        TEST(test_falls_back_in_mid_run),
        TEST(test_power_keeps_its_meaning),
        TEST(test_gpu_lost),
        TEST(test_driver_goes),
        TEST(test_two_gpus),
        TEST(test_one_of_two),
        TEST(test_cannot_open),
        TEST(test_no_permission_for_one),
        TEST_SLEEP(test_sleeps_and_wakes),
        TEST_SLEEP(test_wakes_later),
        TEST_SLEEP(test_sleeps_alone),
        TEST_SLEEP(test_all_sleep),
        TEST_SLEEP(test_wanted_one_sleeps),
        TEST(test_processes),
        TEST(test_processes_of_old_driver),
        TEST(test_utilization_calls),
        TEST(test_table_of_processes),
        TEST(test_table_of_a_mad_driver),
        TEST(test_no_list_of_processes),
        TEST(test_throttle_words),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
