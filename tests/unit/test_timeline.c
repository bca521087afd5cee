/* SPDX-License-Identifier: MIT */
/* All of a stream in columns: bursts, gaps, widening, two sources, hostile times. */
#include <math.h>

#include "support.h"

#include "collect/timeline.h"

static const int64_t ms = 1000000;
static const int64_t begin = 1800000000 * INT64_C(1000000000);

static struct timeline *t;
static struct event_sink sink;
static struct trace_column columns[TIMELINE_COLUMNS];

static void plan(enum source_id source, double rate_hz)
{
    const struct plan_series series = {METRIC_SM_ACTIVE, "x", UNIT_RATIO, VALUE_OK, "", "", 0};
    const struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.source = source, .rate_hz = rate_hz, .n = 1, .series = &series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

static void sample_at(enum source_id source, int64_t t0, int64_t t1, double v)
{
    static const uint32_t column[] = {0};
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

static void sample(enum source_id source, int64_t end_ms, int64_t length_ms, double v)
{
    sample_at(source, begin + (end_ms - length_ms) * ms, begin + end_ms * ms, v);
}

static size_t all(void)
{
    return timeline_gpu(t, 0, METRIC_SM_ACTIVE, columns);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(timeline_create(&t, NULL), OK);
    sink = timeline_sink(t);
    plan(SOURCE_PM, 50);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    timeline_destroy(t);
    return 0;
}

static void test_an_hour_keeps_a_burst_of_one_sample_and_the_mean(void **state)
{
    (void)state;
    for (int64_t i = 1; i <= 50 * 3600; i++)
        sample(SOURCE_PM, 20 * i, 20, i == 100000 ? 1 : 0.1);
    size_t n = all();
    assert_true(n > TIMELINE_COLUMNS / 2 && n <= TIMELINE_COLUMNS);
    assert_int_equal(timeline_end_ns(t) - timeline_begin_ns(t), 3600 * 1000 * ms);
    size_t bursts = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(columns[i].known);
        bursts += columns[i].max > 0.9;
        sum += columns[i].mean;
        assert_near(columns[i].min, 0.1, 1e-6);
    }
    assert_int_equal(bursts, 1);
    assert_near(sum / (double)n, 0.1 + 0.9 / 180000, 1e-5);
}

static void test_a_short_stream_has_columns_of_ten_milliseconds(void **state)
{
    (void)state;
    sample(SOURCE_PM, 20, 20, 0.5);
    sample(SOURCE_PM, 40, 20, 0.7);
    assert_int_equal(all(), 4);
    assert_int_equal(timeline_column_ns(t), 10 * ms);
    assert_near(columns[1].mean, 0.5, 1e-9);
    assert_near(columns[2].mean, 0.7, 1e-9);
}

static void test_gaps_stay_gaps_however_wide_the_columns(void **state)
{
    (void)state;
    for (int64_t i = 1; i <= 3000; i++)
        if (i <= 1000 || i > 2000)
            sample(SOURCE_PM, 20 * i, 20, 0.3);
    size_t n = all(), unknown = 0;
    for (size_t i = 0; i < n; i++)
        unknown += !columns[i].known;
    assert_near((double)unknown / (double)n, 1.0 / 3, 0.01);
}

static void test_a_sample_weighs_by_its_time(void **state)
{
    (void)state;
    sample(SOURCE_PM, 6, 6, 1); /* 6 of the column's 10 ms */
    sample(SOURCE_PM, 10, 4, 0);
    all();
    assert_near(columns[0].mean, 0.6, 1e-9);
    assert_near(columns[0].max, 1, 1e-9);
}

static void test_the_finer_source_is_kept_while_it_delivers(void **state)
{
    (void)state;
    plan(SOURCE_GPM, 1);
    for (int64_t i = 1; i <= 100; i++) {
        sample(SOURCE_PM, 20 * i, 20, 0.2);
        if (i % 50 == 0)
            sample(SOURCE_GPM, 20 * i, 1000, 0.9);
    }
    size_t n = all();
    for (size_t i = 0; i < n; i++)
        assert_near(columns[i].max, 0.2, 1e-6);
    for (int64_t s = 6; s <= 8; s++) /* silent for more than three seconds */
        sample(SOURCE_GPM, 1000 * s, 1000, 0.9);
    n = all();
    assert_near(columns[n - 1].mean, 0.9, 1e-6);
}

/* Is the column at this time known? */
static bool known_at(int64_t at_ms)
{
    size_t n = all(), i = (size_t)(at_ms * ms / timeline_column_ns(t));
    return i < n && columns[i].known;
}

static void test_seldom_readings_hold_but_not_over_a_hole(void **state)
{
    (void)state;
    plan(SOURCE_NVML, 1);
    sample(SOURCE_NVML, 20, 20, 0.4);   /* the begin */
    sample(SOURCE_NVML, 5000, 0, 0.5);  /* five seconds later: of the time between */
    sample(SOURCE_NVML, 20000, 0, 0.6); /* fifteen: a hole, and of its last second */
    assert_true(known_at(0) && known_at(2500) && known_at(4950));
    assert_false(known_at(5100) || known_at(12000) || known_at(18900));
    assert_true(known_at(19100) && known_at(19900));
    all();
    assert_near(columns[(size_t)(2500 * ms / timeline_column_ns(t))].mean, 0.5, 1e-9);
}

static void test_means_of_seldom_samples_are_not_held(void **state)
{
    (void)state;
    plan(SOURCE_PM, 0.1);
    sample(SOURCE_PM, 10000, 10000, 0.9);
    sample(SOURCE_PM, 60000, 10000, 0.9);
    assert_true(known_at(9000) && known_at(51000));
    assert_false(known_at(11000) || known_at(30000) || known_at(49000));
}

static void test_a_clock_that_was_not_set_yet_costs_one_sample(void **state)
{
    (void)state;
    sample_at(SOURCE_PM, 5, 20 * ms, 0.9); /* 1970 */
    for (int64_t i = 1; i <= 10; i++)
        sample(SOURCE_PM, 20 * i, 20, 0.3);
    assert_int_equal(timeline_begin_ns(t), begin);
    size_t n = all();
    assert_int_equal(n, 20);
    for (size_t i = 0; i < n; i++)
        assert_near(columns[i].max, 0.3, 1e-6);
}

static void test_numbers_that_cannot_be_summed_are_none(void **state)
{
    (void)state;
    sample(SOURCE_PM, 20, 20, 0.5);
    sample(SOURCE_PM, 40, 20, 1e308);
    size_t n = all();
    assert_int_equal(n, 2);
    assert_true(columns[0].known && isfinite(columns[0].max));
}

static void test_hostile_times_are_left_out(void **state)
{
    (void)state;
    sample(SOURCE_PM, 20, 20, 0.5);
    sample_at(SOURCE_PM, begin + 20 * ms, INT64_MAX, 0.9);
    sample_at(SOURCE_PM, INT64_MIN, begin - 1, 0.9);
    sample_at(SOURCE_PM, begin - 5, begin - 5, 0.9);
    sample_at(SOURCE_PM, begin + 40 * ms, begin + 20 * ms, 0.1); /* ends before it begins */
    sample(SOURCE_PM, 40, 20, NAN);
    size_t n = all();
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        assert_true(columns[i].known && columns[i].max < 0.6);
}

static void test_servers_have_their_own(void **state)
{
    (void)state;
    sample(SOURCE_PM, 20, 20, 0.5);
    for (int64_t i = 0; i < 10; i++) {
        const struct event_server_metric metrics[] = {
            {METRIC_OUTPUT_TOKENS_PER_SECOND, VALUE_OK, 100.0 + (double)i, "", "", ""},
            {METRIC_WAITING, VALUE_UNSUPPORTED, NAN, "no", "", ""}};
        const struct event ev = {.kind = EVENT_SERVER,
                                 .u.server = {.url = "http://a",
                                              .kind = "vllm",
                                              .model = "m",
                                              .reason = "",
                                              .state = VALUE_OK,
                                              .t0_ns = begin + i * 1000 * ms,
                                              .t1_ns = begin + (i + 5) * 1000 * ms,
                                              .n = 2,
                                              .metrics = metrics}};
        assert_int_equal(event_push(&sink, &ev, NULL), OK);
    }
    size_t n = timeline_server(t, "http://a", METRIC_OUTPUT_TOKENS_PER_SECOND, columns);
    assert_near(columns[0].mean, 100, 1e-9);
    assert_near(columns[n - 1].mean, 109, 1e-9);
    n = timeline_server(t, "http://a", METRIC_WAITING, columns);
    for (size_t i = 0; i < n; i++)
        assert_false(columns[i].known);
    n = timeline_server(t, "http://b", METRIC_WAITING, columns);
    assert_false(n && columns[0].known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_hour_keeps_a_burst_of_one_sample_and_the_mean,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_short_stream_has_columns_of_ten_milliseconds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_gaps_stay_gaps_however_wide_the_columns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_sample_weighs_by_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_finer_source_is_kept_while_it_delivers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_seldom_readings_hold_but_not_over_a_hole, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_means_of_seldom_samples_are_not_held, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_clock_that_was_not_set_yet_costs_one_sample, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_that_cannot_be_summed_are_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_times_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_servers_have_their_own, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
