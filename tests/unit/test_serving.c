/* SPDX-License-Identifier: MIT */
/* Servers and GPUs joined: numbers worked out by hand, and every reason why there is none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "base/str.h"
#include "judge/serving.h"

static struct snapshot s;

static const int64_t begin_ns = INT64_C(1796000000000000000), second_ns = INT64_C(1000000000);

static void set_gpu(unsigned i, enum metric m, double v)
{
    struct metric_stats *stats = &s.gpus[i].metrics[m];
    value_set(&stats->value, SOURCE_PM, 1, v);
    stats->min = stats->p05 = stats->p50 = stats->p95 = stats->max = v;
    stats->samples = 500;
    stats->idle_share = v <= 0.02;
}

static void set_server(unsigned i, enum metric m, double v)
{
    struct server_metric *x = &s.servers[i].metrics[m - SERVER_METRIC_FIRST];
    value_set(&x->value, SOURCE_SERVER, 1, v);
    x->readings = 10;
    x->mean = x->max = v;
}

static void refuse_server(enum metric m, enum value_state state, const char *reason)
{
    value_set_state(&s.servers[0].metrics[m - SERVER_METRIC_FIRST].value, SOURCE_SERVER, state,
                    "%s", reason);
}

/* A decoding GPU of 4 TB/s: 3.1 + 0.1 TB/s, 200 tokens/s, 4000 J in 10 s. The server's process has
 * a child on the GPU. */
static int set_up(void **state)
{
    (void)state;
    s = (struct snapshot){.n_gpus = 1, .n_servers = 1};
    s.gpus = calloc(2, sizeof *s.gpus);
    s.servers = calloc(2, sizeof *s.servers);
    for (unsigned i = 0; i < 2; i++) {
        struct gpu_snapshot *g = &s.gpus[i];
        *g = (struct gpu_snapshot){.index = i, .samples = 500, .coverage = 1, .t0_ns = begin_ns};
        g->t1_ns = begin_ns + 10 * second_ns;
        g->processes_known = true;
        g->n_processes = 1;
        g->processes = calloc(1, sizeof *g->processes);
        g->processes[0].pid = 78 + i;
        set_gpu(i, METRIC_GR_ACTIVE, 0.99);
        set_gpu(i, METRIC_SM_ACTIVE, 0.86);
        set_gpu(i, METRIC_SM_ISSUE, 0.1);
        set_gpu(i, METRIC_TENSOR_ACTIVE, 0.03);
        set_gpu(i, METRIC_DRAM_READ, 0.775);
        set_gpu(i, METRIC_DRAM_WRITE, 0.025);
        set_gpu(i, METRIC_DRAM_READ_BYTES, 3.1e12);
        set_gpu(i, METRIC_DRAM_WRITE_BYTES, 0.1e12);
        set_gpu(i, METRIC_ENERGY, 4000);
        set_gpu(i, METRIC_POWER, 500);
        struct server_snapshot *x = &s.servers[i];
        snprintf(x->url, sizeof x->url, "http://127.0.0.1:800%u/metrics", i);
        x->state = VALUE_OK;
        x->pid = 10 + i;
        x->n_gpu_pids = 1;
        x->gpu_pids[0] = 78 + i;
        x->t0_ns = begin_ns + second_ns / 10;
        x->t1_ns = begin_ns + 10 * second_ns;
        set_server(i, METRIC_OUTPUT_TOKENS_PER_SECOND, 200);
        set_server(i, METRIC_RUNNING, 1);
        set_server(i, METRIC_WAITING, 0);
        set_server(i, METRIC_KV_USAGE, 0.1);
        set_server(i, METRIC_TPOT, 0.005);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        free(s.gpus[i].processes);
    free(s.gpus);
    free(s.servers);
    return 0;
}

static void expect_number(enum metric m, double v)
{
    struct value out = {0};
    serving_derive(&s, 0, m, &out);
    if (out.state != VALUE_OK)
        fail_msg("%s: %s", value_state_name(out.state), out.reason);
    assert_near(out.v, v, 1e-9 * v);
    assert_int_equal(out.source, SOURCE_DERIVED);
}

static void expect_none(enum metric m, enum value_state state, const char *reason)
{
    struct value out = {0};
    serving_derive(&s, 0, m, &out);
    assert_int_equal(out.state, state);
    assert_false(value_has_number(&out));
    assert_string_equal(out.reason, reason);
}

static void one_server_on_one_gpu(void **state)
{
    (void)state;
    /* (3.1 + 0.1) TB/s ÷ 200/s = 16 GB; 4000 J ÷ 10 s ÷ 200/s = 2 J */
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 16e9);
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2);
    struct value only = {0};
    serving_derive_only(&s, METRIC_BYTES_PER_OUTPUT_TOKEN, &only);
    assert_near(only.v, 16e9, 1);
    /* 500 W ÷ 200/s where the driver counts no energy */
    value_set_state(&s.gpus[0].metrics[METRIC_ENERGY].value, SOURCE_NVML, VALUE_UNSUPPORTED, "no");
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2.5);
}

/* Somebody else's traffic is not that of the tokens, nor is half of the traffic. */
static void what_is_not_the_servers_alone(void **state)
{
    (void)state;
    const struct snapshot_process both[] = {{78, "own", NAN, 0.9}, {500, "other", NAN, 0.3}};
    struct snapshot_process *list = calloc(2, sizeof *list);
    memcpy(list, both, sizeof both);
    free(s.gpus[0].processes);
    s.gpus[0].processes = list;
    s.gpus[0].n_processes = 2;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "another program works on GPU 0, too");
    list[1].sm_utilization = NAN;
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 16e9);
    s.gpus[0].coverage = 0.51;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "GPU 0 was sampled 51 % of the time only");
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2); /* the driver counts those by itself */
}

/* What the server says of one of its GPUs, against the mean of them. */
static void measured_against_the_servers_own_estimate(void **state)
{
    (void)state;
    struct value *estimate =
        &s.servers[0].metrics[METRIC_ESTIMATED_BYTES - SERVER_METRIC_FIRST].value;
    value_set_state(estimate, SOURCE_SERVER, VALUE_UNSUPPORTED, "no such series");
    expect_none(METRIC_MEASURED_TO_ESTIMATED, VALUE_UNSUPPORTED, "Estimated DRAM: no such series");
    value_set(estimate, SOURCE_SERVER, 1, 2.5e12); /* (3.1 + 0.1) TB/s over it */
    expect_number(METRIC_MEASURED_TO_ESTIMATED, 1.28);
    value_set(estimate, SOURCE_SERVER, 1, 0);
    expect_none(METRIC_MEASURED_TO_ESTIMATED, VALUE_WARMING, "the server reckons with no traffic");
}

static void one_server_on_two_gpus(void **state)
{
    (void)state;
    s.n_gpus = 2;
    s.servers[0].n_gpu_pids = 2;
    s.servers[0].gpu_pids[1] = 79;
    set_gpu(1, METRIC_DRAM_READ_BYTES, 1e12);
    set_gpu(1, METRIC_ENERGY, 2000);
    /* (3.2 + 1.1) TB/s ÷ 200/s; (400 + 200) W ÷ 200/s */
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 21.5e9);
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 3);
}

static void who_serves_where(void **state)
{
    (void)state;
    s.n_gpus = 2;
    assert_int_equal(serving_of(&s, 0, 0), SERVING_BY_PROCESS);
    assert_int_equal(serving_of(&s, 0, 1), SERVING_NOT);
    s.servers[0].n_gpu_pids = 0;
    assert_int_equal(serving_of(&s, 0, 0), SERVING_NOT);
    s.servers[0].pid = 79;
    assert_int_equal(serving_of(&s, 0, 1), SERVING_BY_PROCESS);
    /* a process that the driver does not list: the only one of both, and local */
    s.servers[0].pid = 5;
    s.n_gpus = 1;
    assert_int_equal(serving_of(&s, 0, 0), SERVING_NOT);
    s.servers[0].is_local = true;
    s.servers[0].pid = 0; /* a forwarded port: anything may stand behind it */
    assert_int_equal(serving_of(&s, 0, 0), SERVING_NOT);
    s.servers[0].pid = 5;
    assert_int_equal(serving_of(&s, 0, 0), SERVING_ALONE);
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 16e9);
    s.n_servers = 2;
    assert_int_equal(serving_of(&s, 0, 0), SERVING_NOT);
    s.n_servers = 1;
    s.n_gpus = 2;
    assert_int_equal(serving_of(&s, 0, 0), SERVING_NOT);
}

static void no_number_for_want_of_a_server(void **state)
{
    (void)state;
    struct value out = {0};
    s.n_servers = 0;
    serving_derive_only(&s, METRIC_BYTES_PER_OUTPUT_TOKEN, &out);
    assert_int_equal(out.state, VALUE_UNSUPPORTED);
    assert_string_equal(out.reason, "no inference server was read");
    s.n_servers = 2;
    serving_derive_only(&s, METRIC_JOULES_PER_OUTPUT_TOKEN, &out);
    assert_int_equal(out.state, VALUE_UNSUPPORTED);
    assert_string_equal(out.reason, "several inference servers: each has its own");
}

static void no_number_for_want_of_tokens(void **state)
{
    (void)state;
    const enum metric tokens = METRIC_OUTPUT_TOKENS_PER_SECOND, m = METRIC_BYTES_PER_OUTPUT_TOKEN;
    refuse_server(tokens, VALUE_WARMING, "the first scrape");
    expect_none(m, VALUE_WARMING, "Output tokens/s: the first scrape");
    refuse_server(tokens, VALUE_UNSUPPORTED, "it has none");
    expect_none(m, VALUE_UNSUPPORTED, "Output tokens/s: it has none");
    refuse_server(tokens, VALUE_SUSPECT, "of another time");
    expect_none(m, VALUE_UNSUPPORTED, "Output tokens/s is suspect: of another time");
    refuse_server(tokens, VALUE_STALE, "3 s old");
    expect_none(m, VALUE_UNSUPPORTED, "Output tokens/s is stale: 3 s old");
    set_server(0, tokens, 0);
    expect_none(m, VALUE_WARMING, "no output token in the window");
    expect_none(METRIC_JOULES_PER_OUTPUT_TOKEN, VALUE_WARMING, "no output token in the window");
}

static void no_number_for_want_of_a_gpu(void **state)
{
    (void)state;
    const enum metric m = METRIC_BYTES_PER_OUTPUT_TOKEN;
    s.n_servers = 2;
    s.servers[1].pid = 78;
    expect_none(m, VALUE_UNSUPPORTED, "several servers use GPU 0");
    s.n_servers = 1;
    s.servers[0].n_gpu_pids = 0;
    expect_none(m, VALUE_UNSUPPORTED, "it is not known which GPU this server uses");
    s.servers[0].is_local = true;
    expect_number(m, 16e9);
    /* tokens of a server on the CPU, beside an idle GPU */
    set_gpu(0, METRIC_GR_ACTIVE, 0.02);
    expect_none(m, VALUE_UNSUPPORTED,
                "GPU 0 was idle while tokens came: the server does not use it");
    expect_none(METRIC_JOULES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "GPU 0 was idle while tokens came: the server does not use it");
    set_gpu(0, METRIC_GR_ACTIVE, 0.03);
    expect_number(m, 16e9);
    /* 2.4 of 10 s are missing, then 2.6 */
    s.servers[0].t0_ns = begin_ns + 24 * second_ns / 10;
    expect_number(m, 16e9);
    s.servers[0].t0_ns = begin_ns + 26 * second_ns / 10;
    expect_none(m, VALUE_UNSUPPORTED,
                "the server was read over another time (7.4 s) than GPU 0 (10.0 s)");
    s.servers[0].t0_ns = s.servers[0].t1_ns;
    expect_none(m, VALUE_UNSUPPORTED,
                "the server was read over another time (0.0 s) than GPU 0 (10.0 s)");
}

static void no_number_for_want_of_counters(void **state)
{
    (void)state;
    struct metric_stats *metrics = s.gpus[0].metrics;
    value_set_state(&metrics[METRIC_DRAM_WRITE_BYTES].value, SOURCE_PM, VALUE_BUSY, "taken");
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_BUSY, "DRAM write rate: taken");
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2);
    value_set_state(&metrics[METRIC_DRAM_READ_BYTES].value, SOURCE_PM, VALUE_SUSPECT, "odd");
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED, "DRAM read rate is suspect: odd");
    value_set_state(&metrics[METRIC_ENERGY].value, SOURCE_NVML, VALUE_UNSUPPORTED, "no");
    value_set_state(&metrics[METRIC_POWER].value, SOURCE_NVML, VALUE_FAILED, "lost");
    expect_none(METRIC_JOULES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED, "Energy: no");
}

/* ---- of the present: windows that roll ---- */

static void add_past(enum past_metric past, double t0_s, double t1_s, double v)
{
    struct metric_past *p = &s.gpus[0].past[past];
    p->list[p->n++] = (struct metric_window){.t0_ns = begin_ns + (int64_t)(t0_s * 1e9),
                                             .t1_ns = begin_ns + (int64_t)(t1_s * 1e9),
                                             .coverage = 1,
                                             .v = v,
                                             .state = VALUE_OK};
}

static void set_server_window(double t0_s, double t1_s)
{
    s.servers[0].t0_ns = begin_ns + (int64_t)(t0_s * 1e9);
    s.servers[0].t1_ns = begin_ns + (int64_t)(t1_s * 1e9);
}

/* Ten windows of a second: 0, 0.1, 0.2 … TB/s read, 0.1 TB/s written; joules every five seconds.
 * The snapshot itself shows the last one, and the server was read over 4.2 s. */
static void roll(void)
{
    s.taken_ns = begin_ns + 10 * second_ns + second_ns / 5;
    s.gpus[0].t0_ns = begin_ns + 9 * second_ns;
    for (int i = 0; i < 10; i++) {
        add_past(PAST_GR_ACTIVE, i, i + 1, 0.99);
        add_past(PAST_DRAM_READ_BYTES, i, i + 1, 0.1e12 * i);
        add_past(PAST_DRAM_WRITE_BYTES, i, i + 1, 0.1e12);
        add_past(PAST_POWER, i, i + 1, 500);
    }
    add_past(PAST_ENERGY, 0, 5, 100);
    add_past(PAST_ENERGY, 5, 10, 400);
    set_server_window(5.4, 9.6);
}

static void windows_of_a_gpu_are_put_together(void **state)
{
    (void)state;
    roll();
    /* windows 5 to 9 lie mostly inside: 0.7 + 0.1 TB/s ÷ 200/s; 400 W ÷ 200/s */
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 4e9);
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2);
    set_server(0, METRIC_ESTIMATED_BYTES, 1.6e12);
    expect_number(METRIC_MEASURED_TO_ESTIMATED, 0.5);
    /* 4 s in phase: windows 5 to 8 */
    set_server_window(5, 9);
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, (0.65e12 + 0.1e12) / 200);
    /* joules that were read over other five seconds: the mean power is of the server's */
    s.gpus[0].past[PAST_ENERGY].list[1].t0_ns -= 2 * second_ns;
    s.gpus[0].past[PAST_ENERGY].list[1].t1_ns -= 2 * second_ns;
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2.5);
}

static void a_window_counts_by_its_measured_time(void **state)
{
    (void)state;
    struct metric_past *reads = &s.gpus[0].past[PAST_DRAM_READ_BYTES];
    roll();
    reads->list[9].coverage = 0.6; /* (5 + 6 + 7 + 8 + 0.6 · 9) ÷ 4.6 */
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, (0.1e12 * 31.4 / 4.6 + 0.1e12) / 200);
    reads->list[9].coverage = 0.4;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "GPU 0 was sampled 88 % of the time only");
    /* two of five windows are not there at all */
    reads->list[9].coverage = 1;
    memmove(&reads->list[6], &reads->list[8], 2 * sizeof reads->list[0]);
    reads->n = 8;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "GPU 0 was sampled 60 % of the time only");
}

static void windows_that_do_not_fit_give_no_number(void **state)
{
    (void)state;
    roll();
    set_server_window(5.4, 6.4); /* only the one from 5 to 6, of which 0.6 s are common */
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the windows of GPU 0 do not fit the server's (1.0 s)");
    expect_none(METRIC_JOULES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the windows of GPU 0 do not fit the server's (1.0 s)");
    set_server_window(5.1, 6.1);
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, (0.5e12 + 0.1e12) / 200);
    set_server_window(8, 14); /* what is to come is not known */
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the windows of GPU 0 do not fit the server's (6.0 s)");
    set_server_window(20, 25);
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the windows of GPU 0 do not fit the server's (5.0 s)");
}

/* A server's window begins anew every few seconds: a figure does not come and go with it. */
static void the_window_before_counts_while_the_newest_is_short(void **state)
{
    (void)state;
    roll();
    s.servers[0].before = server_snapshot_rates(&s.servers[0]); /* 5.4 to 9.6, 200/s */
    s.servers[0].before.tokens.v = 400;
    set_server_window(9.6, 10.6);
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 2e9);
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 1);
    /* not when it is long enough, nor when the one before is of another time */
    set_server_window(9.6, 12.7);
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the windows of GPU 0 do not fit the server's (3.1 s)");
    set_server_window(12, 13);
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the windows of GPU 0 do not fit the server's (1.0 s)");
    /* nor does it hide what is wrong now */
    set_server_window(9.6, 10.6);
    refuse_server(METRIC_OUTPUT_TOKENS_PER_SECOND, VALUE_FAILED, "no answer");
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_FAILED, "Output tokens/s: no answer");
    set_server(0, METRIC_OUTPUT_TOKENS_PER_SECOND, 0);
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_WARMING, "no output token in the window");
    /* a measurement has one window */
    set_server(0, METRIC_OUTPUT_TOKENS_PER_SECOND, 200);
    s.taken_ns = 0;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "the server was read over another time (1.0 s) than GPU 0 (1.0 s)");
}

static void a_window_that_is_not_sound_spoils_the_rest(void **state)
{
    (void)state;
    struct metric_past *reads = &s.gpus[0].past[PAST_DRAM_READ_BYTES];
    roll();
    reads->list[2].state = VALUE_SUSPECT; /* before the server's */
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 4e9);
    reads->list[7].state = VALUE_SUSPECT;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "DRAM read rate is suspect: not sound in a part of the server's window");
    expect_number(METRIC_JOULES_PER_OUTPUT_TOKEN, 2);
    reads->list[7].state = VALUE_OK;
    value_set_state(&s.gpus[0].metrics[METRIC_DRAM_READ_BYTES].value, SOURCE_PM, VALUE_BUSY,
                    "lent to ncu");
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_BUSY, "DRAM read rate: lent to ncu");
}

/* Whether a GPU was idle is asked of the server's window, not of the last second. */
static void an_idle_gpu_over_the_servers_window(void **state)
{
    (void)state;
    struct metric_past *gr = &s.gpus[0].past[PAST_GR_ACTIVE];
    roll();
    s.servers[0].n_gpu_pids = 0;
    s.servers[0].is_local = true;
    set_gpu(0, METRIC_GR_ACTIVE, 0);
    expect_number(METRIC_BYTES_PER_OUTPUT_TOKEN, 4e9);
    set_gpu(0, METRIC_GR_ACTIVE, 0.99);
    for (size_t i = 0; i < gr->n; i++)
        gr->list[i].v = 0.01;
    expect_none(METRIC_BYTES_PER_OUTPUT_TOKEN, VALUE_UNSUPPORTED,
                "GPU 0 was idle while tokens came: the server does not use it");
}

/* ---- the verdict ---- */

static bool has_line(const struct verdict_lines *l, const char *part)
{
    for (size_t i = 0; i < l->n; i++)
        if (strstr(l->line[i], part))
            return true;
    return false;
}

static struct verdict verdict(void)
{
    struct verdict v;
    serving_verdict(&s, 0, &v);
    return v;
}

static const char explained[] =
    "memory explains 80 % of the time per token: 16.0 GB/token at the peak of 4.00 TB/s take "
    "4.00 ms of 5.00 ms";

static void one_request_on_a_memory_bound_gpu(void **state)
{
    (void)state;
    struct verdict v = verdict();
    assert_int_equal(v.kind, VERDICT_MEMORY_BOUND);
    assert_contains(v.advice.line[0], "Raise concurrency: about one request runs, and weights are "
                                      "read once per step whatever the batch");
    /* 3.1 TB/s ÷ 0.775 = 4 TB/s; 16 GB ÷ 4 TB/s = 4 ms of 5 ms */
    if (!has_line(&v.evidence, explained))
        fail_msg("%s", v.evidence.line[v.evidence.n - 1]);
    assert_false(has_line(&v.limits, "only ones here"));
    /* the advice of the counters alone stays behind it */
    assert_true(has_line(&v.advice, "Raise the batch size"));
    s.servers[0].n_gpu_pids = 0;
    s.servers[0].is_local = true;
    v = verdict();
    assert_true(has_line(&v.limits, "only ones here"));
}

static void the_present_has_the_servers_words_too(void **state)
{
    (void)state;
    roll();
    for (size_t i = 0; i < 10; i++)
        s.gpus[0].past[PAST_DRAM_READ_BYTES].list[i].v = 3.1e12;
    struct verdict v = verdict();
    if (!has_line(&v.evidence, explained))
        fail_msg("%s", v.evidence.line[v.evidence.n - 1]);
    set_server_window(5.4, 6.4);
    v = verdict();
    assert_false(has_line(&v.evidence, "memory explains"));
}

/* A line that is no UTF-8 would be missing in the JSON. */
static void a_long_name_is_not_cut_inside_a_character(void **state)
{
    (void)state;
    char *url = s.servers[0].url, clean[VERDICT_LINE_SIZE];
    snprintf(url, SERVER_URL_SIZE, "http://h/%s", "éééééééééééééééééééééééééééééééééééééééé");
    set_server(0, METRIC_KV_USAGE, 0.99);
    set_server(0, METRIC_WAITING, 12);
    struct verdict v = verdict();
    assert_true(has_line(&v.evidence, "KV cache is the limit of http://h/é"));
    for (size_t i = 0; i < v.evidence.n; i++) {
        const char *line = v.evidence.line[i];
        assert_true(str_clean(clean, sizeof clean, line, strlen(line)));
        assert_string_equal(clean, line);
    }
}

static void what_is_not_sound_adds_nothing(void **state)
{
    (void)state;
    struct verdict v, alone;
    verdict_of(&s.gpus[0], &alone);
    refuse_server(METRIC_TPOT, VALUE_WARMING, "none");
    v = verdict();
    assert_false(has_line(&v.evidence, "memory explains"));
    assert_true(has_line(&v.advice, "Raise concurrency"));
    set_server(0, METRIC_TPOT, 0.003); /* shorter than memory alone needs: a contradiction */
    assert_false((v = verdict(), has_line(&v.evidence, "memory explains")));
    set_server(0, METRIC_TPOT, 0.005);
    value_set_state(&s.gpus[0].metrics[METRIC_DRAM_READ].value, SOURCE_PM, VALUE_SUSPECT, "odd");
    assert_false((v = verdict(), has_line(&v.evidence, "memory explains")));
    set_gpu(0, METRIC_DRAM_READ, 0.04); /* too coarse for a peak */
    assert_false((v = verdict(), has_line(&v.evidence, "memory explains")));
    set_gpu(0, METRIC_DRAM_READ, 0.775);
    s.n_servers = 2; /* whose traffic is it? */
    s.servers[1].pid = 78;
    v = verdict();
    assert_memory_equal(&v, &alone, sizeof v);
    s.n_servers = 1;
    set_server(0, METRIC_RUNNING, 1.6);
    v = verdict();
    assert_memory_equal(&v, &alone, sizeof v);
    set_server(0, METRIC_RUNNING, 1);
    refuse_server(METRIC_RUNNING, VALUE_STALE, "old");
    v = verdict();
    assert_memory_equal(&v, &alone, sizeof v);
    set_server(0, METRIC_RUNNING, 1);
    s.servers[0].gpu_pids[0] = 4;
    v = verdict();
    assert_memory_equal(&v, &alone, sizeof v);
}

static void no_request_explains_an_idle_gpu(void **state)
{
    (void)state;
    const char *line = "no request ran or waited at http://127.0.0.1:8000/metrics (10 readings): "
                       "the clients send too little";
    for (int m = 0; m < METRIC_COUNT; m++)
        if (value_is_sound(&s.gpus[0].metrics[m].value))
            set_gpu(0, (enum metric)m, 0);
    set_server(0, METRIC_RUNNING, 0);
    set_server(0, METRIC_OUTPUT_TOKENS_PER_SECOND, 0);
    struct verdict v = verdict();
    assert_int_equal(v.kind, VERDICT_IDLE);
    assert_true(has_line(&v.evidence, line));
    assert_contains(v.advice.line[0], "Send more requests");
    /* starved: hardly any work, evenly */
    set_gpu(0, METRIC_GR_ACTIVE, 0.08);
    v = verdict();
    assert_int_equal(v.kind, VERDICT_STARVED);
    assert_true(has_line(&v.evidence, line));
    /* some ran at another reading, or between two, or one waits, or nobody knows */
    s.servers[0].metrics[METRIC_RUNNING - SERVER_METRIC_FIRST].max = 1;
    assert_false((v = verdict(), has_line(&v.evidence, "too little")));
    set_server(0, METRIC_RUNNING, 0);
    set_server(0, METRIC_OUTPUT_TOKENS_PER_SECOND, 3);
    assert_false((v = verdict(), has_line(&v.evidence, "too little")));
    set_server(0, METRIC_OUTPUT_TOKENS_PER_SECOND, 0);
    set_server(0, METRIC_WAITING, 1);
    assert_false((v = verdict(), has_line(&v.evidence, "too little")));
    refuse_server(METRIC_WAITING, VALUE_UNSUPPORTED, "none");
    assert_false((v = verdict(), has_line(&v.evidence, "too little")));
    set_server(0, METRIC_WAITING, 0);
    s.servers[0].metrics[METRIC_WAITING - SERVER_METRIC_FIRST].readings = 1;
    assert_false((v = verdict(), has_line(&v.evidence, "too little")));
    /* another server of this GPU is not quiet */
    set_server(0, METRIC_WAITING, 0);
    assert_true((v = verdict(), has_line(&v.evidence, "too little")));
    s.n_servers = 2;
    s.servers[1].pid = 78;
    assert_false((v = verdict(), has_line(&v.evidence, "too little")));
}

static void a_full_kv_cache_is_named(void **state)
{
    (void)state;
    set_server(0, METRIC_RUNNING, 40);
    set_server(0, METRIC_KV_USAGE, 0.95);
    struct verdict v = verdict();
    assert_false(has_line(&v.evidence, "KV cache")); /* nobody waits */
    set_server(0, METRIC_WAITING, 12);
    v = verdict();
    assert_true(has_line(&v.evidence, "KV cache is the limit of http://127.0.0.1:8000/metrics: "
                                      "95 % in use, 12 requests wait"));
    assert_contains(v.advice.line[0], "Make room in the KV cache");
    set_server(0, METRIC_KV_USAGE, 0.94);
    assert_false((v = verdict(), has_line(&v.evidence, "KV cache")));
    set_server(0, METRIC_KV_USAGE, 0.99);
    refuse_server(METRIC_KV_USAGE, VALUE_STALE, "old");
    assert_false((v = verdict(), has_line(&v.evidence, "KV cache")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_server_on_one_gpu),
        TEST(what_is_not_the_servers_alone),
        TEST(measured_against_the_servers_own_estimate),
        TEST(one_server_on_two_gpus),
        TEST(who_serves_where),
        TEST(no_number_for_want_of_a_server),
        TEST(no_number_for_want_of_tokens),
        TEST(no_number_for_want_of_a_gpu),
        TEST(no_number_for_want_of_counters),
        TEST(windows_of_a_gpu_are_put_together),
        TEST(a_window_counts_by_its_measured_time),
        TEST(windows_that_do_not_fit_give_no_number),
        TEST(the_window_before_counts_while_the_newest_is_short),
        TEST(a_window_that_is_not_sound_spoils_the_rest),
        TEST(an_idle_gpu_over_the_servers_window),
        TEST(the_present_has_the_servers_words_too),
        TEST(a_long_name_is_not_cut_inside_a_character),
        TEST(one_request_on_a_memory_bound_gpu),
        TEST(what_is_not_sound_adds_nothing),
        TEST(no_request_explains_an_idle_gpu),
        TEST(a_full_kv_cache_is_named),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
