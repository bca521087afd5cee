/* SPDX-License-Identifier: MIT */
/* Windows that roll: what a daemon and a panel show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#include "collect/collect.h"

static const int64_t s1 = 1000000000;
static const int64_t begin = 1800000000 * INT64_C(1000000000);

static struct collector *c;
static struct event_sink sink;

static void plan(enum source_id source, double rate_hz, size_t n, const struct plan_series *series)
{
    struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.gpu = 0, .source = source, .rate_hz = rate_hz, .n = n, .series = series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

static const struct plan_series sm[] = {
    {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0}};
static const struct plan_series driver[] = {
    {METRIC_POWER, "power", UNIT_WATTS, VALUE_OK, "", "", 0},
    {METRIC_ENERGY, "energy", UNIT_JOULES, VALUE_OK, "", "", 0}};

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(collector_create(&c, NULL), OK);
    sink = collector_sink(c);
    struct event gpu = {.kind = EVENT_GPU,
                        .u.gpu = {.name = "x", .uuid = "u", .chip = "", .pci_bus = ""}};
    assert_int_equal(event_push(&sink, &gpu, NULL), OK);
    plan(SOURCE_PM, 50, 1, sm);
    plan(SOURCE_NVML, 1, 2, driver);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    collector_destroy(c);
    return 0;
}

/* n samples of 20 ms from t0 on. */
static void pm(double t0_s, size_t n, double value)
{
    static const uint32_t column[] = {0};
    int64_t t0[500], t1[500];
    double v[500];
    for (size_t i = 0; i < n; i++) {
        t0[i] = begin + (int64_t)(t0_s * 1e9) + (int64_t)i * 20000000;
        t1[i] = t0[i] + 20000000;
        v[i] = value;
    }
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.source = SOURCE_PM,
                                     .n = n,
                                     .t0_ns = t0,
                                     .t1_ns = t1,
                                     .columns = 1,
                                     .series = column,
                                     .values = v,
                                     .stride = n}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

/* The driver's readings of one second; NaN = not read. */
static void nvml(double t1_s, double watts, double joules)
{
    static const uint32_t columns[] = {0, 1};
    int64_t t1 = begin + (int64_t)(t1_s * 1e9), t0 = t1 - s1;
    double v[] = {watts, joules};
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.source = SOURCE_NVML,
                                     .n = 1,
                                     .t0_ns = &t0,
                                     .t1_ns = &t1,
                                     .columns = 2,
                                     .series = columns,
                                     .values = v,
                                     .stride = 1}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

/* One value of a snapshot taken after rolling. */
static struct metric_stats stats(enum metric m)
{
    struct snapshot *s = NULL;
    collector_roll(c, 1);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    struct metric_stats out = s->gpus[0].metrics[m];
    assert_true(s->taken_ns > 0);
    snapshot_destroy(s);
    return out;
}

static void a_window_is_the_newest_second(void **state)
{
    (void)state;
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_WARMING);
    pm(0, 50, 0.2);
    struct metric_stats a = stats(METRIC_SM_ACTIVE);
    assert_near(a.value.v, 0.2, 1e-12);
    assert_int_equal(a.samples, 50);
    pm(1, 20, 0.8); /* not a whole second yet: the one before stays */
    assert_near(stats(METRIC_SM_ACTIVE).value.v, 0.2, 1e-12);
    pm(1.4, 30, 0.8);
    assert_near(stats(METRIC_SM_ACTIVE).value.v, 0.8, 1e-12);
}

static void a_gap_between_windows_is_seen(void **state)
{
    (void)state;
    struct snapshot *s = NULL;
    pm(0, 50, 0.2);
    collector_roll(c, 1);
    pm(2, 50, 0.2);
    collector_roll(c, 1);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    assert_int_equal(s->gpus[0].gaps, 1);
    assert_near(s->gpus[0].longest_gap_s, 1, 1e-9);
    assert_near(s->gpus[0].coverage, 0.5, 1e-9);
    snapshot_destroy(s);
}

static void few_samples_make_a_longer_window(void **state)
{
    (void)state;
    static const uint32_t column[] = {0};
    plan(SOURCE_GPM, 2, 1, sm);
    for (int i = 0; i < 6; i++) {
        int64_t t0 = begin + i * s1 / 2, t1 = t0 + s1 / 2;
        double v = 0.1 * i;
        struct event ev = {.kind = EVENT_SAMPLES,
                           .u.samples = {.source = SOURCE_GPM,
                                         .n = 1,
                                         .t0_ns = &t0,
                                         .t1_ns = &t1,
                                         .columns = 1,
                                         .series = column,
                                         .values = &v,
                                         .stride = 1}};
        assert_int_equal(event_push(&sink, &ev, NULL), OK);
        struct metric_stats m = stats(METRIC_SM_ACTIVE);
        assert_int_equal(m.samples, i < 4 ? 0 : 5);
    }
}

static void what_is_read_seldom_stays(void **state)
{
    (void)state;
    for (int i = 0; i <= 12; i++) {
        nvml(i, 100 + i, i % 5 ? NAN : 1000 + 200.0 * i);
        pm(i, 50, 0.5);
        collector_roll(c, 1);
    }
    struct metric_stats power = stats(METRIC_POWER), energy = stats(METRIC_ENERGY);
    assert_int_equal(power.value.state, VALUE_OK);
    assert_near(power.value.v, 112, 1e-9);
    /* 200 W, read every five seconds, of a window of one */
    assert_int_equal(energy.value.state, VALUE_OK);
    assert_near(energy.value.v, 200, 1);
}

static void a_clock_that_was_set_back_begins_anew(void **state)
{
    (void)state;
    pm(100, 50, 0.2);
    assert_near(stats(METRIC_SM_ACTIVE).value.v, 0.2, 1e-12);
    pm(101, 10, 0.2);
    pm(40, 50, 0.6);
    struct snapshot *s = NULL;
    collector_roll(c, 1);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    assert_near(s->gpus[0].metrics[METRIC_SM_ACTIVE].value.v, 0.6, 1e-12);
    assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1, 1e-9);
    assert_near(s->gpus[0].coverage, 1, 1e-9);
    snapshot_destroy(s);
}

static void silence_is_stale(void **state)
{
    (void)state;
    pm(0, 50, 0.2);
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_OK);
    sleep(4);
    struct metric_stats m = stats(METRIC_SM_ACTIVE);
    assert_int_equal(m.value.state, VALUE_STALE);
    assert_contains(m.value.reason, "nothing new for");
    assert_near(m.value.v, 0.2, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_window_is_the_newest_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_gap_between_windows_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(few_samples_make_a_longer_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_read_seldom_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_was_set_back_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(silence_is_stale, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
