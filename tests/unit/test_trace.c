/* SPDX-License-Identifier: MIT */
/* The last ten minutes: bands, gaps, two sources, clocks that jump. */
#include <math.h>

#include "support.h"

#include "collect/trace.h"

static const int64_t ms = 1000000;
static const int64_t begin = 1800000000 * INT64_C(1000000000);

static struct trace *t;
static struct event_sink sink;

static void plan(enum source_id source, double rate_hz, int metric)
{
    const struct plan_series series = {metric, "x", UNIT_RATIO, VALUE_OK, "", "", 0};
    const struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.source = source, .rate_hz = rate_hz, .n = 1, .series = &series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

/* One sample of length_ms that ends at end_ms after begin. */
static void sample(enum source_id source, int64_t end_ms, int64_t length_ms, double v)
{
    static const uint32_t column[] = {0};
    int64_t t1 = begin + end_ms * ms, t0 = t1 - length_ms * ms;
    const struct event ev = {.kind = EVENT_SAMPLES,
                             .u.samples = {.source = source,
                                           .n = 1,
                                           .t0_ns = &t0,
                                           .t1_ns = &t1,
                                           .columns = 1,
                                           .series = column,
                                           .values = &v,
                                           .stride = 1}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

static struct trace_column at(int64_t from_ms, int64_t to_ms)
{
    return trace_span(t, 0, METRIC_SM_ACTIVE, begin + from_ms * ms, begin + to_ms * ms);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(trace_create(&t, NULL), OK);
    sink = trace_sink(t);
    plan(SOURCE_PM, 50, METRIC_SM_ACTIVE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    trace_destroy(t);
    return 0;
}

static void test_a_burst_of_one_sample_is_seen_at_any_scale(void **state)
{
    (void)state;
    for (int64_t i = 1; i <= 50 * 60; i++)
        sample(SOURCE_PM, 20 * i, 20, i == 1000 ? 1 : 0.1);
    struct trace_column c = at(0, 60000);
    assert_near(c.min, 0.1, 1e-6);
    assert_near(c.max, 1, 1e-6);
    assert_near(c.mean, 0.1 + 0.9 / 3000, 1e-4);
    struct trace_column columns[12];
    trace_columns(t, 0, METRIC_SM_ACTIVE, begin, 5000 * ms, 12, columns);
    for (int i = 0; i < 12; i++)
        assert_near(columns[i].max, i == 3 ? 1 : 0.1, 1e-6);
}

static void test_what_was_not_measured_is_unknown(void **state)
{
    (void)state;
    sample(SOURCE_PM, 100, 20, 0);
    sample(SOURCE_PM, 2100, 20, 0.5);
    assert_true(at(0, 250).known);
    assert_true(at(0, 250).max <= 0); /* measured, and 0 */
    assert_false(at(250, 2000).known);
    assert_true(isnan(at(250, 2000).mean));
    assert_true(at(2000, 2250).known);
    assert_false(at(2250, 9000).known);
    assert_false(at(-5000, 0).known);
    assert_false(trace_span(t, 0, METRIC_POWER, begin, begin + 1000 * ms).known);
    assert_false(trace_span(t, 63, METRIC_SM_ACTIVE, begin, begin + 1000 * ms).known);
    assert_false(trace_span(t, 64, METRIC_SM_ACTIVE, begin, begin + 1000 * ms).known);
    sample(SOURCE_PM, 3000, 20, NAN);
    assert_false(at(2750, 3000).known);
}

static void test_a_seldom_reading_holds_two_periods(void **state)
{
    (void)state;
    plan(SOURCE_NVML, 1, METRIC_SM_ACTIVE);
    sample(SOURCE_NVML, 1010, 0, 0.4);
    assert_near(at(1000, 1250).mean, 0.4, 1e-6);
    assert_near(at(2750, 3000).mean, 0.4, 1e-6);
    assert_false(at(3250, 3500).known);
    assert_false(at(500, 750).known); /* not before it came */
}

static void test_a_sample_longer_than_a_bucket_stands_in_each(void **state)
{
    (void)state;
    plan(SOURCE_GPM, 1, METRIC_SM_ACTIVE);
    sample(SOURCE_GPM, 3000, 1000, 0.3);
    for (int64_t from = 2000; from < 3000; from += 250)
        assert_near(at(from, from + 250).mean, 0.3, 1e-6);
    assert_false(at(1750, 2000).known);
}

static void test_the_finer_source_is_kept_while_it_delivers(void **state)
{
    (void)state;
    plan(SOURCE_GPM, 4, METRIC_SM_ACTIVE);
    for (int64_t i = 1; i <= 8; i++) {
        sample(SOURCE_PM, 250 * i, 20, 0.8);
        sample(SOURCE_GPM, 250 * i, 250, 0.2);
    }
    assert_near(at(0, 2000).min, 0.8, 1e-6);
    for (int64_t i = 9; i <= 40; i++) /* PM sampling is silent from now on */
        sample(SOURCE_GPM, 250 * i, 250, 0.2);
    assert_false(at(2750, 3000).known && at(2750, 3000).mean < 0.7);
    assert_near(at(6000, 6250).mean, 0.2, 1e-6);
    sample(SOURCE_PM, 10250, 20, 0.9); /* it is back */
    assert_near(at(10000, 10250).max, 0.9, 1e-6);
    sample(SOURCE_GPM, 10500, 250, 0.2);
    assert_false(at(10250, 10500).known);
}

static void test_ten_minutes_are_kept(void **state)
{
    (void)state;
    for (int64_t i = 1; i <= 4 * 700; i++)
        sample(SOURCE_PM, 250 * i, 20, (double)i);
    assert_true(trace_oldest_ns(t) == begin + 100 * 1000 * ms);
    assert_false(at(99 * 1000, 100 * 1000).known);
    assert_true(at(100 * 1000, 101 * 1000).known);
    assert_true(trace_newest_ns(t) == begin + 700 * 1000 * ms);
    sample(SOURCE_PM, 9000 * 1000, 20, 1); /* hours later nothing of before is left */
    assert_true(trace_oldest_ns(t) == begin + (9000 * 1000 - 250) * ms);
}

static void test_a_clock_that_is_set_back_begins_anew(void **state)
{
    (void)state;
    for (int64_t i = 1; i <= 40; i++)
        sample(SOURCE_PM, 100000 + 250 * i, 20, 0.7);
    for (int64_t i = 1; i <= 4; i++)
        sample(SOURCE_PM, 250 * i, 20, 0.1);
    assert_near(at(0, 1000).max, 0.1, 1e-6);
    assert_false(at(100000, 110000).known);
    assert_true(trace_newest_ns(t) == begin + 1000 * ms);
}

static void test_counters_and_strangers_have_no_trace(void **state)
{
    (void)state;
    plan(SOURCE_NVML, 1, METRIC_ENERGY);
    sample(SOURCE_NVML, 1000, 0, 5);
    assert_false(trace_span(t, 0, METRIC_ENERGY, begin, begin + 2000 * ms).known);
    plan(SOURCE_NVML, 1, METRIC_NONE);
    sample(SOURCE_NVML, 2000, 0, 5);
    assert_int_equal(trace_oldest_ns(t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_burst_of_one_sample_is_seen_at_any_scale, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_not_measured_is_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_seldom_reading_holds_two_periods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_sample_longer_than_a_bucket_stands_in_each, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_finer_source_is_kept_while_it_delivers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ten_minutes_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_clock_that_is_set_back_begins_anew, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_counters_and_strangers_have_no_trace, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
