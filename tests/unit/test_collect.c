/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

#include "collect/collect.h"

static struct collector *c;
static struct event_sink sink;

static int set_up(void **state)
{
    (void)state;
    struct error err;
    assert_int_equal(collector_create(&c, &err), OK);
    sink = collector_sink(c);
    struct event gpu = {
        .kind = EVENT_GPU,
        .u.gpu = {.gpu = 3, .name = "x\x1b", .uuid = "u", .chip = "", .pci_bus = ""}};
    assert_int_equal(event_push(&sink, &gpu, &err), OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    collector_destroy(c);
    return 0;
}

static enum status plan(enum source_id source, size_t n, enum value_state state, const char *reason)
{
    struct plan_series series[2] = {
        {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, state, reason, "counter", 0},
        {METRIC_NONE, "other \"x\"", UNIT_COUNT, VALUE_OK, "", "", 0}};
    struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.gpu = 3, .source = source, .rate_hz = 50, .n = n, .series = series}};
    return event_push(&sink, &ev, NULL);
}

static enum status samples(enum source_id source, const int64_t *t0, const int64_t *t1,
                           const double *values, size_t n)
{
    static const uint32_t series[] = {0};
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.gpu = 3,
                                     .source = source,
                                     .n = n,
                                     .t0_ns = t0,
                                     .t1_ns = t1,
                                     .columns = 1,
                                     .series = series,
                                     .values = values,
                                     .stride = n}};
    return event_push(&sink, &ev, NULL);
}

static struct snapshot *snapshot(void)
{
    struct snapshot *s = NULL;
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    return s;
}

static void statistics_window_and_coverage(void **state)
{
    (void)state;
    static const int64_t t0[] = {0, 20, 60, 80}, t1[] = {20, 40, 80, 100};
    static const double values[] = {0.1, 0.2, NAN, 0.6};
    assert_int_equal(plan(SOURCE_PM, 2, VALUE_OK, ""), OK);
    assert_int_equal(samples(SOURCE_PM, t0, t1, values, 4), OK);
    struct snapshot *s = snapshot();
    const struct gpu_snapshot *g = &s->gpus[0];
    const struct metric_stats *m = &g->metrics[METRIC_SM_ACTIVE];
    assert_int_equal(g->index, 3);
    assert_string_equal(g->name, "x\xEF\xBF\xBD");
    assert_near(m->value.v, 0.3, 1e-15);
    assert_int_equal(m->samples, 3);
    assert_near(m->p50, 0.2, 0);
    assert_near(m->max, 0.6, 0);
    assert_int_equal(g->samples, 4);
    assert_near(g->coverage, 0.8, 1e-12);
    assert_int_equal(g->gaps, 1);
    assert_near(g->longest_gap_s, 20e-9, 1e-15);
    assert_int_equal(g->n_extras, 1);
    assert_int_equal(g->extras[0].stats.value.state, VALUE_FAILED); /* no sample came */
    assert_int_equal(g->metrics[METRIC_POWER].value.state, VALUE_UNSUPPORTED);
    snapshot_destroy(s);
}

/* GPM and the driver are read less often after a while; the mean is one of time. */
static void seldom_samples_count_by_their_time(void **state)
{
    (void)state;
    const int64_t s1 = INT64_C(1000000000);
    int64_t t0 = 100 * s1;
    plan(SOURCE_GPM, 1, VALUE_OK, "");
    for (int i = 0; i < 20; i++) { /* ten of a second, ten of ten seconds */
        int64_t t1 = t0 + (i < 10 ? s1 : 10 * s1);
        samples(SOURCE_GPM, &t0, &t1, &(const double){i < 10 ? 1 : 0.01}, 1);
        t0 = t1;
    }
    struct snapshot *s = snapshot();
    const struct metric_stats *m = &s->gpus[0].metrics[METRIC_SM_ACTIVE];
    assert_near(m->value.v, (10 * 1 + 100 * 0.01) / 110, 1e-9);
    assert_near(m->p50, 0.01, 0);
    assert_near(m->idle_share, 100.0 / 110, 1e-9);
    assert_int_equal(m->samples, 20);
    snapshot_destroy(s);
}

/* Readings of a moment: each stands for the time since the one before; not for a hole. */
static void readings_of_a_moment_count_by_their_time(void **state)
{
    (void)state;
    const int64_t s1 = INT64_C(1000000000);
    struct plan_series series = {METRIC_POWER, "power", UNIT_WATTS, VALUE_OK, "", "", 0};
    struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.gpu = 3, .source = SOURCE_NVML, .rate_hz = 1, .n = 1, .series = &series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
    int64_t t = 100 * s1;
    for (int i = 0; i < 22; i++) { /* twelve each second, ten each five seconds */
        t += i < 12 ? s1 : 5 * s1;
        samples(SOURCE_NVML, &t, &t, &(const double){i < 12 ? 700 : 100}, 1);
    }
    struct snapshot *s = snapshot();
    assert_near(s->gpus[0].metrics[METRIC_POWER].value.v, (12 * 700 + 50 * 100) / 62.0, 1e-6);
    snapshot_destroy(s);
    t += 3600 * s1;
    samples(SOURCE_NVML, &t, &t, &(const double){100}, 1); /* one second, not an hour */
    s = snapshot();
    assert_near(s->gpus[0].metrics[METRIC_POWER].value.v, (12 * 700 + 51 * 100) / 63.0, 1e-6);
    snapshot_destroy(s);
}

static void shares_above_one_are_suspect(void **state)
{
    (void)state;
    static const int64_t t0[] = {0, 20}, t1[] = {20, 40};
    static const double values[] = {0.5, 3.0};
    plan(SOURCE_PM, 2, VALUE_OK, "");
    samples(SOURCE_PM, t0, t1, values, 2);
    struct snapshot *s = snapshot();
    assert_int_equal(s->gpus[0].metrics[METRIC_SM_ACTIVE].value.state, VALUE_SUSPECT);
    assert_contains(s->gpus[0].metrics[METRIC_SM_ACTIVE].value.reason,
                    "1 of 2 samples above 100 %");
    snapshot_destroy(s);
}

/* Readings in seconds 1..n, and a window of the hardware counters. */
static const struct value *reading(enum metric metric, const double *joules, size_t n,
                                   double from_s, double window_s)
{
    static struct value value;
    static const int64_t s1 = 1000000000;
    int64_t t0[] = {(int64_t)(from_s * 1e9)}, t1[] = {(int64_t)((from_s + window_s) * 1e9)}, at[8];
    double sm[] = {0.5};
    struct plan_series series = {(int)metric, "x", metric_info(metric)->unit, VALUE_OK, "", "", 0};
    struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {.gpu = 3, .source = SOURCE_NVML, .rate_hz = 1, .n = 1, .series = &series}};
    for (size_t i = 0; i < n; i++)
        at[i] = (int64_t)(i + 1) * s1;
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
    assert_int_equal(samples(SOURCE_NVML, at, at, joules, n), OK);
    assert_int_equal(plan(SOURCE_PM, 1, VALUE_OK, ""), OK);
    assert_int_equal(samples(SOURCE_PM, t0, t1, sm, 1), OK);
    struct snapshot *s = snapshot();
    value = s->gpus[0].metrics[metric].value;
    snapshot_destroy(s);
    return &value;
}

static void energy_is_that_of_the_whole_window(void **state)
{
    (void)state;
    static const double joules[] = {100, 300, NAN, 700, 900, 1100, 1300, 1500};
    const struct value *v = reading(METRIC_ENERGY, joules, 8, 0, 10);
    assert_int_equal(v->state, VALUE_OK);
    assert_near(v->v, 2000, 1e-9); /* not the 1400 between the first and the last reading */
}

/* Read every third second: a window may begin and end longer after a reading. */
static void energy_that_is_read_seldom(void **state)
{
    (void)state;
    static const double joules[] = {NAN, 400, NAN, NAN, 1000, NAN, NAN, 1600};
    const struct value *v = reading(METRIC_ENERGY, joules, 8, 0, 11);
    assert_int_equal(v->state, VALUE_OK);
    assert_near(v->v, 2200, 1e-9);
}

/* Seconds 1, 2 and 8, and then nothing: of the last nine nothing is known. */
static void a_hole_in_the_readings_excuses_nothing(void **state)
{
    (void)state;
    static const double joules[] = {200, 400, NAN, NAN, NAN, NAN, NAN, 1600};
    assert_int_equal(reading(METRIC_ENERGY, joules, 8, 0, 19)->state, VALUE_FAILED);
}

static void energy_of_too_few_readings_is_no_number(void **state)
{
    (void)state;
    static const double joules[] = {100, 300};
    const struct value *v = reading(METRIC_ENERGY, joules, 2, 0, 3);
    assert_int_equal(v->state, VALUE_WARMING);
    assert_string_equal(v->reason, "its readings cover 1.0 of 3.0 s: measure longer");
}

static void energy_of_another_time_is_no_number(void **state)
{
    (void)state;
    static const double joules[] = {100, 300, 500, 700, 900, 1100, 1300, 1500};
    assert_int_equal(reading(METRIC_ENERGY, joules, 8, 5, 3)->state, VALUE_FAILED);
}

static void a_late_error_is_counted(void **state)
{
    (void)state;
    static const double errors[] = {0, 0, 0, 0, 0, 0, 1, NAN};
    const struct value *v = reading(METRIC_ECC_ERRORS, errors, 8, 0, 10);
    assert_int_equal(v->state, VALUE_OK);
    assert_near(v->v, 1, 0); /* not the mean */
}

static void energy_that_began_again_is_no_number(void **state)
{
    (void)state;
    static const double joules[] = {1000, 1200, 1400, 1600, 0, 200, 400, 600};
    assert_int_equal(reading(METRIC_ENERGY, joules, 8, 0, 10)->state, VALUE_FAILED);
}

static void later_plan_changes_the_state(void **state)
{
    (void)state;
    static const int64_t t0[] = {0}, t1[] = {20};
    static const double values[] = {0.5};
    plan(SOURCE_PM, 2, VALUE_OK, "");
    samples(SOURCE_PM, t0, t1, values, 1);
    plan(SOURCE_PM, 2, VALUE_BUSY, "another process holds the counters");
    struct snapshot *s = snapshot();
    const struct metric_stats *m = &s->gpus[0].metrics[METRIC_SM_ACTIVE];
    assert_int_equal(m->value.state, VALUE_BUSY);
    assert_string_equal(m->value.reason, "another process holds the counters");
    assert_true(isnan(m->min));
    snapshot_destroy(s);
    assert_int_equal(plan(SOURCE_PM, 1, VALUE_OK, ""), ERR_BAD_INPUT);
}

static void a_source_with_a_number_wins(void **state)
{
    (void)state;
    static const int64_t t0[] = {0}, t1[] = {20};
    static const double values[] = {0.5};
    plan(SOURCE_PM, 1, VALUE_BUSY, "taken");
    plan(SOURCE_GPM, 1, VALUE_OK, "");
    samples(SOURCE_GPM, t0, t1, values, 1);
    struct snapshot *s = snapshot();
    assert_int_equal(s->gpus[0].metrics[METRIC_SM_ACTIVE].value.source, SOURCE_GPM);
    snapshot_destroy(s);
}

static void samples_need_a_plan(void **state)
{
    (void)state;
    static const int64_t t[] = {0};
    static const double values[] = {0.5};
    assert_int_equal(samples(SOURCE_PM, t, t, values, 1), ERR_BAD_INPUT);
    plan(SOURCE_PM, 0, VALUE_OK, "");
    assert_int_equal(samples(SOURCE_PM, t, t, values, 1), ERR_BAD_INPUT);
}

/* The verdict tells bursts from pauses by these two. */
static void low_quantile_and_idle_share(void **state)
{
    (void)state;
    enum { N = 40 };
    int64_t t0[N], t1[N];
    double values[N];
    for (int i = 0; i < N; i++) {
        t0[i] = 20 * i;
        t1[i] = t0[i] + 20;
        values[i] = i < 10 ? 0.02 : 0.5 + i / 100.0;
    }
    plan(SOURCE_PM, 1, VALUE_OK, "");
    samples(SOURCE_PM, t0, t1, values, N);
    struct snapshot *s = snapshot();
    const struct metric_stats *m = &s->gpus[0].metrics[METRIC_SM_ACTIVE];
    assert_near(m->p05, 0.02, 0);
    assert_near(m->idle_share, 0.25, 1e-12);
    assert_true(isnan(s->gpus[0].metrics[METRIC_POWER].idle_share));
    assert_true(isnan(s->gpus[0].metrics[METRIC_POWER].p05));
    snapshot_destroy(s);
}

/* Four rows, each lifted from a trace to 1 %, are idle together. */
static void a_sum_of_rows_is_idle_at_one_step_each(void **state)
{
    (void)state;
    static const char rows[] = "NVLink RX Requests Protocol Data [Throughput %] + "
                               "NVLink RX Requests User Data [Throughput %] + "
                               "NVLink RX Responses Protocol Data [Throughput %] + "
                               "NVLink RX Responses User Data [Throughput %]";
    static const int64_t t0[] = {0, 20}, t1[] = {20, 40};
    static const double values[] = {0.01 + 0.01 + 0.01 + 0.01, 0.05};
    struct plan_series series = {
        METRIC_NVLINK_RX_THROUGHPUT, "nvlink_rx_throughput", UNIT_RATIO, VALUE_OK, "", rows, 0.04};
    struct event ev = {.kind = EVENT_PLAN,
                       .u.plan = {.gpu = 3, .source = SOURCE_NSYS, .n = 1, .series = &series}};
    assert_int_equal(event_push(&sink, &ev, NULL), OK);
    samples(SOURCE_NSYS, t0, t1, values, 2);
    struct snapshot *s = snapshot();
    const struct metric_stats *m = &s->gpus[0].metrics[METRIC_NVLINK_RX_THROUGHPUT];
    assert_near(m->idle_share, 0.5, 0);
    assert_string_equal(m->counter, rows);
    snapshot_destroy(s);
}

static void push_notes(int n, enum note_level level)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(
            event_push_note(&sink, level, -1, NULL, "%s %d\n", note_level_name(level), i), OK);
}

static void as_many_notes_as_fit_are_all_kept(void **state)
{
    (void)state;
    push_notes(100, NOTE_WARNING);
    struct snapshot *s = snapshot();
    assert_int_equal(s->n_notes, 100);
    assert_string_equal(s->notes[0].text, "warning 0?");
    assert_string_equal(s->notes[99].text, "warning 99?");
    snapshot_destroy(s);
}

static void notes_beyond_that_are_counted(void **state)
{
    (void)state;
    push_notes(101, NOTE_WARNING);
    struct snapshot *s = snapshot();
    assert_int_equal(s->n_notes, 101);
    assert_string_equal(s->notes[99].text, "warning 99?");
    assert_string_equal(s->notes[100].text, "1 further note was left out");
    assert_int_equal(s->notes[100].level, NOTE_WARNING);
    snapshot_destroy(s);
    push_notes(899, NOTE_INFO);
    s = snapshot();
    assert_string_equal(s->notes[100].text, "900 further notes were left out");
    assert_int_equal(s->notes[100].level, NOTE_WARNING);
    snapshot_destroy(s);
}

static size_t count_level(const struct snapshot *s, enum note_level level)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_notes; i++)
        n += s->notes[i].level == level;
    return n;
}

static void errors_stay_when_warnings_and_infos_go(void **state)
{
    (void)state;
    push_notes(60, NOTE_INFO);
    push_notes(60, NOTE_WARNING); /* 20 infos go */
    push_notes(70, NOTE_ERROR);   /* the other 40 infos and 30 warnings go */
    struct snapshot *s = snapshot();
    assert_int_equal(s->n_notes, 101);
    assert_int_equal(count_level(s, NOTE_ERROR), 70);
    assert_int_equal(count_level(s, NOTE_INFO), 0);
    assert_string_equal(s->notes[0].text, "warning 0?"); /* the oldest stay, in their order */
    assert_string_equal(s->notes[99].text, "error 69?");
    assert_string_equal(s->notes[100].text, "90 further notes were left out");
    assert_int_equal(s->notes[100].level, NOTE_WARNING);
    snapshot_destroy(s);
}

/* ---- servers ---- */

static enum status server(const char *url, const char *kind, enum value_state state, double tokens,
                          double running)
{
    bool ok = state == VALUE_OK;
    struct event_server_metric metrics[] = {
        {METRIC_OUTPUT_TOKENS_PER_SECOND, ok ? VALUE_OK : VALUE_STALE, tokens, ok ? "" : "old",
         "vllm:g", ""},
        {METRIC_RUNNING, state, ok ? running : NAN, ok ? "" : "gone", "", "steps"}};
    int64_t pids[100] = {78};
    struct event ev = {.kind = EVENT_SERVER,
                       .u.server = {.url = url,
                                    .kind = kind,
                                    .model = "m\x1b",
                                    .pid = 77,
                                    .n_gpu_pids = 100,
                                    .gpu_pids = pids,
                                    .state = state,
                                    .reason = ok ? "" : "gone",
                                    .t0_ns = 1000000000,
                                    .t1_ns = 3500000000,
                                    .n = 2,
                                    .metrics = metrics}};
    return event_push(&sink, &ev, NULL);
}

static void a_servers_newest_event_counts(void **state)
{
    (void)state;
    assert_int_equal(server("a", "vllm", VALUE_OK, 100, 4), OK);
    assert_int_equal(server("b", "", VALUE_FAILED, 3, 0), OK);
    assert_int_equal(server("a", "vllm", VALUE_OK, 120, 1), OK);
    struct snapshot *s = snapshot();
    assert_int_equal(s->n_servers, 2);
    const struct server_snapshot *a = &s->servers[0];
    const struct server_metric *running = server_snapshot_metric(a, METRIC_RUNNING);
    assert_string_equal(a->url, "a");
    assert_string_equal(a->model, "m\xEF\xBF\xBD"); /* nothing that a terminal obeys */
    assert_int_equal(a->pid, 77);
    assert_int_equal(a->n_gpu_pids, SERVER_PIDS_MAX);
    assert_int_equal(a->gpu_pids[0], 78);
    assert_near(server_snapshot_window_s(a), 2.5, 1e-9);
    assert_near(running->value.v, 1, 0);
    assert_int_equal(running->readings, 2);
    assert_near(running->mean, 2.5, 1e-12);
    assert_near(running->max, 4, 0);
    assert_string_equal(running->freshness, "steps");
    assert_int_equal(server_snapshot_metric(a, METRIC_TTFT)->value.state, VALUE_UNSUPPORTED);
    assert_string_equal(s->servers[1].reason, "gone");
    const struct value *old =
        &server_snapshot_metric(&s->servers[1], METRIC_OUTPUT_TOKENS_PER_SECOND)->value;
    assert_int_equal(old->state, VALUE_STALE);
    assert_near(old->v, 3, 0);
    snapshot_destroy(s);
}

static void a_server_that_fails_stays_what_it_was(void **state)
{
    (void)state;
    assert_int_equal(server("a", "vllm", VALUE_OK, 100, 4), OK);
    collector_forget(c);
    assert_int_equal(server("a", "", VALUE_FAILED, 100, 0), OK);
    struct snapshot *s = snapshot();
    const struct server_metric *running = server_snapshot_metric(&s->servers[0], METRIC_RUNNING);
    assert_string_equal(s->servers[0].kind, "vllm");
    assert_int_equal(s->servers[0].state, VALUE_FAILED);
    assert_int_equal(running->value.state, VALUE_FAILED);
    assert_string_equal(running->value.reason, "gone");
    assert_int_equal(running->readings, 0); /* those before the window are forgotten */
    snapshot_destroy(s);
}

/* What is watched no more is no server of this machine: another one is alone from then on. */
static void a_server_that_is_gone_is_taken_out(void **state)
{
    (void)state;
    struct event gone = {.kind = EVENT_SERVER,
                         .u.server = {.url = "b",
                                      .kind = "",
                                      .model = "",
                                      .state = VALUE_FAILED,
                                      .reason = "nobody listens",
                                      .is_gone = true}};
    assert_int_equal(event_push(&sink, &gone, NULL), OK); /* never seen: nothing comes of it */
    assert_int_equal(server("a", "vllm", VALUE_OK, 100, 4), OK);
    assert_int_equal(server("b", "vllm", VALUE_OK, 7, 1), OK);
    assert_int_equal(server("c", "sglang", VALUE_OK, 9, 2), OK);
    assert_int_equal(event_push(&sink, &gone, NULL), OK);
    struct snapshot *s = snapshot();
    assert_int_equal(s->n_servers, 2);
    assert_string_equal(s->servers[0].url, "a");
    assert_string_equal(s->servers[1].url, "c");
    assert_string_equal(s->servers[1].kind, "sglang");
    snapshot_destroy(s);
    assert_int_equal(server("b", "tgi", VALUE_OK, 3, 1), OK); /* it came back */
    s = snapshot();
    assert_int_equal(s->n_servers, 3);
    assert_string_equal(s->servers[2].kind, "tgi");
    assert_int_equal(server_snapshot_metric(&s->servers[2], METRIC_RUNNING)->readings, 1);
    snapshot_destroy(s);
}

static void too_many_servers_are_left_out(void **state)
{
    (void)state;
    char url[16];
    for (int i = 0; i < 300; i++) {
        snprintf(url, sizeof url, "u%d", i);
        assert_int_equal(server(url, "vllm", VALUE_OK, 1, 1), OK);
    }
    struct snapshot *s = snapshot();
    assert_int_equal(s->n_servers, 256);
    snapshot_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statistics_window_and_coverage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seldom_samples_count_by_their_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readings_of_a_moment_count_by_their_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(shares_above_one_are_suspect, set_up, tear_down),
        cmocka_unit_test_setup_teardown(later_plan_changes_the_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_source_with_a_number_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_need_a_plan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(low_quantile_and_idle_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sum_of_rows_is_idle_at_one_step_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_is_that_of_the_whole_window, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hole_in_the_readings_excuses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_that_is_read_seldom, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_of_too_few_readings_is_no_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_of_another_time_is_no_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_error_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_that_began_again_is_no_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_many_notes_as_fit_are_all_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes_beyond_that_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_servers_newest_event_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_fails_stays_what_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_is_gone_is_taken_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_servers_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_stay_when_warnings_and_infos_go, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
