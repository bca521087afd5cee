/* SPDX-License-Identifier: MIT */
/* The text format: numbers, lines, labels, and everything that is no metric. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "llm/exposition.h"
#include "llm/number.h"
#include "llm/scrape.h"

/* ---- numbers ---- */

static void numbers_are_those_of_strtod(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "1",
                                        "-1",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "1.9e+06",
                                        "1E3",
                                        "1e22",
                                        "1e23",
                                        "123456789",
                                        "9007199254740993",
                                        "0.1",
                                        "1e-7",
                                        "1e-22",
                                        "2.5e-310",
                                        "1e308",
                                        "1.7976931348623157e308",
                                        "8.128902e+06",
                                        "3.14",
                                        "1e+006",
                                        "1.0463768576e+010",
                                        "18446744073709551617",
                                        "0.30000000000000004",
                                        "4.35",
                                        "5e-324"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double v = -7, expected = strtod(texts[i], NULL);
        if (!number_parse(slice_of(texts[i]), &v) || (v != expected && expected > 1e-307))
            fail_msg("%s: %.17g, expected %.17g", texts[i], v, expected);
    }
}

/* Millions of numbers as programs print them: the fast way must round as strtod does. */
static void the_fast_way_rounds_right(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double v = 0;
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        snprintf(text, sizeof text, "%.*g", 1 + (int)(seed % 17),
                 (double)(seed >> 20) / (double)(1 + seed % 4093));
        if (!number_parse(slice_of(text), &v) || v != strtod(text, NULL))
            fail_msg("%s: %.17g, expected %.17g", text, v, strtod(text, NULL));
    }
}

static void special_numbers(void **state)
{
    (void)state;
    double v = 0;
    assert_true(number_parse(slice_of("NaN"), &v) && isnan(v));
    assert_true(number_parse(slice_of("-nan"), &v) && isnan(v));
    assert_true(number_parse(slice_of("+Inf"), &v) && isinf(v) && v > 0);
    assert_true(number_parse(slice_of("-Inf"), &v) && isinf(v) && v < 0);
    static const char *const wrong[] = {"",    "-",    "+",     ".",     "e5",  "1e",
                                        "1e+", "0x10", "1 ",    " 1",    "1_0", "1,5",
                                        "--1", "nanx", "infin", "1e999", "1-",  "1e5e5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (number_parse(slice_of(wrong[i]), &v))
            fail_msg("\"%s\" passes for %g", wrong[i], v);
}

static void a_comma_locale_changes_nothing(void **state)
{
    (void)state;
    double v = 0;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        print_message("de_DE.UTF-8 is not installed: this case was not tried\n");
        skip();
    }
    bool ok = number_parse(slice_of("1.2345678901234567890123"), &v);
    setlocale(LC_NUMERIC, "C");
    assert_true(ok);
    assert_near(v, 1.2345678901234567, 1e-15);
}

/* ---- lines ---- */

struct seen {
    int n;
    char text[2048]; /* "name|labels|value;" of each */
};

static bool see(void *self, const struct exposition_sample *s)
{
    struct seen *seen = self;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%.*s|%.*s|%g;", (int)s->name.n,
             s->name.s, (int)s->labels.n, s->labels.s, s->value);
    seen->n++;
    return true;
}

static void good(const char *body, const char *expected)
{
    struct seen seen = {0, ""};
    struct error err = ERROR_INIT;
    if (exposition_parse(slice_of(body), see, &seen, &err))
        fail_msg("\"%s\": %s", body, err.text);
    assert_string_equal(seen.text, expected);
}

static void bad(const char *body, const char *reason)
{
    struct seen seen = {0, ""};
    struct error err = ERROR_INIT;
    if (!exposition_parse(slice_of(body), see, &seen, &err))
        fail_msg("\"%s\" passes as %s", body, seen.text);
    assert_int_equal(err.status, ERR_BAD_INPUT);
    assert_string_equal(err.text, reason);
}

static void samples_of_both_formats(void **state)
{
    (void)state;
    good("", "");
    good("\n\r\n  \t\n", "");
    good("a 1", "a||1;");
    good("  a\t 1 \r\nb 2\n", "a||1;b||2;");
    good("a{} 1\na{x=\"1\"} 2\na{x=\"1\",} 3\na{ x = \"1\" , y=\"\" } 4\n",
         "a||1;a|x=\"1\"|2;a|x=\"1\",|3;a| x = \"1\" , y=\"\" |4;");
    good("a{x=\"1\"}5", "a|x=\"1\"|5;");
    good("a {x=\"1\"} 5", "a|x=\"1\"|5;");
    good("a 1 1520879607789\na 2 1520879607.789\n", "a||1;a||2;");
    good("a_bucket{le=\"1\"} 3 # {trace_id=\"x y\"} 0.67 1520879607.789\n", "a_bucket|le=\"1\"|3;");
    good("a 1 # {} 2\n", "a||1;");
    good("# HELP a anything \"{}\n# TYPE a counter\n#nothing\na_total 1\n# EOF\n", "a_total||1;");
    good("a{x=\"q\\\"},{ =#\\\\\"} 1", "a|x=\"q\\\"},{ =#\\\\\"|1;");
    good("{\"a.b\",x=\"1\"} 1", "a.b|\"a.b\",x=\"1\"|1;");
    good("vllm:x_total 1.9e+06\n", "vllm:x_total||1.9e+06;");
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    bad("a 1\nb\n", "line 2: no value");
    bad("a{x=\"1} 1\n", "line 1: a quote is not closed");
    bad("a{x=\"1\\\"} 1\n", "line 1: a quote is not closed");
    bad("a{x=\"1\" 1\n", "line 1: no comma between two labels");
    bad("a{x=\"1\"", "line 1: the labels are not closed");
    bad("a{x} 1", "line 1: a label has no value");
    bad("a{=\"1\"} 1", "line 1: a label has no name");
    bad("a{x=1} 1", "line 1: a label's value is not quoted");
    bad("a{x=\"1\"}", "line 1: no value");
    bad("a one", "line 1: the value is no number");
    bad("a 0x10", "line 1: the value is no number");
    bad("a 1 x", "line 1: what follows the value is no time");
    bad("a 1 2 3", "line 1: more behind the value");
    bad("a 1 # x", "line 1: more behind the value");
    bad("a-b 1", "line 1: an odd character in a name");
    bad("9a 1", "line 1: no metric name");
    bad("{x=\"1\"} 1", "line 1: no metric name");
    bad("a{\"b\"} 1", "line 1: two names");
    bad("a 1\n# EOF\nb 2\n", "line 3: more behind \"# EOF\"");
    bad("HTTP/1.1 200 OK\n", "line 1: an odd character in a name");
}

static void a_huge_label_is_refused(void **state)
{
    (void)state;
    size_t n = 1 << 20;
    char *body = malloc(n + 100);
    struct seen seen = {0, ""};
    struct error err = ERROR_INIT;
    assert_non_null(body);
    memcpy(body, "a{x=\"", 5);
    memset(body + 5, 'y', n);
    memcpy(body + 5 + n, "\"} 1\n", 6);
    assert_int_equal(exposition_parse(slice_of(body), see, &seen, &err), ERR_BAD_INPUT);
    assert_string_equal(err.text, "line 1: longer than 64 KiB");
    free(body);
}

static void labels_are_found(void **state)
{
    (void)state;
    struct slice v;
    assert_true(labels_find(slice_of("\"name\", a=\"1\",b=\"x,b=\\\"\""), "b", &v));
    assert_true(slice_is(v, "x,b=\\\""));
    assert_false(labels_find(slice_of("ab=\"1\""), "b", &v));
    assert_false(labels_find(slice_of(""), "b", &v));
}

/* ---- bodies ---- */

static void refused(const char *body, enum status status, const char *reason)
{
    struct scrape *s = scrape_create();
    struct error err = ERROR_INIT;
    assert_int_equal(scrape_take(s, slice_of(body), &err), status);
    assert_string_equal(err.text, reason);
    assert_int_equal(s->n_points, 0);
    assert_int_equal(scrape_dialect(s), DIALECT_NONE);
    scrape_destroy(s);
}

static void what_is_not_metrics_is_said(void **state)
{
    (void)state;
    refused("", ERR_BAD_INPUT, "the answer is empty, not metrics");
    refused(" \n", ERR_BAD_INPUT, "the answer is empty, not metrics");
    refused("<!DOCTYPE html><html>", ERR_BAD_INPUT, "the answer is an HTML page, not metrics");
    refused("[]", ERR_BAD_INPUT, "the answer is JSON, not metrics");
    refused("{\"error\":{\"code\":501}}", ERR_BAD_INPUT, "the answer is JSON, not metrics");
    refused("\"# HELP llamacpp:x\\n\"", ERR_BAD_INPUT,
            "the answer is text as a JSON string, as llama.cpp builds around b7010 send it, not "
            "metrics");
    refused("go_gc_total 1\n", ERR_UNSUPPORTED,
            "metrics, but of no inference server that smeff knows");
    refused("vllm:num_requests_running 1\nvllm:num_requests_waiting{ 1\n", ERR_BAD_INPUT,
            "line 2: a label has no name");
}

/* A name that only begins like one of ours is another series. */
static void names_match_whole(void **state)
{
    (void)state;
    struct scrape *s = scrape_create();
    size_t n = 0;
    assert_int_equal(scrape_take(s,
                                 slice_of("vllm:prompt_tokens_by_source_total 5\n"
                                          "vllm:prompt_tokens_cached_total 6\n"
                                          "vllm:prompt_tokensx 7\n"),
                                 NULL),
                     OK);
    assert_int_equal(s->n_points, 0);
    assert_int_equal(scrape_take(s, slice_of("vllm_prompt_tokens 5\n"), NULL), OK);
    assert_int_equal(s->n_points, 1);
    (void)scrape_find(s, s->points[0].series, PART_VALUE, &n);
    assert_int_equal(n, 1);
    scrape_destroy(s);
}

static void too_many_series_are_refused(void **state)
{
    (void)state;
    size_t size = 4 << 20, used = 0;
    char *body = malloc(size);
    struct scrape *s = scrape_create();
    struct error err = ERROR_INIT;
    assert_non_null(body);
    for (int i = 0; used < size - 100; i++)
        used += (size_t)snprintf(body + used, size - used,
                                 "vllm:num_requests_running{engine=\"%d\"} 1\n", i);
    assert_int_equal(scrape_take(s, (struct slice){body, used}, &err), ERR_BAD_INPUT);
    assert_contains(err.text, "series");
    scrape_destroy(s);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_strtod),
        cmocka_unit_test(the_fast_way_rounds_right),
        cmocka_unit_test(special_numbers),
        cmocka_unit_test(a_comma_locale_changes_nothing),
        cmocka_unit_test(samples_of_both_formats),
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(a_huge_label_is_refused),
        cmocka_unit_test(labels_are_found),
        cmocka_unit_test(what_is_not_metrics_is_said),
        cmocka_unit_test(names_match_whole),
        cmocka_unit_test(too_many_series_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
