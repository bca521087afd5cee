/* SPDX-License-Identifier: MIT */
/* The report: well-formed whatever the names are, and without a number where there is none. */
#include <stdio.h>
#include <string.h>

#include "support.h"

#include "cmd/recording.h"
#include "collect/collect.h"
#include "show/report.h"
#include "show/svg.h"

static enum status both(void *self, const struct event *ev, struct error *err)
{
    const struct event_sink *sinks = self;
    enum status st = event_push(&sinks[0], ev, err);
    return st ? st : event_push(&sinks[1], ev, err);
}

/* The report of a recording, after change has had its way with the snapshot. */
static void make(struct buf *out, const char *path, void (*change)(struct snapshot *s))
{
    struct collector *c;
    struct timeline *t;
    struct snapshot *s;
    assert_int_equal(collector_create(&c, NULL), OK);
    assert_int_equal(timeline_create(&t, NULL), OK);
    struct event_sink sinks[] = {collector_sink(c), timeline_sink(t)};
    const struct event_sink sink = {both, sinks};
    if (path)
        assert_int_equal(recording_read(path, &sink, NULL), OK);
    assert_int_equal(collector_snapshot(c, &s, NULL), OK);
    if (change)
        change(s);
    assert_int_equal(show_report(out, s, t, path ? path : "", NULL), OK);
    snapshot_destroy(s);
    timeline_destroy(t);
    collector_destroy(c);
}

/* Every element that is opened is closed, in order, but those that have no end. */
static void assert_balanced(const char *html)
{
    char open[64][16];
    size_t depth = 0;
    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        char name[16] = "";
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (at[1] == '!')
            continue;
        sscanf(at + 1, "%15[a-z0-9/]", name);
        assert_true(name[0] != '\0');
        if (end[-1] == '/' || strcmp(name, "meta") == 0)
            continue;
        if (name[0] != '/') {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof name);
        } else {
            assert_true(depth > 0);
            assert_string_equal(name + 1, open[--depth]);
        }
    }
    assert_int_equal(depth, 0);
}

static const char decode[] = TEST_ROOT "/data/h200/live/decode.jsonl.gz";

static void test_elements_are_closed(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    make(&out, decode, NULL);
    assert_balanced(buf_str(&out));
    assert_contains(buf_str(&out), "memory_bound");
    assert_contains(buf_str(&out), "92.9 %");
    assert_contains(buf_str(&out), "aria-label=\"DRAM over time\"");
    buf_fini(&out);
}

static void witness_only(struct snapshot *s)
{
    s->gpus[0].metrics[METRIC_DRAM_THROUGHPUT].value.source = SOURCE_GPM;
}

static void test_curves_are_those_of_the_finer_source(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    make(&out, decode, witness_only);
    assert_contains(buf_str(&out), "aria-label=\"DRAM read over time\"");
    assert_null(strstr(buf_str(&out), "aria-label=\"DRAM over time\""));
    buf_fini(&out);
}

static void doubt_sm(struct snapshot *s)
{
    value_set_state(&s->gpus[0].metrics[METRIC_SM_ACTIVE].value, SOURCE_PM, VALUE_SUSPECT,
                    "self-test");
}

static void test_a_number_that_is_not_sound_says_so_everywhere(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    make(&out, decode, doubt_sm);
    assert_contains(buf_str(&out),
                    "<span>SM active <em class=\"note\">suspect</em></span><b>92.9 %");
    const char *caption = strstr(buf_str(&out), "<strong>SM active</strong>");
    assert_non_null(caption);
    assert_true(strstr(caption, "suspect") < strstr(caption, "</figcaption>"));
    buf_fini(&out);
}

static void rename_all(struct snapshot *s)
{
    static const char name[] = "\"><img src=x onerror='a()'></td></script><!--";
    snprintf(s->gpus[0].name, sizeof s->gpus[0].name, "%s", name);
    snprintf(s->host, sizeof s->host, "%s", name);
    snprintf(s->tool, sizeof s->tool, "%s", name);
    snprintf(s->gpus[0].metrics[METRIC_SM_ACTIVE].counter, 200, "%s", name);
    value_set_state(&s->gpus[0].metrics[METRIC_POWER].value, SOURCE_NVML, VALUE_FAILED, "%s", name);
}

static void test_names_of_others_stay_text(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    make(&out, decode, rename_all);
    assert_balanced(buf_str(&out));
    assert_null(strstr(buf_str(&out), "<img"));
    assert_null(strstr(buf_str(&out), "<!--"));
    assert_contains(buf_str(&out), "&quot;&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;");
    buf_fini(&out);
}

static void test_without_a_gpu_it_says_so(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    make(&out, NULL, NULL);
    assert_balanced(buf_str(&out));
    assert_contains(buf_str(&out), "There is no GPU in it.");
    buf_fini(&out);
}

static void lose_power(struct snapshot *s)
{
    value_set_state(&s->gpus[0].metrics[METRIC_POWER].value, SOURCE_NVML, VALUE_NO_PERMISSION,
                    "the driver refuses");
}

static void test_what_has_no_number_has_its_reason(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    make(&out, decode, lose_power);
    assert_contains(buf_str(&out), "<td>Power</td><td class=\"n dim\" colspan=\"5\">no number</td>"
                                   "<td class=\"note\">no_permission: the driver refuses</td>");
    assert_null(strstr(buf_str(&out), "Power over time"));
    buf_fini(&out);
}

static void test_a_drawing_leaves_gaps_open(void **state)
{
    (void)state;
    const struct trace_column columns[] = {
        {0, 0.5, 0.25, true}, {0, 0, 0, false}, {1, 1, 1, true}, {0.2, 1.5, 0.9, true}};
    struct buf out = BUF_INIT;
    struct svg_chart c = {.label = "x",
                          .role = "real",
                          .unit = UNIT_RATIO,
                          .top = 1,
                          .column_ns = 1000000000,
                          .columns = columns,
                          .n = 4};
    svg_timeline(&out, &c);
    assert_balanced(buf_str(&out));
    /* two runs; x from 64 over 900, y from 6 over 84: above the top is the top */
    assert_contains(buf_str(&out), "<path class=\"band\" d=\"M64.0 48.0V48.0H289.0V90.0H64.0Z"
                                   "M514.0 6.0V6.0H739.0V6.0H964.0V73.2H739.0V6.0H514.0Z\"/>");
    assert_contains(buf_str(&out), "<path class=\"mean\" d=\"M64.0 69.0V69.0H289.0"
                                   "M514.0 6.0V6.0H739.0V14.4H964.0\"/>");
    buf_clear(&out);
    c.n = 0;
    svg_timeline(&out, &c);
    assert_int_equal(out.len, 0);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_are_closed),
        cmocka_unit_test(test_curves_are_those_of_the_finer_source),
        cmocka_unit_test(test_a_number_that_is_not_sound_says_so_everywhere),
        cmocka_unit_test(test_names_of_others_stay_text),
        cmocka_unit_test(test_without_a_gpu_it_says_so),
        cmocka_unit_test(test_what_has_no_number_has_its_reason),
        cmocka_unit_test(test_a_drawing_leaves_gaps_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
