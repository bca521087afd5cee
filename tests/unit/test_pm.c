/* SPDX-License-Identifier: MIT */
/* The source pm on the fake libraries, as its sampler process sees them. CUPTI stays loaded until a
 * process ends, so each test runs in a process of its own. */
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#include "base/clock.h"
#include "source/pm/pm.h"

/* ---- a process of its own ---- */

/* In the child: prints what is wrong and ends. */
#define check(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define check_near(a, b, tolerance)                                                                \
    do {                                                                                           \
        double a_ = (a), b_ = (b);                                                                 \
        if (!(fabs(a_ - b_) <= (tolerance))) {                                                     \
            fprintf(stderr, "%s:%d: %s is %.12g, expected %.12g\n", __FILE__, __LINE__, #a, a_,    \
                    b_);                                                                           \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define check_text(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr(text, part)) {                                                                 \
            fprintf(stderr, "%s:%d: \"%s\" does not contain \"%s\"\n", __FILE__, __LINE__, text,   \
                    part);                                                                         \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static char script[] = "/tmp/smeff-test-pm-XXXXXX";

static int make_script(void **state)
{
    (void)state;
    int fd = mkstemp(script);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static int remove_script(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.lock.%d", script, i);
        unlink(path);
    }
    return unlink(script);
}

static void write_script(const char *text)
{
    FILE *f = fopen(script, "w");
    check(f && fputs(text, f) >= 0 && fclose(f) == 0);
    setenv("FAKE_GPU", script, 1);
}

/* libcuda is found by its name where it is loaded already. */
static void play(const char *text)
{
    write_script(text);
    check(dlopen(FAKES_DIR "/cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL));
}

static pid_t begin(void (*test)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGALRM};
        for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
            signal(signals[i], SIG_DFL);
        alarm(20);
        test();
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void run_in_child(void (*test)(void))
{
    int status = wait_for(begin(test));
    if (WIFSIGNALED(status))
        fail_msg("killed by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- what the source says ---- */

enum { SAMPLES_MAX = 20000 };

static struct {
    struct event_gpu gpu;
    char text[4][96];
    size_t plans, series, beats, batches, n;
    int64_t heard_ns, silence_ns; /* when the last event came; the longest time without one */
    struct {
        int metric;
        enum value_state state;
        char reason[200], counter[120];
    } plan[METRIC_COUNT];
    double rate_hz;
    char notes[4000];
    int64_t t0[SAMPLES_MAX], t1[SAMPLES_MAX], came[SAMPLES_MAX];
    double values[METRIC_COUNT][SAMPLES_MAX];
    bool has[METRIC_COUNT];
} seen;

static struct source_stop stop;

static void take_plan(const struct event_plan *p)
{
    seen.plans++;
    seen.series = p->n;
    seen.rate_hz = p->rate_hz;
    check(p->source == SOURCE_PM && p->n <= METRIC_COUNT);
    for (size_t i = 0; i < p->n; i++) {
        seen.plan[i].metric = p->series[i].metric;
        seen.plan[i].state = p->series[i].state;
        snprintf(seen.plan[i].reason, 200, "%s", p->series[i].reason);
        snprintf(seen.plan[i].counter, 120, "%s", p->series[i].counter);
    }
}

static void take_samples(const struct event_samples *s)
{
    check(s->source == SOURCE_PM && seen.n + s->n <= SAMPLES_MAX);
    seen.batches++;
    for (size_t i = 0; i < s->n; i++) {
        seen.t0[seen.n + i] = s->t0_ns[i];
        seen.t1[seen.n + i] = s->t1_ns[i];
        seen.came[seen.n + i] = clock_unix_ns();
    }
    for (size_t c = 0; c < s->columns; c++) {
        check(s->series[c] < seen.series);
        check(seen.plan[s->series[c]].state == VALUE_OK);
        int m = seen.plan[s->series[c]].metric;
        seen.has[m] = true;
        for (size_t i = 0; i < s->n; i++)
            seen.values[m][seen.n + i] = s->values[c * s->stride + i];
    }
    seen.n += s->n;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    (void)self, (void)err;
    int64_t now_ns = clock_monotonic_ns();
    if (seen.heard_ns && now_ns - seen.heard_ns > seen.silence_ns)
        seen.silence_ns = now_ns - seen.heard_ns;
    seen.heard_ns = now_ns;
    if (ev->kind == EVENT_GPU) {
        const char *from[] = {ev->u.gpu.name, ev->u.gpu.uuid, ev->u.gpu.chip, ev->u.gpu.pci_bus};
        for (int i = 0; i < 4; i++)
            snprintf(seen.text[i], sizeof seen.text[i], "%s", from[i]);
        seen.gpu.gpu = ev->u.gpu.gpu;
    } else if (ev->kind == EVENT_PLAN) {
        take_plan(&ev->u.plan);
    } else if (ev->kind == EVENT_SAMPLES) {
        take_samples(&ev->u.samples);
    } else if (ev->kind == EVENT_BEAT) {
        seen.beats++;
    } else if (ev->kind == EVENT_NOTE) {
        size_t used = strlen(seen.notes);
        snprintf(seen.notes + used, sizeof seen.notes - used, "%s\n", ev->u.note.text);
    }
    return OK;
}

static const struct event_sink sink = {take, NULL};

static void on_timer(int number)
{
    (void)number;
    stop.raised = 1;
}

static const unsigned gpu_0[] = {0}, gpu_1[] = {1}, gpu_5[] = {5}, both[] = {0, 1};

static struct source_request request(void)
{
    return (struct source_request){
        .gpus = gpu_0, .n_gpus = 1, .rate_hz = 50, .cupti_dir = FAKES_DIR "/cupti"};
}

/* Raises stop after so long. Not by a process of its own: that would inherit the counters' lock. */
static void start_timer(double seconds)
{
    struct sigaction action = {.sa_handler = on_timer};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec when = {.it_value.tv_sec = (time_t)seconds};
    timer_t timer;
    when.it_value.tv_nsec = (long)((seconds - (double)when.it_value.tv_sec) * 1e9);
    sigaction(SIGUSR1, &action, NULL);
    check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    check(timer_settime(timer, 0, &when, NULL) == 0);
}

/* Runs the source for so long; returns how it ended. */
static enum status sample(const struct source_request *r, double seconds, struct error *err)
{
    struct source *s = NULL;
    enum status st = pm_ops.open(&s, r, err);
    if (st)
        return st;
    start_timer(seconds);
    st = pm_ops.describe(s, &sink, err);
    if (!st)
        st = pm_ops.run(s, &sink, &stop, err);
    pm_ops.close(s);
    return st;
}

static void sample_well(const struct source_request *r, double seconds)
{
    struct error err = ERROR_INIT;
    if (sample(r, seconds, &err)) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
}

static void expect_refusal(const struct source_request *r, enum status status, const char *part)
{
    struct error err = ERROR_INIT;
    struct source *s = NULL;
    enum status st = pm_ops.open(&s, r, &err);
    if (st != status)
        fprintf(stderr, "status %s: %s\n", status_name(st), err.text);
    check(st == status);
    check_text(err.text, part);
    check(!s);
}

/* Each sample begins where the one before ended, but in breaks places. */
static void check_times(int64_t interval_ns, size_t breaks)
{
    size_t found = 0;
    for (size_t i = 0; i < seen.n; i++) {
        check(seen.t1[i] - seen.t0[i] == interval_ns);
        check(i == 0 || seen.t0[i] >= seen.t1[i - 1]);
        found += i && seen.t0[i] != seen.t1[i - 1];
    }
    check(found == breaks);
}

static void check_value(enum metric m, double expected)
{
    check(seen.has[m]);
    for (size_t i = 0; i < seen.n; i++)
        check_near(seen.values[m][i], expected, 1e-9 * fabs(expected));
}

/* ---- tests: values ---- */

static void values_in_units_of_the_catalogue(void)
{
    struct source_request r = request();
    play("");
    sample_well(&r, 0.6);
    check(seen.n >= 20);
    check_value(METRIC_GR_ACTIVE, 0.98);
    check_value(METRIC_SM_ACTIVE, 0.86);
    check_value(METRIC_SM_ISSUE, 0.008);
    check_value(METRIC_OCCUPANCY, 0.12);
    check_value(METRIC_TENSOR_ACTIVE, 0.033);
    check_value(METRIC_DRAM_READ, 0.82);
    check_value(METRIC_DRAM_WRITE, 0.01);
    check_value(METRIC_DRAM_READ_BYTES, 3.95e12);
    check_value(METRIC_PCIE_RX, 2e6);
    check_value(METRIC_PCIE_TX, 9e6);
    check_value(METRIC_GPC_CLOCK, 1.98e9);
    check(!seen.has[METRIC_NVLINK_RX]); /* this GPU has none: no number, not 0 */
}

/* The first sample covers the set-up time, with a ten-thousand-millionth of the truth. */
static void the_first_sample_is_dropped(void)
{
    struct source_request r = request();
    play("setup = 0.7\n");
    sample_well(&r, 0.5);
    check(seen.n >= 15);
    check_times(20000000, 0);
    check_value(METRIC_SM_ACTIVE, 0.86);
}

/* A ramp of 1000 s: the mean over a sample is the value in its middle. */
static void values_belong_to_their_times(void)
{
    struct source_request r = request();
    play("pm.sm__cycles_active = ramp 0 100 1000\n");
    sample_well(&r, 0.6);
    check(seen.n >= 20);
    for (size_t i = 0; i < seen.n; i++) {
        int64_t middle = (seen.t0[i] + seen.t1[i]) / 2 % INT64_C(1000000000000);
        check_near(seen.values[METRIC_SM_ACTIVE][i], (double)middle * 1e-12, 1e-7);
    }
}

static void samples_are_fresh(void)
{
    struct source_request r = request();
    play("");
    sample_well(&r, 0.7);
    int64_t age = clock_unix_ns() - seen.t1[seen.n - 1];
    check(age < 400000000); /* of the last decode, which was up to 131 ms before the end */
    check(seen.batches >= 3);
}

static void what_is_no_number_stays_none(void)
{
    struct source_request r = request();
    play("pm.pcie__read_bytes.sum.per_second = nan\n");
    sample_well(&r, 0.4);
    check(seen.n > 0 && seen.has[METRIC_PCIE_RX]);
    for (size_t i = 0; i < seen.n; i++)
        check(isnan(seen.values[METRIC_PCIE_RX][i]));
    check_value(METRIC_PCIE_TX, 9e6);
}

static void a_thousand_a_second(void)
{
    struct source_request r = request();
    r.rate_hz = 1000;
    play("");
    sample_well(&r, 1.5);
    check(seen.n > 1000);
    check_times(1000000, 0);
    check(!strstr(seen.notes, "overflow"));
}

static void chips_that_count_cycles(void)
{
    struct source_request r = request();
    play("chip = GA100\n");
    sample_well(&r, 0.5); /* the fake refuses the time trigger there */
    check(seen.n > 5);
    check_value(METRIC_SM_ACTIVE, 0.86);
}

/* ---- tests: what it says ---- */

static void the_plan_has_every_metric(void)
{
    struct source_request r = request();
    size_t i = 0;
    play("");
    sample_well(&r, 0.2);
    check(seen.plans == 1 && seen.gpu.gpu == 0);
    check_text(seen.text[0], "NVIDIA H200");
    check_text(seen.text[1], "GPU-00000000-0000-0000-0000-000000000001");
    check_text(seen.text[2], "GH100");
    check_text(seen.text[3], "0000:01:00.0");
    check_near(seen.rate_hz, 50, 0);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (pm_ops.covers((enum metric)m)) {
            check(i < seen.series && seen.plan[i].metric == m);
            check((seen.plan[i].state == VALUE_OK) == (seen.plan[i].reason[0] == '\0'));
            check((seen.plan[i].state == VALUE_OK) == (seen.plan[i].counter[0] != '\0'));
            i++;
        }
    check(i == seen.series);
    check_text(seen.notes, "pm: CUPTI interface 130001 from " FAKES_DIR "/cupti/libcupti.so.13 "
                           "(--cupti), ");
}

static void two_gpus(void)
{
    struct source_request r = request();
    r.gpus = gpu_1;
    setenv("CUDA_VISIBLE_DEVICES", "1", 1); /* hides GPUs from CUPTI, too: not for us */
    play("[gpu]\nname = one\n[gpu]\nname = two\npm.sm__cycles_active = 50\n");
    sample_well(&r, 0.4);
    check(seen.gpu.gpu == 1);
    check_text(seen.text[0], "two");
    check_text(seen.text[1], "000000000002");
    check_value(METRIC_SM_ACTIVE, 0.5);
}

static void close_takes_nothing(void)
{
    pm_ops.close(NULL);
}

/* ---- tests: refusals ---- */

static void rates_beyond_the_limits(void)
{
    struct source_request r = request();
    play("");
    r.rate_hz = 0.5;
    expect_refusal(&r, ERR_USAGE, "1 to 20000 times a second");
    r.rate_hz = 20001;
    expect_refusal(&r, ERR_USAGE, "1 to 20000 times a second");
    r.rate_hz = 50;
    r.gpus = both;
    r.n_gpus = 2;
    expect_refusal(&r, ERR_USAGE, "one GPU");
}

static void no_such_gpu(void)
{
    struct source_request r = request();
    r.gpus = gpu_5;
    play("");
    expect_refusal(&r, ERR_NO_GPU, "no GPU 5: this machine has 1");
}

static void no_gpu_at_all(void)
{
    struct source_request r = request();
    play("gpus = 0\n");
    expect_refusal(&r, ERR_NO_GPU, "");
}

static void no_driver(void)
{
    struct source_request r = request();
    write_script("");
    void *real = dlopen("libcuda.so.1", RTLD_LAZY);
    if (real) /* a machine with a driver cannot show this */
        return;
    expect_refusal(&r, ERR_NO_GPU, "no NVIDIA driver");
}

static void counters_held_by_another_process(void)
{
    struct source_request r = request();
    char lock[64];
    play("");
    snprintf(lock, sizeof lock, "%s.lock.0", script);
    FILE *f = fopen(lock, "w");
    check(f && flock(fileno(f), LOCK_EX) == 0);
    expect_refusal(&r, ERR_BUSY, "another program holds this GPU's counters");
    /* free again, and the refusal left nothing behind */
    fclose(f);
    sample_well(&r, 0.4);
    check(seen.n > 0);
}

/* Between asking which counters there are and taking them. */
static void taken_in_the_last_moment(void)
{
    struct source_request r = request();
    play("fail = cuptiPmSamplingSetConfig:26\n");
    expect_refusal(&r, ERR_BUSY, "HARDWARE_BUSY, 26");
}

static void no_permission(void)
{
    struct source_request r = request();
    play("denied = yes\n");
    expect_refusal(&r, ERR_PERMISSION, "no permission to read the GPU's counters");
}

static void cupti_too_old(void)
{
    struct source_request r = request();
    play("cupti_version = 24\n");
    expect_refusal(&r, ERR_UNSUPPORTED, "is too old: interface version 24, needed is 26");
}

static void half_a_cupti(void)
{
    struct source_request r = request();
    play("");
    r.cupti_dir = FAKES_DIR "/cupti_alone";
    expect_refusal(&r, ERR_NOT_FOUND, "libnvperf_host.so");
    r.cupti_dir = FAKES_DIR "/cupti_broken";
    expect_refusal(&r, ERR_UNSUPPORTED, "cuptiPmSamplingDecodeData");
    r.cupti_dir = FAKES_DIR "/nothing";
    expect_refusal(&r, ERR_NOT_FOUND, "/nothing");
    r.cupti_dir = FAKES_DIR "/cupti_new";
    sample_well(&r, 0.4);
    check(seen.n > 0);
}

/* Every call of the start that fails leaves the counters free. */
static void every_call_failing_in_turn(void)
{
    static const char *const calls[] = {
        "cuptiProfilerInitialize",
        "cuptiDeviceGetChipName",
        "cuptiPmSamplingGetCounterAvailability",
        "cuptiPmSamplingEnable",
        "cuptiPmSamplingSetConfig",
        "cuptiPmSamplingGetCounterDataSize",
        "cuptiPmSamplingCounterDataImageInitialize",
        "cuptiPmSamplingStart",
    };
    struct source_request r = request();
    char text[1200] = "";
    for (size_t i = 0, used = 0; i < sizeof calls / sizeof calls[0]; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "fail = %s:999:%d\n", calls[i], 1);
    play(text);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        expect_refusal(&r, ERR_VENDOR, calls[i]);
    sample_well(&r, 0.4);
    check(seen.n > 0);
}

/* ---- tests: trouble while it runs ---- */

/* Room for 32 samples (0.64 s), and one decode that comes a second late. */
static void an_overflow_is_told_and_survived(void)
{
    struct source_request r = request();
    play("sample_bytes = 1e6\ndelay = cuptiPmSamplingDecodeData:1:3\n");
    sample_well(&r, 2.2);
    check_text(seen.notes, "pm: the hardware buffer overflowed; sampling was started again, about");
    check(seen.n > 40);
    check_times(20000000, 1);
    check_value(METRIC_SM_ACTIVE, 0.86); /* the new start's set-up sample is dropped, too */
    double lost = 0;
    const char *about = strstr(seen.notes, "about ");
    check(about && sscanf(about, "about %lf s", &lost) == 1);
    check(lost > 0.2 && lost < 1.5);
}

static void overflows_without_an_end(void)
{
    struct source_request r = request();
    struct error err = ERROR_INIT;
    play("sample_bytes = 1e7\n"); /* room for three samples, and a decode brings six */
    check(sample(&r, 10, &err) == ERR_IO);
    check_text(err.text, "ask for fewer counters or a lower rate");
}

/* A decode that comes late brings more than the image holds: it takes several. */
static void a_late_decode_loses_nothing(void)
{
    struct source_request r = request();
    r.rate_hz = 200;
    play("delay = cuptiPmSamplingDecodeData:0.7:3\n");
    sample_well(&r, 1.5);
    check(seen.n > 200);
    check_times(5000000, 0);
}

/* How old is a sample when it comes? */
static double youngest_age_s(void)
{
    double youngest = 1e9;
    for (size_t i = 0; i < seen.n; i++)
        youngest = fmin(youngest, (double)(seen.came[i] - seen.t1[i]) * 1e-9);
    return youngest;
}

/* With a costly counter the SM counters of the newest sample are not all in yet (seen on an H200):
 * it comes with the one behind it. */
static void heavy_sets_hold_the_newest_sample_back(void)
{
    static const enum metric extra[] = {METRIC_SM_THROUGHPUT};
    struct source_request r = request();
    r.rate_hz = 4;
    r.extra = extra;
    r.n_extra = 1;
    play("");
    sample_well(&r, 1.6);
    check(seen.n >= 3);
    check(youngest_age_s() >= 0.25);
    check_times(250000000, 0);
    check_value(METRIC_SM_ACTIVE, 0.86);
    check_value(METRIC_SM_THROUGHPUT, 0.34);
}

/* With many SM counters the first sample of each emptied image lacks some (seen on an H200: a full
 * tensor pipe read 97 % on average, two samples in 76 read 0). */
static void wide_sets_drop_the_first_sample_of_an_image(void)
{
    struct source_request r = request();
    r.rate_hz = 1000;
    r.set = SET_WIDE;
    play("corrupt_first = yes\n");
    sample_well(&r, 3.2);
    check(seen.n > 1500); /* the image was emptied at least once */
    check_value(METRIC_TENSOR_ACTIVE, 0.033);
    check_value(METRIC_FMA_ACTIVE, 0.08);
    check_value(METRIC_SM_ACTIVE, 0.86);
}

static void light_sets_hold_nothing_back(void)
{
    struct source_request r = request();
    r.rate_hz = 4;
    play("");
    sample_well(&r, 1.6);
    check(seen.n >= 4);
    check(youngest_age_s() < 0.2);
}

/* A decode costs much and is worth the same whenever it comes: just after a sample has ended. */
static void decodes_wait_for_the_end_of_a_sample(void)
{
    struct source_request r = request();
    r.rate_hz = 10;
    play("");
    for (int attempt = 0; attempt < 5; attempt++) { /* a busy machine wakes late */
        double late = 0;
        memset(&seen, 0, sizeof seen);
        stop.raised = 0;
        sample_well(&r, 2.5);
        for (size_t i = 0; i < seen.n; i++)
            late += (double)(seen.came[i] - seen.t1[i]) * 1e-9 > 0.03;
        if (seen.n >= 15 && late <= (double)seen.n / 4) /* by chance it would be two thirds */
            return;
    }
    fprintf(stderr, "decodes do not come just after a sample has ended\n");
    _exit(1);
}

static void a_gpu_that_is_lost(void)
{
    struct source_request r = request();
    struct error err = ERROR_INIT;
    play("lost = after 0.6\n");
    enum status st = sample(&r, 5, &err);
    check(st == ERR_VENDOR && err.native == 999);
    check(seen.n > 0);
    check_text(err.text, "cuptiPmSampling");
}

static enum status refuse(void *self, const struct event *ev, struct error *err)
{
    (void)self;
    return ev->kind == EVENT_SAMPLES ? fail(err, ERR_IO, 0, "nobody reads") : OK;
}

static void nobody_reads(void)
{
    static const struct event_sink deaf = {refuse, NULL};
    struct source_request r = request();
    struct error err = ERROR_INIT;
    struct source *s = NULL;
    play("");
    check(pm_ops.open(&s, &r, &err) == OK);
    check(pm_ops.run(s, &deaf, &stop, &err) == ERR_IO);
    check_text(err.text, "nobody reads");
    pm_ops.close(s);
}

/* Something at least once a second, also at the slowest rate. */
static void it_is_never_silent(void)
{
    struct source_request r = request();
    r.rate_hz = 1;
    play("");
    sample_well(&r, 3.3);
    check(seen.beats >= 2);
    check(seen.n >= 1);
    check(seen.silence_ns < INT64_C(1000000000));
}

static void sample_until_death(void)
{
    struct source_request r = request();
    struct error err = ERROR_INIT;
    play("crash = cuptiPmSamplingDecodeData:3\n");
    sample(&r, 10, &err);
}

static void sample_and_hang(void)
{
    struct source_request r = request();
    struct error err = ERROR_INIT;
    play("hang = cuptiPmSamplingDecodeData:3\n");
    sample(&r, 0.6, &err);
}

static void sample_some(void)
{
    struct source_request r = request();
    play("");
    sample_well(&r, 0.4);
    check(seen.n > 0);
}

static void a_crash_ends_the_process_only(void **state)
{
    (void)state;
    int status = wait_for(begin(sample_until_death));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    run_in_child(sample_some); /* and the counters are free */
}

/* A call that never returns does not see the wish to stop; killing helps, and frees the counters.
 */
static void a_hang_takes_a_kill(void **state)
{
    (void)state;
    int status = 0;
    pid_t pid = begin(sample_and_hang);
    usleep(1500000);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    kill(pid, SIGKILL);
    status = wait_for(pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    run_in_child(sample_some);
}

#define IN_CHILD(test)                                                                             \
    static void in_child_##test(void **state)                                                      \
    {                                                                                              \
        (void)state;                                                                               \
        run_in_child(test);                                                                        \
    }

#define TESTS(X)                                                                                   \
    X(values_in_units_of_the_catalogue)                                                            \
    X(the_first_sample_is_dropped)                                                                 \
    X(values_belong_to_their_times)                                                                \
    X(samples_are_fresh)                                                                           \
    X(what_is_no_number_stays_none)                                                                \
    X(a_thousand_a_second)                                                                         \
    X(chips_that_count_cycles)                                                                     \
    X(the_plan_has_every_metric)                                                                   \
    X(two_gpus)                                                                                    \
    X(close_takes_nothing)                                                                         \
    X(rates_beyond_the_limits)                                                                     \
    X(no_such_gpu)                                                                                 \
    X(no_gpu_at_all)                                                                               \
    X(no_driver)                                                                                   \
    X(counters_held_by_another_process)                                                            \
    X(taken_in_the_last_moment)                                                                    \
    X(no_permission)                                                                               \
    X(cupti_too_old)                                                                               \
    X(half_a_cupti)                                                                                \
    X(every_call_failing_in_turn)                                                                  \
    X(an_overflow_is_told_and_survived)                                                            \
    X(overflows_without_an_end)                                                                    \
    X(a_late_decode_loses_nothing)                                                                 \
    X(heavy_sets_hold_the_newest_sample_back)                                                      \
    X(wide_sets_drop_the_first_sample_of_an_image)                                                 \
    X(light_sets_hold_nothing_back)                                                                \
    X(decodes_wait_for_the_end_of_a_sample)                                                        \
    X(a_gpu_that_is_lost)                                                                          \
    X(nobody_reads)                                                                                \
    X(it_is_never_silent)

TESTS(IN_CHILD)

int main(void)
{
#define T(test) {#test, in_child_##test, NULL, NULL, NULL},
    const struct CMUnitTest tests[] = {
        TESTS(T) cmocka_unit_test(a_crash_ends_the_process_only),
        cmocka_unit_test(a_hang_takes_a_kill),
    };
    return cmocka_run_group_tests(tests, make_script, remove_script);
}
