/* SPDX-License-Identifier: MIT */
/* Times in an nsys export: rate, coverage, gaps, order, clocks on the wall. */
#include <math.h>

#include "support.h"

#include "nsys_file.h"

static void gaps_and_coverage_are_computed(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "DELETE FROM GPU_METRICS WHERE timestamp BETWEEN 300000000 AND 700000000"),
        false);
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_int_equal(g->samples, 45);
    assert_int_equal(g->gaps, 1);
    assert_near(g->longest_gap_s, 0.40, 0.001);
    assert_near(g->coverage, 45.0 / 65, 0.001);
    assert_near(g->rate_hz, 50, 0.01);
    snapshot_destroy(s);
}

/* Samples are missing right after the first: only the 50 Hz that were asked for show it. */
static void gap_after_the_first_sample_is_seen(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "DELETE FROM GPU_METRICS WHERE timestamp BETWEEN 30000000 AND 230000000"),
        false);
    assert_int_equal(s->gpus[0].samples, 55);
    assert_int_equal(s->gpus[0].gaps, 1);
    assert_near(s->gpus[0].longest_gap_s, 0.20, 0.001);
    assert_near(s->gpus[0].coverage, 55.0 / 65, 0.001);
    snapshot_destroy(s);
    /* but what was asked for is not what was done: sampled at 10 Hz, steadily */
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp*5"), false);
    assert_near(s->gpus[0].rate_hz, 10, 0.01);
    assert_true(has_note(s, "sampled at 10 Hz, asked for 50 Hz"));
    assert_int_equal(s->gpus[0].gaps, 1); /* until the second interval confirmed the first */
    assert_near(s->gpus[0].coverage, 1, 0.03);
    snapshot_destroy(s);
}

/* One sample comes early: that is not the new period, or everything after it would be a gap. */
static void one_odd_interval_changes_nothing(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp-15000000 WHERE "
                                    "timestamp BETWEEN 590000000 AND 610000000"),
                    false);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_int_equal(s->gpus[0].gaps, 1);
    assert_near(s->gpus[0].longest_gap_s, 0.015, 0.0001);
    assert_near(s->gpus[0].coverage, 1 - 0.015 / 1.3, 0.001);
    assert_near(s->gpus[0].rate_hz, 50, 0.01);
    snapshot_destroy(s);
}

/* Where the SYS clock triggers the samples, their distance moves with it. */
static void spacing_may_follow_the_clock(void **state)
{
    (void)state;
    static const char slower[] = "UPDATE GPU_METRICS SET timestamp=timestamp+(timestamp-660000000)"
                                 "*7/10 WHERE timestamp>660000000;";
    static const char *const chips[] = {"TU102", "GA100"};
    for (size_t i = 0; i < 2; i++) {
        char sql[400];
        snprintf(sql, sizeof sql, "%sUPDATE TARGET_INFO_GPU SET chipName='%s'", slower, chips[i]);
        struct snapshot *s = snapshot_of(changed(DECODE, sql), false);
        assert_int_equal(s->gpus[0].samples, 65);
        assert_int_equal(s->gpus[0].gaps, 0);
        assert_near(s->gpus[0].coverage, 1, 1e-9);
        snapshot_destroy(s);
    }
    /* elsewhere a timer triggers them: a longer interval means lost samples, until eight in a row
     * say that this is the period now */
    struct snapshot *s = snapshot_of(changed(DECODE, slower), false);
    assert_int_equal(s->gpus[0].gaps, 7);
    assert_near(s->gpus[0].longest_gap_s, 0.014, 0.0001);
    snapshot_destroy(s);
    /* even there ten periods are a gap */
    s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU SET chipName='TU102';"
                        "DELETE FROM GPU_METRICS WHERE timestamp BETWEEN 300000000 AND 480000000"),
        false);
    assert_int_equal(s->gpus[0].gaps, 1);
    snapshot_destroy(s);
}

/* Four GPUs, of which three start after the rows that are looked at first. */
static void gpus_that_start_late_have_rate_and_coverage(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "DELETE FROM GPU_METRICS;"
                "WITH RECURSIVE gpu(g) AS (SELECT 1 UNION ALL SELECT g+1 FROM gpu WHERE g<3) "
                "INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+g,sourceId,'',metricId,"
                "metricName FROM gpu,TARGET_INFO_GPU_METRICS WHERE metricId=3;"
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<70000) "
                "INSERT INTO GPU_METRICS SELECT 0,n*20000000," TYPE_ID ",3,50 FROM r;"
                "WITH RECURSIVE gpu(g) AS (SELECT 1 UNION ALL SELECT g+1 FROM gpu WHERE g<3),"
                "r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<100) "
                "INSERT INTO GPU_METRICS SELECT 0,n*g*10000000," TYPE_ID "+g,3,10*g FROM r,gpu"),
        false);
    static const double hz[] = {50, 100, 50, 100.0 / 3};
    assert_int_equal(s->n_gpus, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct gpu_snapshot *g = &s->gpus[i];
        assert_int_equal(g->samples, i ? 100 : 70000);
        assert_near(g->rate_hz, hz[i], 1e-6);
        assert_near(gpu_snapshot_window_s(g), i ? 100 / hz[i] : 1400, 1e-6);
        assert_near(g->coverage, 1, 1e-9);
        assert_int_equal(g->gaps, 0);
    }
    assert_near(metric(s, 3, METRIC_SM_ACTIVE)->value.v, 0.30, 1e-9);
    snapshot_destroy(s);
}

static void order_of_rows_does_not_matter(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY timestamp DESC;"
                        "DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_int_equal(s->gpus[0].gaps, 0);
    assert_near(s->gpus[0].coverage, 1, 1e-9);
    assert_true(has_note(s, "sorted"));
    snapshot_destroy(s);
    /* metric by metric instead of sample by sample */
    s = snapshot_of(
        changed(DECODE, "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY metricId,timestamp;"
                        "DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_int_equal(s->gpus[0].samples, 65);
    snapshot_destroy(s);
}

/* Shuffled samples with a pause of 10 s between them. */
static void shuffled_rows_keep_rate_and_gap(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "UPDATE GPU_METRICS SET timestamp=timestamp+10000000000 WHERE timestamp>650000000;"
                "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY timestamp/1000000*7919%10007;"
                "DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t"),
        false);
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_true(has_note(s, "sorted"));
    assert_int_equal(g->samples, 65);
    assert_near(g->rate_hz, 50, 0.01);
    assert_int_equal(g->gaps, 1);
    assert_near(g->longest_gap_s, 10, 0.001);
    assert_near(g->coverage, 1.3 / 11.3, 0.001);
    snapshot_destroy(s);
}

#define NOT_ASKED "DELETE FROM META_DATA_CAPTURE WHERE name LIKE '%SAMPLING_FREQUENCY';"

/* The rows of one sample need not have the same time to the last digit. */
static void rows_a_little_apart_are_one_sample(void **state)
{
    (void)state;
    static const char *const apart[] = {
        "UPDATE GPU_METRICS SET timestamp=timestamp+metricId;",
        "UPDATE GPU_METRICS SET timestamp=timestamp+metricId*5000;",
        NOT_ASKED "UPDATE GPU_METRICS SET timestamp=timestamp+metricId;",
        /* also in the wrong order */
        "UPDATE GPU_METRICS SET timestamp=timestamp+(metricId*7)%22",
    };
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        struct snapshot *s = snapshot_of(changed(DECODE, apart[i]), false);
        const struct gpu_snapshot *g = &s->gpus[0];
        assert_int_equal(g->samples, 65);
        assert_near(g->rate_hz, 50, 0.01);
        assert_int_equal(g->gaps, 0);
        assert_near(g->coverage, 1, 1e-9);
        check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
        snapshot_destroy(s);
    }
    /* farther than 1 % of the distance: samples of their own */
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp+1000000 WHERE metricId=4"),
        false);
    assert_int_equal(s->gpus[0].samples, 130);
    snapshot_destroy(s);
    /* 200 kHz, though 50 Hz were asked for: each row of a metric is a sample */
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp/20000000*5000"),
                    false);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_near(s->gpus[0].rate_hz, 200000, 1);
    snapshot_destroy(s);
}

static void negative_and_extreme_times_are_survived(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp-500000000"), false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=-9223372036854775808 WHERE "
                                    "timestamp<50000000;"
                                    "UPDATE GPU_METRICS SET timestamp=9223372036854775807 WHERE "
                                    "timestamp BETWEEN 50000000 AND 100000000"),
                    false);
    assert_true(has_note(s, "no usable time"));
    assert_int_equal(s->gpus[0].samples, 60);
    snapshot_destroy(s);
}

static void one_sample_has_values_but_no_rate(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "DELETE FROM GPU_METRICS WHERE timestamp>21000000"), false);
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_int_equal(g->samples, 1);
    assert_near(g->rate_hz, 0, 0);
    assert_true(isnan(g->coverage));
    assert_near(metric(s, 0, METRIC_SM_ACTIVE)->value.v, metric(s, 0, METRIC_SM_ACTIVE)->p95, 0);
    snapshot_destroy(s);
}

static void wall_clock_times_need_a_start(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "DROP TABLE TARGET_INFO_SESSION_START_TIME"), false);
    assert_true(has_note(s, "no session start time"));
    assert_true(s->time_ns < 2000000000);
    snapshot_destroy(s);
    /* also when the stamps look like a clock on the wall, and nothing says that they are */
    s = snapshot_of(changed(DECODE, "DROP TABLE TARGET_INFO_SESSION_START_TIME; UPDATE GPU_METRICS "
                                    "SET timestamp=timestamp+1796019438769865363"),
                    false);
    assert_true(has_note(s, "times count from the start of the capture"));
    assert_true(s->time_ns < 2000000000);
    assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.3, 0.001);
    snapshot_destroy(s);
    static const char normalized[] = "UPDATE META_DATA_EXPORT SET value='true' WHERE "
                                     "name='EXPORT_PARAM_TIME_NORMALIZE';"
                                     "UPDATE GPU_METRICS SET timestamp=timestamp+"
                                     "1796019438769865363;";
    s = snapshot_of(changed(DECODE, normalized), false);
    assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.3, 0.001);
    assert_true(s->time_ns > INT64_C(1796019439000000000) &&
                s->time_ns < INT64_C(1796019441000000000));
    snapshot_destroy(s);

    /* somebody moved all times on export: they tell no wall-clock time, even when they look so */
    static const char *const shifts[] = {"5000", "-1", "1h"};
    for (size_t i = 0; i < 6; i++) {
        char sql[600];
        snprintf(sql, sizeof sql,
                 "%sUPDATE META_DATA_EXPORT SET value='%s' WHERE name='EXPORT_PARAM_TIME_SHIFT'",
                 i < 3 ? "" : normalized, shifts[i % 3]);
        s = snapshot_of(changed(DECODE, sql), false);
        assert_true(has_note(s, "no wall-clock time"));
        assert_true(s->time_ns < 2000000000);
        assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.3, 0.001);
        snapshot_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_and_coverage_are_computed),
        cmocka_unit_test(gap_after_the_first_sample_is_seen),
        cmocka_unit_test(one_odd_interval_changes_nothing),
        cmocka_unit_test(spacing_may_follow_the_clock),
        cmocka_unit_test(gpus_that_start_late_have_rate_and_coverage),
        cmocka_unit_test(order_of_rows_does_not_matter),
        cmocka_unit_test(shuffled_rows_keep_rate_and_gap),
        cmocka_unit_test(rows_a_little_apart_are_one_sample),
        cmocka_unit_test(negative_and_extreme_times_are_survived),
        cmocka_unit_test(one_sample_has_values_but_no_rate),
        cmocka_unit_test(wall_clock_times_need_a_start),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
