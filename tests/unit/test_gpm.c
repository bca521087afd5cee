/* SPDX-License-Identifier: MIT */
/* The source gpm on the fake library: values, times, the floor of the interval, what is missing and
 * what fails. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_script.h"
#include "source/gpm/gpm.h"

#define LIBRARY FAKES_DIR "/nvml/libnvidia-ml.so.1"

/* ---- what a source says -------------------------------------------------------------------- */

enum { GPUS = 3, STATES = 20, SAMPLES = 40 };

static struct recorder {
    struct seen {
        unsigned plans, samples, identities;
        char pci[32];
        size_t n_series;
        double rate_hz;
        enum metric order[METRIC_COUNT];
        enum value_state states[METRIC_COUNT][STATES]; /* every change */
        size_t n_states[METRIC_COUNT];
        enum value_state first[METRIC_COUNT], last[METRIC_COUNT];
        char reason[METRIC_COUNT][VALUE_REASON_SIZE], counter[METRIC_COUNT][64];
        double values[METRIC_COUNT][SAMPLES]; /* NaN = none in that sample */
        int64_t t0_ns[SAMPLES], t1_ns[SAMPLES];
    } gpus[GPUS];
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
    assert_int_equal(p->source, SOURCE_GPM);
    if (s->plans)
        assert_int_equal(p->n, s->n_series);
    s->n_series = p->n;
    s->rate_hz = p->rate_hz;
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_series *series = &p->series[i];
        int m = series->metric;
        s->order[i] = (enum metric)m;
        assert_string_equal(series->name, metric_info((enum metric)m)->key);
        assert_int_equal(series->unit, metric_info((enum metric)m)->unit);
        assert_int_equal(series->state == VALUE_OK, series->reason[0] == '\0');
        if (!s->plans)
            s->first[m] = series->state;
        if ((s->n_states[m] == 0 || s->last[m] != series->state) && s->n_states[m] < STATES)
            s->states[m][s->n_states[m]++] = series->state;
        s->last[m] = series->state;
        snprintf(s->reason[m], sizeof s->reason[m], "%s", series->reason);
        snprintf(s->counter[m], sizeof s->counter[m], "%s", series->counter);
    }
    s->plans++;
}

static void take_samples(const struct event_samples *e)
{
    struct seen *s = &rec.gpus[e->gpu];
    assert_int_equal(e->source, SOURCE_GPM);
    assert_int_equal(e->n, 1);
    assert_true(s->samples < SAMPLES);
    s->t0_ns[s->samples] = e->t0_ns[0];
    s->t1_ns[s->samples] = e->t1_ns[0];
    for (int m = 0; m < METRIC_COUNT; m++)
        s->values[m][s->samples] = NAN;
    for (size_t c = 0; c < e->columns; c++) {
        assert_true(e->series[c] < s->n_series);
        enum metric m = s->order[e->series[c]];
        assert_int_equal(s->last[m], VALUE_OK);
        s->values[m][s->samples] = e->values[c * e->stride];
    }
    s->samples++;
    if (++rec.samples == rec.stop_after)
        rec.stop.raised = 1;
}

static enum status push(void *self, const struct event *e, struct error *err)
{
    (void)self, (void)err;
    int64_t now = clock_monotonic_ns();
    if (rec.all++ && now - rec.last_event_ns > rec.longest_silence_ns)
        rec.longest_silence_ns = now - rec.last_event_ns;
    rec.last_event_ns = now;
    if (e->kind == EVENT_PLAN)
        take_plan(&e->u.plan);
    else if (e->kind == EVENT_SAMPLES)
        take_samples(&e->u.samples);
    else if (e->kind == EVENT_BEAT)
        rec.beats++;
    else if (e->kind == EVENT_GPU) {
        struct seen *s = &rec.gpus[e->u.gpu.gpu];
        s->identities++;
        snprintf(s->pci, sizeof s->pci, "%s", e->u.gpu.pci_bus);
    } else if (e->kind == EVENT_NOTE) {
        size_t used = strlen(rec.notes);
        snprintf(rec.notes + used, sizeof rec.notes - used, "%s\n", e->u.note.text);
    }
    if (rec.on_event)
        rec.on_event(e);
    return OK;
}

static const struct event_sink sink = {push, NULL};
static struct source_request request;
static struct gpm_options options;

static int reset(void **state)
{
    (void)state;
    rec = (struct recorder){0};
    request = (struct source_request){.rate_hz = 100};
    options = (struct gpm_options){.library = LIBRARY, .root = folder};
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
    assert_int_equal(gpm_open(&s, &request, &options, &local), OK);
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

static enum status open_fails(const char *script, struct error *err)
{
    struct source *s = NULL;
    *err = (struct error)ERROR_INIT;
    play(script);
    enum status st = gpm_open(&s, &request, &options, err);
    assert_int_not_equal(st, OK);
    assert_null(s);
    return st;
}

/* ---- values and times ---------------------------------------------------------------------- */

/* The script's number, and what must come out in the catalogue's unit: NVML says percent and, for
 * links, "MiB per second" that were measured to be 1,024,000 bytes. */
static const struct {
    enum metric metric;
    const char *counter;
    double value;
} expected[] = {
    {METRIC_GR_ACTIVE, "NVML GPM 1", 0.98},
    {METRIC_SM_ACTIVE, "NVML GPM 2", 0.865},
    {METRIC_OCCUPANCY, "NVML GPM 3", 0.12},
    {METRIC_TENSOR_ACTIVE, "NVML GPM 5", 0.033},
    {METRIC_TENSOR_HMMA_ACTIVE, "NVML GPM 7", 0.032},
    {METRIC_TENSOR_IMMA_ACTIVE, "NVML GPM 9", 0.001},
    {METRIC_FP64_ACTIVE, "NVML GPM 11", 0},
    {METRIC_DRAM_THROUGHPUT, "NVML GPM 10", 1.02}, /* above 1 as it is */
    {METRIC_PCIE_RX, "NVML GPM 21", 2.048e6},
    {METRIC_PCIE_TX, "NVML GPM 20", 9.728e6},
    {METRIC_NVLINK_RX, "NVML GPM 60", 7.168e9},
    {METRIC_NVLINK_TX, "NVML GPM 61", 8.192e9},
};

enum { EXPECTED = sizeof expected / sizeof expected[0] };

static const char values_script[] =
    "nvmlDeviceGetNvLinkState.0 = 1\ngpm.1 = 98\ngpm.2 = 86.5\ngpm.3 = 12\ngpm.4 = 77\n"
    "gpm.5 = 3.3\ngpm.7 = 3.2\ngpm.9 = 0.1\ngpm.10 = 102\n"
    "gpm.11 = 0\ngpm.12 = 77\ngpm.20 = 9.5\ngpm.21 = 2\n"
    "gpm.60 = 7000\ngpm.61 = 8000\n";

/* GPM reads 0 for links that are not there. */
static void test_no_nvlink_is_no_zero(void **state)
{
    (void)state;
    run_well("gpm.60 = 0\ngpm.61 = 0\n", 2);
    const struct seen *s = &rec.gpus[0];
    assert_int_equal(s->last[METRIC_NVLINK_RX], VALUE_UNSUPPORTED);
    assert_string_equal(s->reason[METRIC_NVLINK_TX], "no NVLink of this GPU is active");
    assert_true(isnan(s->values[METRIC_NVLINK_RX][1]));
    assert_int_equal(s->last[METRIC_GR_ACTIVE], VALUE_OK);
}

static void test_every_value(void **state)
{
    (void)state;
    run_well(values_script, 3);
    const struct seen *s = &rec.gpus[0];
    size_t covered = 0;
    for (int m = 0; m < METRIC_COUNT; m++)
        if (gpm_ops.covers((enum metric)m))
            assert_int_equal(s->order[covered++], m); /* in the order of the catalogue */
    assert_int_equal(covered, EXPECTED);
    assert_int_equal(s->n_series, EXPECTED);
    assert_int_equal(s->plans, 2); /* warming, then ok */
    for (size_t i = 0; i < EXPECTED; i++) {
        enum metric m = expected[i].metric;
        assert_int_equal(s->n_states[m], 2);
        assert_int_equal(s->states[m][0], VALUE_WARMING);
        assert_int_equal(s->states[m][1], VALUE_OK);
        assert_string_equal(s->counter[m], expected[i].counter);
        for (unsigned k = 0; k < 3; k++)
            assert_near(s->values[m][k], expected[i].value, expected[i].value * 1e-12);
    }
    assert_string_equal(s->pci, "0000:01:00.0");
    assert_contains(rec.notes, "NVIDIA driver 580.159.03, NVML 13.580.159.03");
}

static void test_interval_has_a_floor(void **state)
{
    (void)state;
    run_well("gpus = 2\ndelay = nvmlGpmSampleGet:0.07:2\n", 10);
    assert_contains(rec.notes, "GPM is read 8.33 times a second, not 100");
    for (size_t g = 0; g < 2; g++) {
        const struct seen *s = &rec.gpus[g];
        assert_near(s->rate_hz, 1 / 0.12, 1e-9);
        assert_int_equal(s->samples, 5);
        for (unsigned i = 0; i < s->samples; i++) {
            int64_t length = s->t1_ns[i] - s->t0_ns[i];
            assert_true(length >= INT64_C(119900000) && length < INT64_C(900000000));
            assert_true(i == 0 || s->t0_ns[i] == s->t1_ns[i - 1]); /* no gap */
            assert_near(s->values[METRIC_PCIE_TX][i], 9.216e6,
                        1); /* not the 0 of a short interval */
        }
        assert_near((double)s->t1_ns[4], (double)clock_unix_ns(), 1e9);
    }
}

static void test_default_rate(void **state)
{
    (void)state;
    request.rate_hz = 0;
    run_well("", 2);
    assert_near(rec.gpus[0].rate_hz, 1, 0);
    assert_null(strstr(rec.notes, "times a second"));
    assert_in_range(rec.gpus[0].t1_ns[1] - rec.gpus[0].t0_ns[1], 900000000, 1900000000);
    assert_true(rec.longest_silence_ns <= 1000000000);
}

static void test_slowest_rate(void **state)
{
    (void)state;
    struct source *s = NULL;
    request.rate_hz = 1e-6;
    play("");
    assert_int_equal(gpm_open(&s, &request, &options, NULL), OK);
    assert_int_equal(s->ops->describe(s, &sink, NULL), OK);
    s->ops->close(s);
    assert_near(rec.gpus[0].rate_hz, 0.1, 0);
    assert_contains(rec.notes, "0.1 times a second, not 1e-06");
}

/* Mean of a wave that is high in the first quarter of each period (phase 0 = the UNIX epoch). */
static double mean_of_square(int64_t t0, int64_t t1, double low, double high, int64_t period)
{
    int64_t on = 0, quarter = period / 4;
    for (int64_t p = t0 - t0 % period; p < t1; p += period) {
        int64_t a = p > t0 ? p : t0, b = p + quarter < t1 ? p + quarter : t1;
        on += b > a ? b - a : 0;
    }
    return low + (high - low) * (double)on / (double)(t1 - t0);
}

/* A value is the mean between its own two times. */
static void test_mean_of_a_square_wave(void **state)
{
    (void)state;
    run_well("gpm.2 = square 10 90 0.5 0.25\n", 12);
    const struct seen *s = &rec.gpus[0];
    double lowest = 1, highest = 0;
    for (unsigned i = 0; i < s->samples; i++) {
        double mean = mean_of_square(s->t0_ns[i], s->t1_ns[i], 0.1, 0.9, 500000000);
        double v = s->values[METRIC_SM_ACTIVE][i];
        assert_near(v, mean, 0.03);
        lowest = fmin(lowest, v);
        highest = fmax(highest, v);
    }
    assert_true(lowest < 0.2 && highest > 0.5); /* the wave was seen */
}

/* ---- what is missing ----------------------------------------------------------------------- */

#define NEEDS "GPM needs a Hopper or newer data-centre GPU, or GeForce/RTX Blackwell"

static void test_unsupported_beside_supported(void **state)
{
    (void)state;
    run_well("[gpu]\ngpm = no\n[gpu]\n[gpu]\nnvmlDeviceGetMigMode = 1\n", 2);
    assert_int_equal(rec.gpus[0].samples, 0);
    assert_int_equal(rec.gpus[1].samples, 2);
    assert_int_equal(rec.gpus[2].samples, 0);
    for (size_t i = 0; i < EXPECTED; i++) {
        enum metric m = expected[i].metric;
        assert_int_equal(rec.gpus[0].last[m], VALUE_UNSUPPORTED);
        assert_string_equal(rec.gpus[0].reason[m], NEEDS);
        assert_int_equal(rec.gpus[2].last[m], VALUE_UNSUPPORTED);
        assert_contains(rec.gpus[2].reason[m], "MIG is on");
    }
    assert_int_equal(rec.gpus[0].n_series, EXPECTED);
}

static void test_cannot_open(void **state)
{
    (void)state;
    static const unsigned high[] = {3};
    struct error err = ERROR_INIT;
    assert_int_equal(open_fails("gpus = 2\ngpm = no\n", &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, "GPU 0: " NEEDS);
    assert_int_equal(open_fails("fail = nvmlGpmQueryDeviceSupport:4\n", &err), ERR_PERMISSION);
    assert_int_equal(open_fails("fail = nvmlGpmSampleAlloc:20:2\n", &err), ERR_VENDOR);
    assert_contains(err.text, "nvmlGpmSampleAlloc: out of memory");
    assert_int_equal(open_fails("lost = yes\n", &err), ERR_VENDOR);
    assert_contains(err.text, "GPU 0 fell off the bus");
    request.gpus = high;
    request.n_gpus = 1;
    assert_int_equal(open_fails("", &err), ERR_NO_GPU);
    assert_contains(err.text, "no GPU 3");
    request.n_gpus = 0;
    options.library = FAKES_DIR "/nvml_old/libnvidia-ml.so.1";
    assert_int_equal(open_fails("", &err), ERR_UNSUPPORTED);
    assert_contains(err.text, "this driver has no GPM");
    options.library = "/no/such/library";
    assert_int_equal(open_fails("", &err), ERR_NO_GPU);
    gpm_ops.close(NULL);
}

/* ---- what fails ---------------------------------------------------------------------------- */

/* A metric that never comes: after three tries it says why. The others do not mind. */
static void test_metric_that_never_comes(void **state)
{
    (void)state;
    run_well("nvmlDeviceGetNvLinkState.5 = 1\ngpm.7 = error 3\ngpm.10 = error 4\ngpm.3 = -1\ngpm.1 "
             "= nan\n",
             4);
    const struct seen *s = &rec.gpus[0];
    static const struct {
        enum metric metric;
        enum value_state state;
        const char *reason;
    } rows[] = {
        {METRIC_TENSOR_HMMA_ACTIVE, VALUE_UNSUPPORTED, "not supported by this GPU"},
        {METRIC_DRAM_THROUGHPUT, VALUE_NO_PERMISSION, "no permission"},
        {METRIC_OCCUPANCY, VALUE_UNSUPPORTED, "no possible number"},
        {METRIC_GR_ACTIVE, VALUE_UNSUPPORTED, "no possible number"},
        {METRIC_NVLINK_RX, VALUE_UNSUPPORTED, "not supported by this GPU"}, /* not in the script */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum metric m = rows[i].metric;
        assert_int_equal(s->n_states[m], 2);
        assert_int_equal(s->states[m][0], VALUE_WARMING);
        assert_int_equal(s->last[m], rows[i].state);
        assert_contains(s->reason[m], rows[i].reason);
        for (unsigned k = 0; k < s->samples; k++)
            assert_true(isnan(s->values[m][k]));
    }
    assert_int_equal(s->last[METRIC_SM_ACTIVE], VALUE_OK);
    assert_int_equal(s->plans, 3); /* warming; ok; given up */
}

/* One empty reading is a hole, three in a row are a failure; both end. */
static void test_metrics_fail_and_recover(void **state)
{
    (void)state;
    run_well("fail = nvmlGpmMetricsGet:999:2\n"
             "fail = nvmlGpmMetricsGet:999:4\nfail = nvmlGpmMetricsGet:999:5\n"
             "fail = nvmlGpmMetricsGet:999:6\nfail = nvmlGpmMetricsGet:999:7\n",
             6);
    const struct seen *s = &rec.gpus[0];
    static const enum value_state states[] = {VALUE_WARMING, VALUE_OK, VALUE_FAILED, VALUE_OK};
    assert_int_equal(s->n_states[METRIC_SM_ACTIVE], 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s->states[METRIC_SM_ACTIVE][i], states[i]);
    /* rounds 1 to 5 have samples, in 2, 4 and 5 without a number; 6 and 7 have none */
    assert_near(s->values[METRIC_SM_ACTIVE][0], 0.86, 1e-12);
    assert_true(isnan(s->values[METRIC_SM_ACTIVE][1]));
    assert_near(s->values[METRIC_SM_ACTIVE][2], 0.86, 1e-12);
    assert_true(isnan(s->values[METRIC_SM_ACTIVE][3]) && isnan(s->values[METRIC_SM_ACTIVE][4]));
    assert_near(s->values[METRIC_SM_ACTIVE][5], 0.86, 1e-12);
    assert_true(s->t0_ns[5] > s->t1_ns[4]);
}

static void stop_after_twenty_beats(const struct event *e)
{
    (void)e;
    if (rec.beats == 20)
        rec.stop.raised = 1;
}

/* Nothing to say is no reason to be silent. */
static void test_beats_when_nothing_comes(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    rec.on_event = stop_after_twenty_beats;
    assert_int_equal(run("fail = nvmlGpmMetricsGet:999\n", &err), OK);
    assert_int_equal(rec.gpus[0].last[METRIC_SM_ACTIVE], VALUE_UNSUPPORTED);
    assert_int_equal(rec.samples, 0);
    assert_true(rec.longest_silence_ns < 1000000000);
}

/* The driver takes the permission away for a while, as was seen in containers. */
static void test_sample_fails_and_recovers(void **state)
{
    (void)state;
    run_well("fail = nvmlGpmSampleGet:4:4\nfail = nvmlGpmSampleGet:4:5\n", 4);
    const struct seen *s = &rec.gpus[0];
    static const enum value_state states[] = {VALUE_WARMING, VALUE_OK, VALUE_NO_PERMISSION,
                                              VALUE_OK};
    assert_int_equal(s->n_states[METRIC_SM_ACTIVE], 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s->states[METRIC_SM_ACTIVE][i], states[i]);
    for (unsigned i = 0; i < 4; i++)
        assert_near(s->values[METRIC_SM_ACTIVE][i], 0.86, 1e-12);
    /* samples 1, 2, 3 | 6, 7, 8: what lies between 3 and 6 was not measured */
    assert_int_equal(s->t0_ns[1], s->t1_ns[0]);
    assert_true(s->t0_ns[2] - s->t1_ns[1] > INT64_C(300000000));
    assert_true(s->t1_ns[2] - s->t0_ns[2] < INT64_C(300000000));
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

    /* started anew, the other one is read, and the plan says what is with this one */
    reset(NULL);
    run_well(script, 2);
    assert_int_equal(rec.gpus[0].samples, 2);
    assert_int_equal(rec.gpus[1].last[METRIC_SM_ACTIVE], VALUE_FAILED);
    assert_contains(rec.gpus[1].reason[METRIC_SM_ACTIVE], "GPU 1 fell off the bus");
    unlink(at("gone"));
}

/* ---- sleep --------------------------------------------------------------------------------- */

#define DEVICE "sys/bus/pci/devices/0000:01:00.0"

static void make_device(const char *power)
{
    static const char *const parts[] = {
        "sys", "sys/bus", "sys/bus/pci", "sys/bus/pci/devices", DEVICE, DEVICE "/power", "dev"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        mkdir(at(parts[i]), 0700);
    write_file(DEVICE "/vendor", "0x10de\n");
    write_file(DEVICE "/class", "0x030200\n");
    write_file(DEVICE "/power/runtime_status", power);
    unlink(at(DEVICE "/driver"));
    assert_int_equal(symlink("../../drivers/nvidia", at(DEVICE "/driver")), 0);
    write_file("dev/nvidia0", "");
}

static int remove_device(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        execlp("rm", "rm", "-rf", at("sys"), at("dev"), at("gone"), (char *)NULL);
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

static void stop_after_two_beats(const struct event *e)
{
    (void)e;
    if (rec.beats == 2)
        rec.stop.raised = 1;
}

static void wake(const struct event *e)
{
    (void)e;
    if (rec.beats == 1)
        write_file(DEVICE "/power/runtime_status", "active\n");
}

static void test_asleep_from_the_start(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    make_device("suspended\n");
    rec.on_event = stop_after_two_beats;
    assert_int_equal(run("fail = nvmlInit_v2:999\n", &err), OK);
    assert_int_equal(rec.gpus[0].last[METRIC_SM_ACTIVE], VALUE_UNSUPPORTED);
    assert_contains(rec.gpus[0].reason[METRIC_SM_ACTIVE], "the GPU sleeps");

    reset(NULL);
    rec.on_event = wake;
    run_well("", 2);
    static const enum value_state states[] = {VALUE_UNSUPPORTED, VALUE_WARMING, VALUE_OK};
    assert_int_equal(rec.gpus[0].n_states[METRIC_SM_ACTIVE], 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rec.gpus[0].states[METRIC_SM_ACTIVE][i], states[i]);
}

/* Asleep after the second sample, for two beats. A call in that time ends the run as "lost". */
static void sleep_and_wake(const struct event *e)
{
    static unsigned beats;
    if (e->kind == EVENT_SAMPLES && rec.samples == 2) {
        beats = rec.beats;
        write_file("gone", "");
        write_file(DEVICE "/power/runtime_status", "suspended\n");
    } else if (rec.samples == 2 && rec.beats == beats + 2) {
        unlink(at("gone"));
        write_file(DEVICE "/power/runtime_status", "active\n");
    }
}

static void test_sleeps_and_wakes(void **state)
{
    (void)state;
    char script[300];
    make_device("active\n");
    rec.on_event = sleep_and_wake;
    snprintf(script, sizeof script, "lost = file %s\n", at("gone"));
    run_well(script, 4);
    const struct seen *s = &rec.gpus[0];
    static const enum value_state states[] = {VALUE_WARMING, VALUE_OK, VALUE_UNSUPPORTED,
                                              VALUE_WARMING, VALUE_OK};
    assert_int_equal(s->n_states[METRIC_SM_ACTIVE], 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(s->states[METRIC_SM_ACTIVE][i], states[i]);
    assert_true(s->t0_ns[2] - s->t1_ns[1] > INT64_C(200000000)); /* its sleep is not covered */
}

#define TEST(f)       cmocka_unit_test_setup(f, reset)
#define TEST_SLEEP(f) cmocka_unit_test_setup_teardown(f, reset, remove_device)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_value),
        TEST(test_no_nvlink_is_no_zero),
        TEST(test_interval_has_a_floor),
        TEST(test_default_rate),
        TEST(test_slowest_rate),
        TEST(test_mean_of_a_square_wave),
        TEST(test_unsupported_beside_supported),
        TEST(test_cannot_open),
        TEST(test_metric_that_never_comes),
        TEST(test_metrics_fail_and_recover),
        TEST(test_beats_when_nothing_comes),
        TEST(test_sample_fails_and_recovers),
        TEST(test_gpu_lost),
        TEST_SLEEP(test_asleep_from_the_start),
        TEST_SLEEP(test_sleeps_and_wakes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
