/* SPDX-License-Identifier: MIT */
/* Windows that roll: what a daemon and a panel show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#include "base/clock.h"
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

static void plan_sm(enum source_id source, double rate_hz, enum value_state state,
                    const char *reason)
{
    struct plan_series one = sm[0];
    one.state = state;
    one.reason = reason;
    plan(source, rate_hz, 1, &one);
}

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

/* n samples of SM active from t0 on. */
static void samples(enum source_id source, double t0_s, double step_s, size_t n, double value)
{
    static const uint32_t column[] = {0};
    int64_t t0[500], t1[500];
    double v[500];
    for (size_t i = 0; i < n; i++) {
        t0[i] = begin + (int64_t)(t0_s * 1e9) + (int64_t)i * (int64_t)(step_s * 1e9);
        t1[i] = t0[i] + (int64_t)(step_s * 1e9);
        v[i] = value;
    }
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.source = source,
                                     .n = n,
                                     .t0_ns = t0,
                                     .t1_ns = t1,
                                     .columns = 1,
                                     .series = column,
                                     .values = v,
                                     .stride = n}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

/* n samples of 20 ms. */
static void pm(double t0_s, size_t n, double value)
{
    samples(SOURCE_PM, t0_s, 0.02, n, value);
}

static void gpm(double t0_s, size_t n, double value)
{
    samples(SOURCE_GPM, t0_s, 0.25, n, value);
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

/* To be released by snapshot_destroy. */
static struct snapshot *rolled(void)
{
    struct snapshot *s = NULL;
    collector_roll(c, 1);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    assert_true(s->taken_ns > 0);
    return s;
}

/* One value of a snapshot taken after rolling. */
static struct metric_stats stats(enum metric m)
{
    struct snapshot *s = rolled();
    struct metric_stats out = s->gpus[0].metrics[m];
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
    const struct plan_series gr = {METRIC_GR_ACTIVE, "gr_active", UNIT_RATIO, VALUE_OK, "", "", 0};
    plan(SOURCE_GPM, 0.1, 1, &gr);
    samples(SOURCE_GPM, 0, 10, 1, 0.7);
    pm(0, 50, 0.2);
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_OK);
    sleep(4);
    assert_int_equal(stats(METRIC_GR_ACTIVE).value.state, VALUE_OK); /* one in 10 s is planned */
    struct metric_stats m = stats(METRIC_SM_ACTIVE);
    assert_int_equal(m.value.state, VALUE_STALE);
    assert_contains(m.value.reason, "nothing new for");
    assert_near(m.value.v, 0.2, 1e-12);
}

/* ---- what was, and is no more ---- */

static void after_a_gap_the_window_before_is_over(void **state)
{
    (void)state;
    pm(0, 50, 0.2);
    assert_near(stats(METRIC_SM_ACTIVE).value.v, 0.2, 1e-12);
    pm(12, 5, 0.9); /* not a window yet */
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_WARMING);
    pm(12.1, 45, 0.9);
    assert_near(stats(METRIC_SM_ACTIVE).value.v, 0.9, 1e-12);
}

static void what_a_plan_turned_away_comes_back_warming(void **state)
{
    (void)state;
    pm(0, 50, 0.2);
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_OK);
    plan_sm(SOURCE_PM, 50, VALUE_BUSY, "lent to ncu");
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_BUSY);
    plan(SOURCE_PM, 50, 1, sm);
    pm(3, 5, 0.9); /* shorter than a gap that tears */
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_WARMING);
    pm(3.1, 45, 0.9);
    struct metric_stats m = stats(METRIC_SM_ACTIVE);
    assert_near(m.value.v, 0.9, 1e-12);
    assert_int_equal(m.samples, 50);
}

/* A measurement keeps what it has: its window is all of it. */
static void a_measurement_forgets_nothing(void **state)
{
    (void)state;
    struct snapshot *s = NULL;
    pm(0, 50, 0.2);
    plan_sm(SOURCE_PM, 50, VALUE_BUSY, "taken");
    plan(SOURCE_PM, 50, 1, sm);
    pm(12, 50, 0.4);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    assert_int_equal(s->gpus[0].samples, 100);
    assert_near(s->gpus[0].metrics[METRIC_SM_ACTIVE].value.v, 0.3, 1e-12);
    assert_int_equal(s->gpus[0].past[PAST_POWER].n, 0);
    snapshot_destroy(s);
}

/* One long pause is not how often samples come. */
static void a_pause_does_not_blind_for_silence(void **state)
{
    (void)state;
    pm(0, 50, 0.2);
    collector_roll(c, 1);
    sleep(2);
    pm(12, 50, 0.3);
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_OK);
    sleep(4); /* three times the 2 s would be 6 */
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_STALE);
}

static void silence_outweighs_suspicion_and_a_fresh_source_outweighs_silence(void **state)
{
    (void)state;
    plan_sm(SOURCE_PM, 50, VALUE_SUSPECT, "a load read otherwise");
    pm(0, 50, 0.2);
    struct metric_stats m = stats(METRIC_SM_ACTIVE);
    assert_int_equal(m.value.state, VALUE_SUSPECT);
    assert_string_equal(m.value.reason, "a load read otherwise");
    sleep(4);
    m = stats(METRIC_SM_ACTIVE);
    assert_int_equal(m.value.state, VALUE_STALE);
    assert_contains(m.value.reason, "nothing new for ");
    assert_contains(m.value.reason, " s; a load read otherwise");
    plan(SOURCE_GPM, 4, 1, sm);
    gpm(4, 5, 0.9);
    struct snapshot *s = rolled();
    m = s->gpus[0].metrics[METRIC_SM_ACTIVE];
    assert_int_equal(m.value.state, VALUE_OK);
    assert_int_equal(m.value.source, SOURCE_GPM);
    assert_near(m.value.v, 0.9, 1e-12);
    assert_int_equal(s->gpus[0].backend, SOURCE_GPM); /* and the window is of the numbers */
    assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.25, 1e-9);
    snapshot_destroy(s);
}

static void a_disagreement_is_still_said_when_both_are_silent(void **state)
{
    (void)state;
    plan(SOURCE_GPM, 4, 1, sm);
    for (int i = 0; i < 10; i++) {
        pm(i, 50, 0.2);
        gpm(i, 4, 0.9);
        collector_roll(c, 1);
    }
    assert_int_equal(stats(METRIC_SM_ACTIVE).value.state, VALUE_SUSPECT);
    sleep(4);
    struct metric_stats m = stats(METRIC_SM_ACTIVE);
    assert_int_equal(m.value.state, VALUE_STALE);
    assert_contains(m.value.reason, "nothing new for ");
    assert_contains(m.value.reason, " s; PM sampling reads 20.0 %, GPM 90.0 %");
}

/* ---- lent counters ---- */

/* 200 W: joules read every five seconds. */
static void run_both(int from_s, int to_s, bool with_pm)
{
    for (int i = from_s; i <= to_s; i++) {
        nvml(i, 200, i % 5 ? NAN : 1000 + 200.0 * i);
        if (with_pm)
            pm(i, 50, 0.5);
        collector_roll(c, 1);
    }
}

static void lent_counters_leave_the_driver_its_own_window(void **state)
{
    (void)state;
    run_both(0, 12, true);
    plan_sm(SOURCE_PM, 50, VALUE_BUSY, "lent to ncu");
    run_both(13, 32, false);
    struct snapshot *s = rolled();
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_int_equal(g->backend, SOURCE_NVML);
    assert_near((double)(g->t1_ns - begin) * 1e-9, 32, 1e-9);
    assert_near(gpu_snapshot_window_s(g), 1, 1e-9);
    assert_int_equal(g->samples, 1);
    assert_int_equal(g->metrics[METRIC_SM_ACTIVE].value.state, VALUE_BUSY);
    assert_string_equal(g->metrics[METRIC_SM_ACTIVE].value.reason, "lent to ncu");
    assert_int_equal(g->metrics[METRIC_ENERGY].value.state, VALUE_OK);
    assert_near(g->metrics[METRIC_ENERGY].value.v, 200, 1e-6);
    snapshot_destroy(s);
}

/* The newest window of GPM at one reading in 10 s may have ended 10 s ago. */
static void lent_counters_beside_a_slow_second_source(void **state)
{
    (void)state;
    plan(SOURCE_GPM, 0.1, 1, sm);
    run_both(0, 12, true);
    samples(SOURCE_GPM, 2, 10, 1, 0.4);
    plan_sm(SOURCE_PM, 50, VALUE_BUSY, "lent to ncu");
    run_both(13, 21, false);
    struct snapshot *s = rolled();
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_int_equal(g->backend, SOURCE_GPM);
    assert_near(gpu_snapshot_window_s(g), 10, 1e-9);
    assert_near(g->metrics[METRIC_SM_ACTIVE].value.v, 0.4, 1e-12);
    assert_int_equal(g->metrics[METRIC_ENERGY].value.state, VALUE_OK);
    assert_near(g->metrics[METRIC_ENERGY].value.v, 2000, 1e-6); /* of 10 s */
    snapshot_destroy(s);
}

/* ---- the windows before ---- */

static void the_windows_before_are_kept(void **state)
{
    (void)state;
    run_both(0, 20, true);
    struct snapshot *s = rolled();
    const struct metric_past *power = &s->gpus[0].past[PAST_POWER];
    const struct metric_past *energy = &s->gpus[0].past[PAST_ENERGY];
    assert_int_equal(power->n, PAST_WINDOWS);
    for (size_t i = 0; i < PAST_WINDOWS; i++) {
        assert_int_equal(power->list[i].t1_ns, begin + (int64_t)(5 + i) * s1);
        assert_int_equal(power->list[i].t0_ns, power->list[i].t1_ns - s1);
        assert_near(power->list[i].v, 200, 1e-9);
        assert_near(power->list[i].coverage, 1, 1e-9);
        assert_int_equal(power->list[i].state, VALUE_OK);
    }
    assert_int_equal(energy->n, 4); /* from reading to reading, in watts */
    assert_int_equal(energy->list[3].t0_ns, begin + 15 * s1);
    assert_int_equal(energy->list[3].t1_ns, begin + 20 * s1);
    assert_near(energy->list[3].v, 200, 1e-9);
    snapshot_destroy(s);
    nvml(40, 100, NAN); /* after a gap nothing is known of before */
    s = rolled();
    assert_int_equal(s->gpus[0].past[PAST_POWER].n, 1);
    assert_int_equal(s->gpus[0].past[PAST_ENERGY].n, 0);
    snapshot_destroy(s);
}

/* ---- servers ---- */

/* Its window began so long ago, and so many requests run. */
static void server(double t0_s, double t1_s, double running)
{
    const struct event_server_metric m = {METRIC_RUNNING, VALUE_OK, running, "", "x", ""};
    struct event ev = {.kind = EVENT_SERVER,
                       .u.server = {.url = "http://127.0.0.1:8000/metrics",
                                    .kind = "vllm",
                                    .model = "",
                                    .state = VALUE_OK,
                                    .reason = "",
                                    .t0_ns = begin + (int64_t)(t0_s * 1e9),
                                    .t1_ns = begin + (int64_t)(t1_s * 1e9),
                                    .n = 1,
                                    .metrics = &m}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
}

static struct server_metric running(void)
{
    struct snapshot *s = rolled();
    struct server_metric m = *server_snapshot_metric(&s->servers[0], METRIC_RUNNING);
    snapshot_destroy(s);
    return m;
}

/* A request of yesterday says nothing of an idle GPU now. */
static void readings_of_a_server_are_those_of_two_windows(void **state)
{
    (void)state;
    collector_roll(c, 1);
    for (int i = 1; i <= 5; i++)
        server(0.001 * i, i, 4); /* clocks differ a little */
    struct server_metric m = running();
    assert_int_equal(m.readings, 5);
    assert_near(m.mean, 4, 1e-12);
    server(5, 6, 1);
    m = running();
    assert_int_equal(m.readings, 6);
    assert_near(m.mean, 3.5, 1e-12);
    assert_near(m.max, 4, 0);
    for (int i = 7; i <= 10; i++)
        server(5, i, 1);
    server(10, 11, 0);
    m = running();
    assert_int_equal(m.readings, 6);
    assert_near(m.max, 1, 0);
    assert_near(m.mean, 5.0 / 6, 1e-12);
    server(15, 16, 0);
    m = running();
    assert_int_equal(m.readings, 2);
    assert_near(m.max, 0, 0);
    struct snapshot *s = rolled();
    assert_int_equal(s->servers[0].before.t0_ns, begin + 10 * s1);
    assert_int_equal(s->servers[0].before.t1_ns, begin + 11 * s1);
    snapshot_destroy(s);
}

/* ---- notes ---- */

static void a_full_list_of_notes_loses_the_oldest(void **state)
{
    (void)state;
    struct snapshot *s = NULL;
    for (int i = 0; i < 100; i++)
        assert_int_equal(event_push_note(&sink, NOTE_ERROR, -1, NULL, "error %d", i), OK);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    assert_int_equal(s->notes[0].t_ns, 0); /* of a file nobody knows */
    snapshot_destroy(s);
    collector_roll(c, 1);
    int64_t before_ns = clock_unix_ns();
    assert_int_equal(event_push_note(&sink, NOTE_WARNING, -1, NULL, "new"), OK);
    s = rolled();
    assert_int_equal(s->n_notes, 101);
    assert_string_equal(s->notes[0].text, "error 1");
    assert_true(s->notes[0].t_ns > 0 && s->notes[0].t_ns <= before_ns);
    assert_string_equal(s->notes[99].text, "new");
    assert_true(s->notes[99].t_ns >= before_ns && s->notes[99].t_ns <= clock_unix_ns());
    assert_string_equal(s->notes[100].text, "1 older note was left out");
    assert_int_equal(s->notes[100].t_ns, 0);
    snapshot_destroy(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_window_is_the_newest_second),
        TEST(a_gap_between_windows_is_seen),
        TEST(few_samples_make_a_longer_window),
        TEST(what_is_read_seldom_stays),
        TEST(a_clock_that_was_set_back_begins_anew),
        TEST(silence_is_stale),
        TEST(after_a_gap_the_window_before_is_over),
        TEST(what_a_plan_turned_away_comes_back_warming),
        TEST(a_measurement_forgets_nothing),
        TEST(a_pause_does_not_blind_for_silence),
        TEST(silence_outweighs_suspicion_and_a_fresh_source_outweighs_silence),
        TEST(a_disagreement_is_still_said_when_both_are_silent),
        TEST(lent_counters_leave_the_driver_its_own_window),
        TEST(lent_counters_beside_a_slow_second_source),
        TEST(the_windows_before_are_kept),
        TEST(readings_of_a_server_are_those_of_two_windows),
        TEST(a_full_list_of_notes_loses_the_oldest),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
