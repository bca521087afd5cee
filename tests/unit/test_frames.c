/* SPDX-License-Identifier: MIT */
/* Frames: what the samples since the last one were, two sources, gaps. */
#include <math.h>

#include "support.h"

#include "collect/frames.h"

static const int64_t begin = 1800000000 * INT64_C(1000000000), ms = 1000000;

static struct frames *f;
static struct event_sink sink;
static double min, mean, max;

static void plan(unsigned gpu, enum source_id source, int metric)
{
    const struct plan_series series = {metric, "x", UNIT_RATIO, VALUE_OK, "", "", 0};
    const struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.gpu = gpu, .source = source, .rate_hz = 50, .n = 1, .series = &series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

/* n samples of 20 ms, the first from from_ms on. */
static void samples(unsigned gpu, enum source_id source, int64_t from_ms, size_t n,
                    const double *values)
{
    static const uint32_t column[] = {0};
    int64_t t0[8], t1[8];
    for (size_t i = 0; i < n; i++) {
        t0[i] = begin + (from_ms + 20 * (int64_t)i) * ms;
        t1[i] = t0[i] + 20 * ms;
    }
    const struct event ev = {.kind = EVENT_SAMPLES,
                             .u.samples = {.gpu = gpu,
                                           .source = source,
                                           .n = n,
                                           .t0_ns = t0,
                                           .t1_ns = t1,
                                           .columns = 1,
                                           .series = column,
                                           .values = values,
                                           .stride = n}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

static bool has(unsigned gpu)
{
    return frames_of(f, gpu, METRIC_SM_ACTIVE, &min, &mean, &max);
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(frames_create(&f, NULL), OK);
    sink = frames_sink(f);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    frames_destroy(f);
    return 0;
}

static void test_frame(void **state)
{
    (void)state;
    int64_t t0, t1;
    assert_false(frames_span(f, &t0, &t1));
    samples(0, SOURCE_PM, 0, 1, (double[]){1}); /* no plan: nobody knows what it is */
    assert_false(frames_span(f, &t0, &t1));
    plan(0, SOURCE_PM, METRIC_SM_ACTIVE);
    plan(2, SOURCE_PM, METRIC_SM_ACTIVE);
    assert_false(has(0));
    samples(0, SOURCE_PM, 0, 3, (double[]){0.2, 0.8, 0.5});
    samples(0, SOURCE_PM, 60, 1, (double[]){0.1});
    samples(2, SOURCE_PM, 40, 2, (double[]){NAN, 0.3});
    assert_true(has(0));
    assert_near(min, 0.1, 0);
    assert_near(mean, 0.4, 1e-12);
    assert_near(max, 0.8, 0);
    assert_true(has(2));
    assert_near(mean, 0.3, 0);
    assert_false(has(1));
    assert_false(has(FRAMES_GPUS_MAX));
    assert_true(frames_span(f, &t0, &t1));
    assert_int_equal(t0, begin);
    assert_int_equal(t1, begin + 80 * ms);
    frames_clear(f);
    assert_false(has(0));
    assert_false(frames_span(f, &t0, &t1));
    samples(0, SOURCE_PM, 80, 2, (double[]){NAN, NAN}); /* nothing was measured */
    assert_false(has(0));
    assert_false(frames_span(f, &t0, &t1));
}

/* The finer source is taken as long as it delivers. */
static void test_sources(void **state)
{
    (void)state;
    plan(0, SOURCE_GPM, METRIC_SM_ACTIVE);
    plan(0, SOURCE_PM, METRIC_SM_ACTIVE);
    samples(0, SOURCE_GPM, 0, 1, (double[]){0.9});
    assert_true(has(0));
    samples(0, SOURCE_PM, 0, 2, (double[]){0.1, 0.3});
    samples(0, SOURCE_GPM, 20, 1, (double[]){0.9});
    assert_true(has(0));
    assert_near(max, 0.3, 0);
    assert_near(mean, 0.2, 1e-12);
    samples(0, SOURCE_GPM, 4000, 1, (double[]){0.7}); /* the finer one has fallen silent */
    assert_true(has(0));
    assert_near(mean, 0.7, 0);
}

/* Counters and flags are not drawn; a plan may change what its series are. */
static void test_plans(void **state)
{
    (void)state;
    plan(0, SOURCE_NVML, METRIC_ENERGY);
    samples(0, SOURCE_NVML, 0, 1, (double[]){5});
    assert_false(frames_of(f, 0, METRIC_ENERGY, &min, &mean, &max));
    plan(0, SOURCE_NVML, METRIC_SM_ACTIVE);
    samples(0, SOURCE_NVML, 0, 1, (double[]){0.5});
    assert_true(has(0));
    plan(FRAMES_GPUS_MAX, SOURCE_PM, METRIC_SM_ACTIVE); /* one too many is left out */
    samples(FRAMES_GPUS_MAX, SOURCE_PM, 0, 1, (double[]){0.5});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_frame, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plans, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
