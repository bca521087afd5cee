/* SPDX-License-Identifier: MIT */
/* Totals: each moment counts once, and what was not measured not at all. */
#include <math.h>

#include "support.h"

#include "base/clock.h"
#include "collect/totals.h"
#include "event/file.h"
#include "metric/throttle.h"

#define LIVE TEST_ROOT "/data/h200/live/"

static const int64_t second = 1000000000;

static struct totals *t;
static struct event_sink sink;
static int64_t begin; /* 1,000 s ago: stamps of the tests are of the past */

static int set_up(void **state)
{
    (void)state;
    begin = clock_unix_ns() - 1000 * second;
    assert_int_equal(totals_create(&t, begin, NULL), OK);
    sink = totals_sink(t);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    totals_destroy(t);
    return 0;
}

static void plan_state(enum source_id source, enum metric m, enum value_state state)
{
    const struct plan_series series = {(int)m, "x", metric_info(m)->unit, state, "", "", 0};
    const struct event ev = {.kind = EVENT_PLAN,
                             .u.plan = {.source = source, .n = 1, .series = &series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

static void plan(enum source_id source, enum metric m)
{
    plan_state(source, m, VALUE_OK);
}

/* One sample of value v over the time from from_s to to_s after begin. */
static void sample(enum source_id source, double from_s, double to_s, double v)
{
    static const uint32_t column[] = {0};
    int64_t t0 = begin + (int64_t)(from_s * 1e9), t1 = begin + (int64_t)(to_s * 1e9);
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

static void check(enum metric m, double integral, double measured_s)
{
    struct total x = totals_of(t, 0, m);
    assert_near(x.integral, integral, 1e-9);
    assert_near(x.measured_s, measured_s, 1e-9);
}

static void what_a_plan_offers_begins_at_0(void **state)
{
    (void)state;
    struct total none = totals_of(t, 0, METRIC_SM_ACTIVE);
    assert_false(none.is_offered);
    assert_true(isnan(none.integral));
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    assert_true(totals_of(t, 0, METRIC_SM_ACTIVE).is_offered);
    check(METRIC_SM_ACTIVE, 0, 0);
    assert_false(totals_of(t, 0, METRIC_SM_ISSUE).is_offered);
    assert_false(totals_of(t, 63, METRIC_SM_ACTIVE).is_offered);
    assert_false(totals_of(t, 64, METRIC_SM_ACTIVE).is_offered);
    plan_state(SOURCE_PM, METRIC_SM_ACTIVE, VALUE_BUSY); /* lent to somebody */
    assert_false(totals_of(t, 0, METRIC_SM_ACTIVE).is_offered);
}

static void a_burst_is_not_lost(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    for (int i = 0; i < 100; i++)
        sample(SOURCE_PM, i * 0.02, (i + 1) * 0.02, i == 37 ? 1 : 0);
    check(METRIC_SM_ACTIVE, 0.02, 2);
}

static void a_gap_adds_nothing(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_DRAM_READ_BYTES);
    sample(SOURCE_PM, 0, 1, 1e12);
    sample(SOURCE_PM, 1, 2, NAN);
    sample(SOURCE_PM, 5, 6, 3e12);
    check(METRIC_DRAM_READ_BYTES, 4e12, 2);
    sample(SOURCE_PM, 7, 7, 1e15); /* an instant has no length */
    sample(SOURCE_PM, 9, 8, 1e15);
    check(METRIC_DRAM_READ_BYTES, 4e12, 2);
}

/* A new attachment sends the last ten minutes again. */
static void what_comes_again_counts_once(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    for (int i = 0; i < 10; i++)
        sample(SOURCE_PM, i, i + 1, 0.5);
    for (int i = 0; i < 15; i++) /* five of them new: they fill what was missed meanwhile */
        sample(SOURCE_PM, i, i + 1, 0.5);
    check(METRIC_SM_ACTIVE, 7.5, 15);
    sample(SOURCE_PM, 14, 15, 0.5);
    sample(SOURCE_PM, 14.5, 15.5, 0.5); /* half of it has been counted */
    check(METRIC_SM_ACTIVE, 7.5, 15);
}

static void history_of_before_the_begin_does_not_count(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    for (int i = -600; i < 0; i++)
        sample(SOURCE_PM, i, i + 1, 1);
    sample(SOURCE_PM, -0.5, 0.5, 1);
    check(METRIC_SM_ACTIVE, 0, 0);
    sample(SOURCE_PM, 0.5, 1.5, 1);
    check(METRIC_SM_ACTIVE, 1, 1);
}

/* Our own clock tells: the samples of before are of a time that is not yet. */
static void a_clock_that_is_set_back_stops_nothing(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    sample(SOURCE_PM, 4600, 4601, 0.5); /* an hour from now */
    check(METRIC_SM_ACTIVE, 0.5, 1);
    double now_s = (double)(clock_unix_ns() - begin) * 1e-9;
    sample(SOURCE_PM, now_s - 60, now_s - 59, 1); /* counted in the other time, perhaps */
    check(METRIC_SM_ACTIVE, 0.5, 1);
    sample(SOURCE_PM, now_s + 0.1, now_s + 0.2, 1);
    check(METRIC_SM_ACTIVE, 0.6, 1.1);
}

static void a_begin_in_the_future_is_one_of_a_wrong_clock(void **state)
{
    (void)state;
    totals_destroy(t);
    assert_int_equal(totals_create(&t, clock_unix_ns() + 3600 * second, NULL), OK);
    sink = totals_sink(t);
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    double now_s = (double)(clock_unix_ns() - begin) * 1e-9;
    sample(SOURCE_PM, now_s + 0.1, now_s + 0.3, 1);
    check(METRIC_SM_ACTIVE, 0.2, 0.2);
}

/* Two sources of one metric over the same seconds: one counts, the other waits for its turn. */
static void another_source_counts_nothing_twice(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    plan(SOURCE_GPM, METRIC_SM_ACTIVE);
    for (int i = 0; i < 10; i++) {
        sample(SOURCE_PM, i, i + 1, 0.8);
        sample(SOURCE_GPM, i, i + 1, 0.2);
    }
    check(METRIC_SM_ACTIVE, 8, 10);
    for (int i = 10; i < 20; i++) /* PM sampling is silent; after 3 s its place is lost */
        sample(SOURCE_GPM, i, i + 1, 0.2);
    check(METRIC_SM_ACTIVE, 8 + 7 * 0.2, 17);
    sample(SOURCE_PM, 19.5, 20.5, 1); /* it is back: the half second is counted already */
    sample(SOURCE_GPM, 20, 21, 0.2);
    check(METRIC_SM_ACTIVE, 8 + 8 * 0.2, 18);
    sample(SOURCE_PM, 21, 22, 1);
    sample(SOURCE_GPM, 21, 22, 0.2);
    check(METRIC_SM_ACTIVE, 8 + 8 * 0.2 + 1, 19);
}

static void what_cannot_be_right_does_not_count(void **state)
{
    (void)state;
    plan(SOURCE_PM, METRIC_SM_ACTIVE);
    sample(SOURCE_PM, 0, 1, 1.5);
    sample(SOURCE_PM, 1, 2, -0.5);
    sample(SOURCE_PM, 2, 3, INFINITY);
    check(METRIC_SM_ACTIVE, 0, 0);
    plan_state(SOURCE_PM, METRIC_SM_ACTIVE, VALUE_SUSPECT);
    sample(SOURCE_PM, 3, 4, 0.5);
    check(METRIC_SM_ACTIVE, 0, 0);
    plan(SOURCE_PM, METRIC_PCIE_RX);
    sample(SOURCE_PM, 4, 5, 1e308);
    sample(SOURCE_PM, 5, 6, 1e308); /* the sum would be infinite */
    check(METRIC_PCIE_RX, 1e308, 1);
}

static void samples_that_no_plan_announced_do_not_count(void **state)
{
    (void)state;
    sample(SOURCE_PM, 0, 1, 1);
    plan(SOURCE_GPM, METRIC_SM_ACTIVE);
    sample(SOURCE_PM, 1, 2, 1);
    check(METRIC_SM_ACTIVE, 0, 0);
}

/* Whole joules since the driver was loaded: as it counts, whatever we missed. */
static void the_drivers_own_count_is_passed_on(void **state)
{
    (void)state;
    assert_true(isnan(totals_of(t, 0, METRIC_ENERGY).reading));
    plan(SOURCE_NVML, METRIC_ENERGY);
    assert_true(isnan(totals_of(t, 0, METRIC_ENERGY).reading));
    sample(SOURCE_NVML, -5, -5, 1000); /* of before the begin: true all the same */
    assert_near(totals_of(t, 0, METRIC_ENERGY).reading, 1000, 0);
    sample(SOURCE_NVML, 1, 2, 1700);
    sample(SOURCE_NVML, 6, 7, 5200); /* every five seconds */
    sample(SOURCE_NVML, 1, 2, 1700); /* again */
    struct total x = totals_of(t, 0, METRIC_ENERGY);
    assert_near(x.reading, 5200, 0);
    assert_near(x.measured_s, 5, 1e-9);
    assert_true(isnan(x.integral));
    sample(SOURCE_NVML, 7, 8, 30); /* the driver was loaded again: how long ago is not known */
    x = totals_of(t, 0, METRIC_ENERGY);
    assert_near(x.reading, 30, 0);
    assert_near(x.measured_s, 5, 1e-9);
}

static void reasons_of_throttling_have_their_times(void **state)
{
    (void)state;
    plan(SOURCE_NVML, METRIC_THROTTLE);
    sample(SOURCE_NVML, 0, 1, 0);
    sample(SOURCE_NVML, 1, 2, 0x4);
    sample(SOURCE_NVML, 2, 4, 0x24);
    sample(SOURCE_NVML, 2, 4, 0x24);
    assert_near(totals_throttled_s(t, 0, 2), 3, 1e-9);
    assert_near(totals_throttled_s(t, 0, 5), 2, 1e-9);
    assert_near(totals_throttled_s(t, 0, 0), 0, 0);
    assert_near(totals_throttled_s(t, 0, THROTTLE_REASONS), 0, 0);
    assert_near(totals_throttled_s(t, 1, 2), 0, 0);
    struct total x = totals_of(t, 0, METRIC_THROTTLE);
    assert_near(x.measured_s, 4, 1e-9);
    assert_true(isnan(x.integral));
    assert_string_equal(throttle_key(2), "power_limit");
    assert_string_equal(throttle_key(5), "heat_driver");
}

/* ---- a real recording, reckoned once more from its samples ---- */

struct sums {
    double integral, measured_s;
    uint32_t series;
};

static enum status add_up(void *self, const struct event *ev, struct error *err)
{
    struct sums *s = self;
    const struct event_samples *x = &ev->u.samples;
    if (ev->kind == EVENT_PLAN && ev->u.plan.source == SOURCE_PM)
        for (uint32_t i = 0; i < ev->u.plan.n; i++)
            if (ev->u.plan.series[i].metric == METRIC_DRAM_READ_BYTES)
                s->series = i;
    for (size_t c = 0; ev->kind == EVENT_SAMPLES && x->source == SOURCE_PM && c < x->columns; c++)
        for (size_t i = 0; x->series[c] == s->series && i < x->n; i++) {
            double length_s = (double)(x->t1_ns[i] - x->t0_ns[i]) * 1e-9;
            s->integral += x->values[c * x->stride + i] * length_s;
            s->measured_s += length_s;
        }
    return event_push(&sink, ev, err);
}

static void every_sample_of_a_recording_counts(void **state)
{
    (void)state;
    struct event_reader *r = NULL;
    struct sums sums = {0};
    const struct event_sink both = {add_up, &sums};
    bool more = true;
    totals_destroy(t);
    assert_int_equal(totals_create(&t, 0, NULL), OK);
    sink = totals_sink(t);
    for (int pass = 0; pass < 2; pass++) { /* the second adds nothing */
        more = true;
        sums.integral = sums.measured_s = 0;
        assert_int_equal(event_reader_open(&r, LIVE "decode.jsonl.gz", NULL), OK);
        while (more)
            assert_int_equal(event_reader_next(r, &both, &more, NULL), OK);
        event_reader_close(r);
        struct total x = totals_of(t, 0, METRIC_DRAM_READ_BYTES);
        assert_true(sums.measured_s > 10);
        assert_near(x.measured_s, sums.measured_s, 1e-6);
        assert_near(x.integral, sums.integral, 1e-9 * sums.integral);
        assert_near(x.integral / x.measured_s, 3.88e12, 0.02e12); /* decode-summary.txt */
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_a_plan_offers_begins_at_0),
        T(a_burst_is_not_lost),
        T(a_gap_adds_nothing),
        T(what_comes_again_counts_once),
        T(history_of_before_the_begin_does_not_count),
        T(a_clock_that_is_set_back_stops_nothing),
        T(a_begin_in_the_future_is_one_of_a_wrong_clock),
        T(another_source_counts_nothing_twice),
        T(what_cannot_be_right_does_not_count),
        T(samples_that_no_plan_announced_do_not_count),
        T(the_drivers_own_count_is_passed_on),
        T(reasons_of_throttling_have_their_times),
        T(every_sample_of_a_recording_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
