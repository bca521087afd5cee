/* SPDX-License-Identifier: MIT */
/* Two sources beside each other: agreeing, disagreeing, one of them late, absent or broken off. */
#include <math.h>
#include <string.h>

#include "support.h"

#include "collect/crosscheck.h"

enum { MS = 1000000 };

static struct crosscheck check;

static int set_up(void **state)
{
    (void)state;
    memset(&check, 0, sizeof check);
    return 0;
}

/* A batch of six samples of 20 ms of PM sampling that begins at ms. */
static void pm_batch(int64_t ms, double sm, double read, double write)
{
    static const int metrics[] = {METRIC_SM_ACTIVE, METRIC_DRAM_READ, METRIC_DRAM_WRITE};
    int64_t t0[6], t1[6];
    double values[18];
    for (int i = 0; i < 6; i++) {
        t0[i] = (ms + 20 * i) * MS;
        t1[i] = (ms + 20 * (i + 1)) * MS;
        values[i] = sm;
        values[6 + i] = read;
        values[12 + i] = write;
    }
    struct event_samples batch = {
        .n = 6, .t0_ns = t0, .t1_ns = t1, .columns = 3, .values = values, .stride = 6};
    crosscheck_pm(&check, &batch, metrics);
}

static void gpm_sample(int64_t from_ms, int64_t to_ms, double sm, double dram)
{
    static const int metrics[] = {METRIC_SM_ACTIVE, METRIC_DRAM_THROUGHPUT};
    const int64_t t0 = from_ms * MS, t1 = to_ms * MS;
    const double values[] = {sm, dram};
    struct event_samples batch = {
        .n = 1, .t0_ns = &t0, .t1_ns = &t1, .columns = 2, .values = values, .stride = 1};
    crosscheck_gpm(&check, &batch, metrics);
}

/* Ten seconds of both; PM sampling begins a second earlier. */
static void run_both(double pm_sm, double gpm_sm, double pm_read, double pm_write, double gpm_dram)
{
    int64_t ms = 0;
    for (int64_t second = 1; second <= 11; second++) {
        for (; ms < 1000 * second; ms += 120)
            pm_batch(ms, pm_sm, pm_read, pm_write);
        if (second >= 2)
            gpm_sample(1000 * (second - 1), 1000 * second, gpm_sm, gpm_dram);
    }
}

static void agreement_is_no_suspicion(void **state)
{
    (void)state;
    double pm = NAN, gpm = NAN, seconds = NAN;
    run_both(0.862, 0.855, 0.82, 0.01, 0.832);
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
    assert_near(pm, 0.862, 1e-9);
    assert_near(gpm, 0.855, 1e-9);
    assert_near(seconds, 10, 1e-9);
    assert_false(crosscheck_disagrees(&check, METRIC_DRAM_THROUGHPUT, &pm, &gpm, &seconds));
    assert_near(pm, 0.83, 1e-9);
}

/* What dramc__throughput did on an H200: 0.87 % where the truth was 83 %. */
static void disagreement_is_found_for_the_whole_and_its_parts(void **state)
{
    (void)state;
    double pm, gpm, seconds;
    run_both(0.862, 0.855, 0.0087, 0, 0.83);
    assert_true(crosscheck_disagrees(&check, METRIC_DRAM_THROUGHPUT, &pm, &gpm, &seconds));
    assert_true(crosscheck_disagrees(&check, METRIC_DRAM_READ, &pm, &gpm, &seconds));
    assert_near(pm, 0.0087, 1e-9);
    assert_near(gpm, 0.83, 1e-9);
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
    assert_false(crosscheck_disagrees(&check, METRIC_POWER, &pm, &gpm, &seconds));
}

static void a_load_that_changes_is_compared_over_the_same_time(void **state)
{
    (void)state;
    double pm, gpm, seconds;
    int64_t ms = 0;
    for (int64_t second = 1; second <= 12; second++) {
        double load = second <= 4 ? 0 : 0.9;
        for (; ms < 1000 * second; ms += 120)
            pm_batch(ms, load, load, 0);
        if (second > 4) /* GPM saw the busy part only */
            gpm_sample(1000 * (second - 1), 1000 * second, 0.9, 0.9);
    }
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
    assert_near(pm, 0.9, 0.02);
}

static void little_time_and_missing_values_prove_nothing(void **state)
{
    (void)state;
    double pm, gpm, seconds;
    for (int64_t ms = 0; ms < 3000; ms += 120)
        pm_batch(ms, 0.1, 0.1, NAN);
    gpm_sample(1000, 2000, 0.9, 0.9);
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
    gpm_sample(2000, 3000, 0.9, 0.9);
    for (int64_t ms = 3000; ms < 7000; ms += 120)
        pm_batch(ms, 0.1, 0.1, NAN);
    gpm_sample(3000, 6000, 0.9, 0.9);
    assert_true(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
    assert_false(
        crosscheck_disagrees(&check, METRIC_DRAM_THROUGHPUT, &pm, &gpm, &seconds)); /* NaN */
}

static void a_gap_of_either_begins_anew(void **state)
{
    (void)state;
    double pm, gpm, seconds;
    run_both(0.1, 0.9, 0, 0, 0); /* disagreed up to 11 s */
    for (int64_t ms = 20000; ms < 30000; ms += 120)
        pm_batch(ms, 0.5, 0, 0);
    gpm_sample(21000, 29000, 0.5, 0);
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
    assert_near(seconds, 8, 1e-9);
    /* PM sampling missed most of this span */
    gpm_sample(29000, 60000, 0.9, 0);
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
}

static void one_source_alone_is_never_checked(void **state)
{
    (void)state;
    double pm, gpm, seconds;
    for (int64_t second = 0; second < 10; second++)
        gpm_sample(1000 * second, 1000 * (second + 1), 0.9, 0.9);
    assert_false(crosscheck_disagrees(&check, METRIC_SM_ACTIVE, &pm, &gpm, &seconds));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        T(agreement_is_no_suspicion),
        T(disagreement_is_found_for_the_whole_and_its_parts),
        T(a_load_that_changes_is_compared_over_the_same_time),
        T(little_time_and_missing_values_prove_nothing),
        T(a_gap_of_either_begins_anew),
        T(one_source_alone_is_never_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
