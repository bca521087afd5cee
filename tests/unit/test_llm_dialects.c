/* SPDX-License-Identifier: MIT */
/* Every dialect and version: tests/llm/NAME.1.txt and NAME.2.txt are two bodies of one server, two
 * seconds apart, NAME.expected what is to come out of them. The expected numbers were worked out by
 * hand; the bodies say whether they were recorded or made. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "base/buf.h"
#include "base/num.h"
#include "llm/signals.h"

static void read_file(const char *path, struct buf *out)
{
    char piece[4096];
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s cannot be read", path);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(out, piece, n);
    fclose(f);
}

static void take_file(const char *path, int64_t second, struct scrape *s)
{
    struct error err = ERROR_INIT;
    struct buf body = BUF_INIT;
    read_file(path, &body);
    if (scrape_take(s, (struct slice){body.data, body.len}, &err))
        fail_msg("%s: %s", path, err.text);
    s->mono_ns = second * INT64_C(1000000000);
    buf_fini(&body);
}

static void put_number(struct buf *out, double v)
{
    char text[NUM_TEXT_SIZE];
    num_format_digits(text, v, 6);
    buf_puts(out, text);
}

static void put_quantile(struct buf *out, const char *name, const struct quantile *q)
{
    if (q->kind == QUANTILE_NONE)
        return;
    buf_printf(out, " %s %s ", name, quantile_kind_name(q->kind));
    put_number(out, q->v);
}

static void put_signal(struct buf *out, const struct signal *s, enum metric m)
{
    if (s->value.state == VALUE_UNSUPPORTED &&
        strcmp(s->value.reason, "the server does not show it") == 0)
        return;
    buf_printf(out, "%s: ", metric_info(m)->key);
    if (value_has_number(&s->value)) {
        put_number(out, s->value.v);
        buf_puts(out, " ");
    }
    buf_puts(out, value_state_name(s->value.state));
    if (value_has_number(&s->value) && s->fresh != FRESH_LIVE)
        buf_printf(out, " %s", freshness_name(s->fresh));
    put_quantile(out, "p50", &s->p50);
    put_quantile(out, "p95", &s->p95);
    if (s->value.reason[0])
        buf_printf(out, " (%s)", s->value.reason);
    if (s->series[0])
        buf_printf(out, " <- %s", s->series);
    buf_puts(out, "\n");
}

static void compare_pair(const char *first)
{
    char second[512], expected_path[512];
    struct scrape *a = scrape_create(), *b = scrape_create();
    struct signals s;
    struct buf out = BUF_INIT, expected = BUF_INIT;
    int stem = (int)(strlen(first) - strlen(".1.txt"));
    snprintf(second, sizeof second, "%.*s.2.txt", stem, first);
    snprintf(expected_path, sizeof expected_path, "%.*s.expected", stem, first);
    take_file(first, 10, a);
    take_file(second, 12, b);
    signals_read(a, b, &s);
    buf_printf(&out, "%s, model \"%s\"%s\n", dialect_get((enum dialect_id)s.dialect)->name,
               b->model, b->is_router ? ", router" : "");
    for (int i = 0; i < SIGNAL_COUNT; i++)
        put_signal(&out, &s.list[i], (enum metric)(SIGNAL_FIRST + i));
    read_file(expected_path, &expected);
    if (strcmp(buf_str(&out), buf_str(&expected)) != 0)
        fail_msg("%.*s: got\n%s\nexpected\n%s", stem, first, buf_str(&out), buf_str(&expected));
    buf_fini(&out);
    buf_fini(&expected);
    scrape_destroy(a);
    scrape_destroy(b);
}

static void every_pair_reads_as_expected(void **state)
{
    (void)state;
    glob_t g;
    assert_int_equal(glob(TEST_ROOT "/tests/llm/*.1.txt", 0, NULL, &g), 0);
    assert_true(g.gl_pathc >= 30);
    for (size_t i = 0; i < g.gl_pathc; i++)
        compare_pair(g.gl_pathv[i]);
    globfree(&g);
}

/* With one scrape there are levels, and rates say what they wait for. */
static void one_scrape_has_levels(void **state)
{
    (void)state;
    struct scrape *a = scrape_create();
    struct signals s;
    take_file(TEST_ROOT "/tests/llm/vllm-0.12.1.txt", 1, a);
    signals_read(NULL, a, &s);
    assert_int_equal(signal_of(&s, METRIC_RUNNING)->value.state, VALUE_OK);
    assert_near(signal_of(&s, METRIC_KV_USAGE)->value.v, 0.9375, 1e-12);
    for (int m = SIGNAL_FIRST; m < SIGNAL_END; m++) {
        const struct signal *x = signal_of(&s, (enum metric)m);
        if (m == METRIC_RUNNING || m == METRIC_WAITING || m == METRIC_KV_USAGE ||
            m == METRIC_E2E_LATENCY || m == METRIC_ESTIMATED_BYTES)
            continue;
        assert_int_equal(x->value.state, VALUE_WARMING);
        assert_string_equal(x->value.reason, "needs a second scrape");
    }
    scrape_destroy(a);
}

static void take_text(const char *text, int64_t second, struct scrape *s)
{
    struct error err = ERROR_INIT;
    if (scrape_take(s, slice_of(text), &err))
        fail_msg("%s: %s", text, err.text);
    s->mono_ns = second * INT64_C(1000000000);
}

/* A gauge that keeps its value after all requests were aborted. */
static void a_gauge_without_tokens_is_stale(void **state)
{
    (void)state;
    static const char body[] = "vllm:num_requests_running 3\nvllm:num_requests_waiting 2\n"
                               "vllm:kv_cache_usage_perc 0.5\nvllm:generation_tokens_total 10\n"
                               "vllm:prompt_tokens_total 10\n";
    struct scrape *a = scrape_create(), *b = scrape_create();
    struct signals s;
    take_text(body, 10, a);
    take_text(body, 14, b);
    signals_read(a, b, &s);
    assert_int_equal(signal_of(&s, METRIC_RUNNING)->value.state, VALUE_OK);
    take_text(body, 16, b);
    signals_read(a, b, &s);
    assert_int_equal(signal_of(&s, METRIC_RUNNING)->value.state, VALUE_STALE);
    assert_near(signal_of(&s, METRIC_RUNNING)->value.v, 3, 0);
    assert_int_equal(signal_of(&s, METRIC_WAITING)->value.state, VALUE_STALE);
    assert_int_equal(signal_of(&s, METRIC_KV_USAGE)->value.state, VALUE_STALE);
    assert_near(signal_of(&s, METRIC_KV_USAGE)->value.v, 0.5, 0);
    assert_false(signals_moved(a, b));
    /* nothing runs or waits: an idle server's gauges are what they are */
    take_text("vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"
              "vllm:kv_cache_usage_perc 0.5\nvllm:generation_tokens_total 10\n"
              "vllm:prompt_tokens_total 10\n",
              16, b);
    signals_read(a, b, &s);
    assert_int_equal(signal_of(&s, METRIC_KV_USAGE)->value.state, VALUE_OK);
    take_text("vllm:generation_tokens_total 10\nvllm:prompt_tokens_total 11\n", 16, b);
    assert_true(signals_moved(a, b));
    take_text("vllm:generation_tokens_total 10\n", 16, b); /* it may be reading a prompt */
    assert_true(signals_moved(a, b));
    scrape_destroy(a);
    scrape_destroy(b);
}

static void a_throughput_without_requests_is_stale(void **state)
{
    (void)state;
    struct scrape *a = scrape_create();
    struct signals s;
    take_text("sglang:gen_throughput 80\nsglang:num_running_reqs 1\n", 10, a);
    signals_read(NULL, a, &s);
    /* of a moment: shown, but nothing is divided by it */
    assert_int_equal(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.state, VALUE_SUSPECT);
    take_text("sglang:gen_throughput 80\nsglang:num_running_reqs 0\n", 10, a);
    signals_read(NULL, a, &s);
    assert_int_equal(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.state, VALUE_STALE);
    scrape_destroy(a);
}

/* llama.cpp prints six digits: above a million a short window is a staircase. */
static void few_digits_are_suspect(void **state)
{
    (void)state;
    struct scrape *a = scrape_create(), *b = scrape_create();
    struct signals s;
    take_text("llamacpp:tokens_predicted_total 1.9e+06\nllamacpp:prompt_tokens_total 10\n"
              "llamacpp:n_decode_total 2.00001e+06\nllamacpp:n_busy_slots_per_decode 1\n"
              "llamacpp:requests_processing 1\nllamacpp:n_tokens_max 500\n",
              10, a);
    take_text("llamacpp:tokens_predicted_total 1.9e+06\nllamacpp:prompt_tokens_total 10\n"
              "llamacpp:n_decode_total 2.00012e+06\nllamacpp:n_busy_slots_per_decode 1\n"
              "llamacpp:requests_processing 1\nllamacpp:n_tokens_max 610\n",
              11, b);
    signals_read(a, b, &s);
    assert_int_equal(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.state, VALUE_SUSPECT);
    /* a hundred times as long: 0.2 % */
    take_text("llamacpp:tokens_predicted_total 1.9e+06\nllamacpp:prompt_tokens_total 10\n"
              "llamacpp:n_decode_total 2.01001e+06\nllamacpp:n_busy_slots_per_decode 1\n"
              "llamacpp:requests_processing 1\nllamacpp:n_tokens_max 10500\n",
              110, b);
    signals_read(a, b, &s);
    assert_int_equal(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.state, VALUE_OK);
    assert_near(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.v, 100, 0.5);
    scrape_destroy(a);
    scrape_destroy(b);
}

/* llama.cpp's steps are tokens only where the window itself proves it. One slot of a server whose
 * longest sequence had 300 tokens, 200 steps in 2 s; what else the second scrape says. */
static void steps_are_tokens_only_where_proven(void **state)
{
    (void)state;
    static const struct {
        int tokens, drafts, longest, prompt;
        double slots; /* over the server's life; 4100 steps had one each */
        enum value_state expected;
        const char *reason;
    } cases[] = {
        {0, 0, 500, 10, 1, VALUE_OK, ""},
        {4000, 0, 500, 10, 1, VALUE_OK, ""},
        {0, -1, 500, 10, 1, VALUE_OK, ""}, /* a server before drafts were counted */
        /* what ended before says nothing: 40 requests of 100 tokens, or one of a single token */
        {4000, 0, 300, 10, 1, VALUE_SUSPECT, "does not tell"},
        {1, 0, 300, 10, 1, VALUE_SUSPECT, "does not tell"},
        {0, 0, 300, 10, 1, VALUE_SUSPECT, "does not tell"},
        {0, 0, 400, 10, 1, VALUE_SUSPECT, "does not tell"}, /* the longest only for a while */
        {4000, 7, 500, 10, 1, VALUE_SUSPECT, "drafts are used"},
        {9000, -1, 500, 10, 1, VALUE_SUSPECT, "drafts are used"}, /* more than steps */
        {0, 0, 900, 10, 1, VALUE_SUSPECT, "grew faster"},
        {0, 0, 500, 60, 1, VALUE_SUSPECT, "prompts were read"},
        {0, 0, 500, -1, 1, VALUE_SUSPECT, "does not tell"}, /* no series of prompts */
        /* a second slot in every step: it may be reading its prompt */
        {0, 0, 500, 10, 4500.0 / 4300, VALUE_SUSPECT, "does not tell"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scrape *a = scrape_create(), *b = scrape_create();
        struct signals s;
        for (int k = 0; k < 2; k++) {
            char text[512];
            int n = snprintf(text, sizeof text,
                             "llamacpp:requests_processing 1\nllamacpp:n_decode_total %d\n"
                             "llamacpp:n_busy_slots_per_decode %.6g\nllamacpp:n_tokens_max %d\n"
                             "llamacpp:tokens_predicted_total %d\n",
                             4100 + 200 * k, k ? cases[i].slots : 1, k ? cases[i].longest : 300,
                             cases[i].tokens);
            if (cases[i].drafts >= 0)
                n += snprintf(text + n, sizeof text - (size_t)n,
                              "llamacpp:spec_decode_num_drafts_total %d\n", cases[i].drafts);
            if (cases[i].prompt >= 0)
                snprintf(text + n, sizeof text - (size_t)n, "llamacpp:prompt_tokens_total %d\n",
                         k ? cases[i].prompt : 10);
            take_text(text, 10 + 2 * k, k ? b : a);
        }
        signals_read(a, b, &s);
        const struct value *v = &signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value;
        assert_int_equal(v->state, cases[i].expected);
        assert_near(v->v, (4300 * cases[i].slots - 4100) / 2, 0.05);
        assert_non_null(strstr(v->reason, cases[i].reason));
        scrape_destroy(a);
        scrape_destroy(b);
    }
}

static void a_start_mark_drops_the_interval(void **state)
{
    (void)state;
    struct scrape *a = scrape_create(), *b = scrape_create();
    struct signals s;
    take_text("vllm:generation_tokens_total 10\n", 10, a);
    take_text("vllm:generation_tokens_total 20\n", 12, b);
    memcpy(a->start_mark, "1", 2);
    memcpy(b->start_mark, "2", 2);
    assert_true(signals_restarted(a, b));
    signals_read(a, b, &s);
    assert_int_equal(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.state, VALUE_WARMING);
    memcpy(b->start_mark, "1", 2);
    assert_false(signals_restarted(a, b));
    signals_read(a, b, &s);
    assert_near(signal_of(&s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.v, 5, 1e-12);
    scrape_destroy(a);
    scrape_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_reads_as_expected),
        cmocka_unit_test(one_scrape_has_levels),
        cmocka_unit_test(a_gauge_without_tokens_is_stale),
        cmocka_unit_test(a_throughput_without_requests_is_stale),
        cmocka_unit_test(few_digits_are_suspect),
        cmocka_unit_test(steps_are_tokens_only_where_proven),
        cmocka_unit_test(a_start_mark_drops_the_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
