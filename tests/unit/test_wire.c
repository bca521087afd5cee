/* SPDX-License-Identifier: MIT */
/* The wire format: what was encoded decodes to the same, and nothing else gets through. */
#include <math.h>
#include <stdlib.h>

#include "support.h"

#include "nsys_file.h"

#include "event/wire.h"

struct wire {
    struct event_encoder *encoder;
    struct buf text;
};

static enum status encode(void *self, const struct event *ev, struct error *err)
{
    struct wire *w = self;
    return event_encode(w->encoder, &w->text, ev, err);
}

/* A real export as lines, and the snapshot of the lines read back. */
static void a_real_stream_survives_the_wire(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct wire w = {.text = BUF_INIT};
    struct event_sink to_wire = {encode, &w};
    struct nsys_export *x = NULL;
    assert_int_equal(event_encoder_create(&w.encoder, &err), OK);
    assert_int_equal(nsys_export_open(&x, DECODE, true, &err), OK);
    assert_int_equal(nsys_export_describe(x, &to_wire, &err), OK);
    assert_int_equal(nsys_export_read(x, NSYS_AS_STORED, &to_wire, &err), OK);
    nsys_export_close(x);
    event_encoder_destroy(w.encoder);

    struct collector *c = NULL;
    struct event_decoder *decoder = NULL;
    assert_int_equal(collector_create(&c, &err), OK);
    assert_int_equal(event_decoder_create(&decoder, &err), OK);
    struct event_sink to_collector = collector_sink(c);
    int lines = 0;
    for (const char *p = buf_str(&w.text), *end; (end = strchr(p, '\n')); p = end + 1, lines++)
        if (event_decode(decoder, p, (size_t)(end - p), &to_collector, &err))
            fail_msg("line %d: %s", lines, err.text);
    assert_true(lines >= 5);
    struct snapshot *before = snapshot_of(DECODE, true), *after = NULL;
    assert_int_equal(collector_snapshot(c, &after, &err), OK);
    const struct gpu_snapshot *a = &before->gpus[0], *b = &after->gpus[0];
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->chip, b->chip);
    assert_int_equal(a->t0_ns, b->t0_ns);
    assert_int_equal(a->t1_ns, b->t1_ns);
    assert_int_equal(a->n_extras, b->n_extras);
    assert_near(a->rate_hz, b->rate_hz, 1e-9);
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_stats *s = &a->metrics[m], *t = &b->metrics[m];
        assert_int_equal(s->value.state, t->value.state);
        assert_string_equal(s->value.reason, t->value.reason);
        assert_string_equal(s->counter, t->counter);
        assert_int_equal(s->samples, t->samples);
        assert_near(s->resolution, t->resolution, 1e-12);
        if (value_has_number(&s->value)) {
            assert_near(s->value.v, t->value.v, 1e-7 + 1e-11 * fabs(s->value.v));
            assert_near(s->p95, t->p95, 1e-7 + 1e-11 * fabs(s->p95));
        }
    }
    snapshot_destroy(before);
    snapshot_destroy(after);
    event_decoder_destroy(decoder);
    collector_destroy(c);
    buf_fini(&w.text);
}

static const char *encode_one(struct buf *out, const struct event *ev)
{
    struct event_encoder *e = NULL;
    assert_int_equal(event_encoder_create(&e, NULL), OK);
    struct plan_series series[] = {{METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0},
                                   {METRIC_POWER, "power", UNIT_WATTS, VALUE_OK, "", "", 0}};
    struct event plan = {.kind = EVENT_PLAN,
                         .u.plan = {.gpu = 1, .source = SOURCE_PM, .n = 2, .series = series}};
    struct buf ignored = BUF_INIT;
    assert_int_equal(event_encode(e, &ignored, &plan, NULL), OK);
    buf_fini(&ignored);
    buf_clear(out);
    assert_int_equal(event_encode(e, out, ev, NULL), OK);
    event_encoder_destroy(e);
    return buf_str(out);
}

static void lines_look_as_documented(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    static const int64_t t0[] = {INT64_C(1796019438769865363), -5},
                         t1[] = {INT64_C(1796019438789865363), 0};
    static const double values[] = {0.8630769, NAN, 123456.789012, 1e-7};
    static const uint32_t series[] = {0, 1};
    struct event samples = {.kind = EVENT_SAMPLES,
                            .u.samples = {.gpu = 1,
                                          .source = SOURCE_PM,
                                          .n = 2,
                                          .t0_ns = t0,
                                          .t1_ns = t1,
                                          .columns = 2,
                                          .series = series,
                                          .values = values,
                                          .stride = 2}};
    assert_string_equal(
        encode_one(&out, &samples),
        "{\"event\":\"samples\",\"gpu\":1,\"source\":\"pm\","
        "\"t0_ns\":[1796019438769865363,-5],\"t1_ns\":[1796019438789865363,0],"
        "\"values\":{\"sm_active\":[0.8630769,null],\"power\":[123456.789012,1e-07]}}\n");
    struct event note = {.kind = EVENT_NOTE,
                         .u.note = {NOTE_WARNING, -1, "a \"b\"\\\n\x01 \xC3\xA4"}};
    assert_string_equal(
        encode_one(&out, &note),
        "{\"event\":\"note\",\"level\":\"warning\",\"text\":\"a \\\"b\\\"\\\\\\u000a\\u0001 "
        "\xC3\xA4\"}\n");
    struct event end = {.kind = EVENT_END, .u.end = {ERR_BUSY, "taken"}};
    assert_string_equal(encode_one(&out, &end),
                        "{\"event\":\"end\",\"status\":\"BUSY\",\"reason\":\"taken\"}\n");
    buf_fini(&out);
}

static void ratios_keep_seven_places(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "1"},
                 {0.1, "0.1"},
                 {0.00000004, "0"},
                 {0.0000001, "0.0000001"},
                 {0.99999999, "1"},
                 {3.0625, "3.0625"},
                 {0.25, "0.25"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = BUF_INIT;
        static const int64_t t[] = {0};
        static const uint32_t series[] = {0};
        struct event ev = {.kind = EVENT_SAMPLES,
                           .u.samples = {.gpu = 1,
                                         .source = SOURCE_PM,
                                         .n = 1,
                                         .t0_ns = t,
                                         .t1_ns = t,
                                         .columns = 1,
                                         .series = series,
                                         .values = &cases[i].v,
                                         .stride = 1}};
        char expected[64];
        snprintf(expected, sizeof expected, "\"sm_active\":[%s]", cases[i].text);
        assert_contains(encode_one(&out, &ev), expected);
        buf_fini(&out);
    }
}

/* ---- servers ---- */

static const char server_line[] =
    "{\"event\":\"server\",\"url\":\"http://127.0.0.1:8000/metrics\",\"kind\":\"vllm\","
    "\"model\":null,\"pid\":77,\"local\":true,\"gpu_pids\":[78,79],\"state\":\"ok\","
    "\"t0_ns\":1796019438769865363,\"t1_ns\":1796019443769865363,\"metrics\":{"
    "\"output_tokens_per_second\":{\"value\":177.5,\"state\":\"ok\",\"series\":\"vllm:g\"},"
    "\"kv_usage\":{\"value\":0.96,\"state\":\"stale\",\"reason\":\"old\",\"freshness\":\"steps\"},"
    "\"ttft\":{\"value\":null,\"state\":\"warming\",\"reason\":\"none ended\"}}}";

static const struct event_server_metric server_metrics[] = {
    {METRIC_OUTPUT_TOKENS_PER_SECOND, VALUE_OK, 177.5, "", "vllm:g", ""},
    {METRIC_KV_USAGE, VALUE_STALE, 0.96, "old", "", "steps"},
    /* a number beside a state that has none must not get through */
    {METRIC_TTFT, VALUE_WARMING, 0, "none ended", "", ""},
};
static const int64_t server_pids[] = {78, 79};

static struct event server_event(void)
{
    return (struct event){.kind = EVENT_SERVER,
                          .u.server = {.url = "http://127.0.0.1:8000/metrics",
                                       .kind = "vllm",
                                       .model = "",
                                       .pid = 77,
                                       .is_local = true,
                                       .n_gpu_pids = 2,
                                       .gpu_pids = server_pids,
                                       .state = VALUE_OK,
                                       .reason = "",
                                       .t0_ns = INT64_C(1796019438769865363),
                                       .t1_ns = INT64_C(1796019443769865363),
                                       .n = 3,
                                       .metrics = server_metrics}};
}

static enum status check_server(void *self, const struct event *ev, struct error *err)
{
    (void)err;
    const struct event_server *s = &ev->u.server;
    ++*(int *)self;
    assert_int_equal(ev->kind, EVENT_SERVER);
    assert_string_equal(s->url, "http://127.0.0.1:8000/metrics");
    assert_string_equal(s->kind, "vllm");
    assert_string_equal(s->model, "");
    assert_int_equal(s->pid, 77);
    assert_true(s->is_local);
    assert_int_equal(s->n_gpu_pids, 2);
    assert_int_equal(s->gpu_pids[1], 79);
    assert_int_equal(s->state, VALUE_OK);
    assert_int_equal(s->t1_ns - s->t0_ns, INT64_C(5000000000));
    assert_int_equal(s->n, 3);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(s->metrics[i].metric, server_metrics[i].metric);
        assert_int_equal(s->metrics[i].state, server_metrics[i].state);
        assert_string_equal(s->metrics[i].reason, server_metrics[i].reason);
        assert_string_equal(s->metrics[i].series, server_metrics[i].series);
        assert_string_equal(s->metrics[i].freshness, server_metrics[i].freshness);
    }
    assert_near(s->metrics[0].v, 177.5, 0);
    assert_near(s->metrics[1].v, 0.96, 0);
    assert_true(isnan(s->metrics[2].v));
    return OK;
}

static void a_server_survives_the_wire(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct event_decoder *d = NULL;
    int pushed = 0;
    struct event_sink sink = {check_server, &pushed};
    struct event ev = server_event();
    const char *line = encode_one(&out, &ev);
    assert_memory_equal(line, server_line, sizeof server_line - 1);
    assert_string_equal(line + sizeof server_line - 1, "\n");
    assert_int_equal(event_decoder_create(&d, NULL), OK);
    assert_int_equal(event_decode(d, line, out.len - 1, &sink, NULL), OK);
    assert_int_equal(pushed, 1);
    event_decoder_destroy(d);
    ev.u.server.kind = "";
    ev.u.server.pid = 0;
    assert_contains(encode_one(&out, &ev), "\"kind\":null,\"model\":null,\"pid\":null,");
    buf_fini(&out);
}

static enum status check_gone(void *self, const struct event *ev, struct error *err)
{
    (void)err;
    *(bool *)self = ev->u.server.is_gone;
    return OK;
}

static void a_server_that_is_gone_says_so(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct event_decoder *d = NULL;
    bool is_gone = false;
    struct event_sink sink = {check_gone, &is_gone};
    struct event ev = server_event();
    ev.u.server.state = VALUE_FAILED;
    ev.u.server.reason = "nobody listens";
    ev.u.server.is_gone = true;
    const char *line = encode_one(&out, &ev);
    assert_contains(line, "\"reason\":\"nobody listens\",\"gone\":true,\"t0_ns\"");
    assert_int_equal(event_decoder_create(&d, NULL), OK);
    assert_int_equal(event_decode(d, line, out.len - 1, &sink, NULL), OK);
    assert_true(is_gone);
    event_decoder_destroy(d);
    buf_fini(&out);
}

static enum status count(void *self, const struct event *ev, struct error *err)
{
    (void)ev, (void)err;
    ++*(int *)self;
    return OK;
}

static void wrong_lines_push_nothing(void **state)
{
    (void)state;
    static const char plan[] =
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\",\"series\":[{\"metric\":"
        "\"sm_active\",\"unit\":\"ratio\",\"state\":\"ok\"}]}";
    static const char *const wrong[] = {
        "",
        "x",
        "[]",
        "{",
        "{}",
        "null",
        "{\"event\":3}",
        "{\"event\":\"hello\",\"schema\":2}",
        "{\"event\":\"gpu\"}",
        "{\"event\":\"gpu\",\"gpu\":-1}",
        "{\"event\":\"gpu\",\"gpu\":\"0\"}",
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\"}",
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"x\",\"series\":[]}",
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\",\"series\":[{}]}",
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\",\"series\":[{\"metric\":\"sm_active\","
        "\"unit\":\"watts\"}]}",
        "{\"event\":\"samples\",\"gpu\":1,\"source\":\"pm\",\"t0_ns\":[1],\"t1_ns\":[2],\"values\":"
        "{}}",
        "{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[],\"t1_ns\":[],\"values\":{}"
        "}",
        "{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[1,2],\"t1_ns\":[2],"
        "\"values\":{}}",
        "{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[3],\"t1_ns\":[2],\"values\":"
        "{}}",
        "{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[1.5],\"t1_ns\":[2],"
        "\"values\":{}}",
        "{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[1],\"t1_ns\":[2],\"values\":"
        "{\"sm_active\":[1,2]}}",
    };
    struct event_decoder *d = NULL;
    struct error err = ERROR_INIT;
    int pushed = 0;
    struct event_sink sink = {count, &pushed};
    assert_int_equal(event_decoder_create(&d, &err), OK);
    assert_int_equal(event_decode(d, plan, sizeof plan - 1, &sink, &err), OK);
    assert_int_equal(pushed, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (event_decode(d, wrong[i], strlen(wrong[i]), &sink, &err) != ERR_BAD_INPUT)
            fail_msg("passed: %s", wrong[i]);
        assert_int_equal(pushed, 1);
        assert_true(err.text[0]);
    }
    /* every cut of a good line is refused, too */
    for (size_t n = 0; n < sizeof plan - 1; n++)
        assert_int_equal(event_decode(d, plan, n, &sink, &err), ERR_BAD_INPUT);
    event_decoder_destroy(d);
}

/* The line of a server with one part of it replaced. */
static enum status decode_changed(const char *part, const char *other, int *pushed)
{
    struct event_decoder *d = NULL;
    struct event_sink sink = {count, pushed};
    struct buf line = BUF_INIT;
    const char *at = strstr(server_line, part);
    assert_non_null(at);
    buf_add(&line, server_line, (size_t)(at - server_line));
    buf_puts(&line, other);
    buf_puts(&line, at + strlen(part));
    assert_int_equal(event_decoder_create(&d, NULL), OK);
    enum status st = event_decode(d, buf_str(&line), line.len, &sink, NULL);
    event_decoder_destroy(d);
    buf_fini(&line);
    return st;
}

static void wrong_servers_push_nothing(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"\"url\"", "\"uri\""},
        {"http://127.0.0.1:8000/metrics", ""},
        {"\"t0_ns\":1796019438769865363", "\"t0_ns\":1796019443769865364"},
        {"\"t0_ns\":1796019438769865363", "\"t0_ns\":1.5"},
        {"\"t1_ns\":1796019443769865363", "\"t1_ns\":null"},
        {"[78,79]", "[78,-1]"},
        {"[78,79]", "[78,\"79\"]"},
        {"\"metrics\":", "\"values\":"},
        {"177.5", "null"},
        {"177.5", "-1"},
        {"177.5", "\"177.5\""},
        {"177.5", "1e999"},
        {"0.96", "null"},
    };
    int pushed = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (decode_changed(wrong[i][0], wrong[i][1], &pushed) != ERR_BAD_INPUT || pushed)
            fail_msg("passed: %s", wrong[i][1]);
    char *longer = calloc(5000, 1);
    memset(longer, 'x', 4999);
    assert_int_equal(decode_changed("vllm:g", longer, &pushed), ERR_BAD_INPUT);
    assert_int_equal(decode_changed("127.0.0.1", longer, &pushed), ERR_BAD_INPUT);
    free(longer);
    struct buf pids = BUF_INIT;
    for (int i = 0; i < 300; i++)
        buf_puts(&pids, i ? ",7" : "[7");
    buf_putc(&pids, ']');
    assert_int_equal(decode_changed("[78,79]", buf_str(&pids), &pushed), ERR_BAD_INPUT);
    buf_fini(&pids);
    assert_int_equal(pushed, 0);
    /* not known: ignored; a GPU's metric is none of a server */
    assert_int_equal(decode_changed("\"ttft\"", "\"hyper\"", &pushed), OK);
    assert_int_equal(decode_changed("\"ttft\"", "\"power\"", &pushed), OK);
    assert_int_equal(decode_changed("\"pid\":77", "\"pid\":null", &pushed), OK);
    assert_int_equal(pushed, 3);
}

static void what_is_not_known_is_ignored(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"event\":\"from the future\",\"x\":1}",
        "{\"event\":\"beat\",\"load\":0.1}",
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\",\"new\":true,\"series\":[{\"metric\":"
        "\"hyper_active\",\"unit\":\"parsecs\",\"state\":\"splendid\"}]}",
        "{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[1],\"t1_ns\":[2],\"values\":"
        "{"
        "\"other\":[1],\"hyper_active\":[\"x\"]}}",
    };
    struct event_decoder *d = NULL;
    int pushed = 0;
    struct event_sink sink = {count, &pushed};
    assert_int_equal(event_decoder_create(&d, NULL), OK);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(event_decode(d, lines[i], strlen(lines[i]), &sink, NULL), OK);
    assert_int_equal(pushed, 3);
    event_decoder_destroy(d);
}

static void samples_without_a_plan_are_not_encoded(void **state)
{
    (void)state;
    struct event_encoder *e = NULL;
    struct buf out = BUF_INIT;
    struct error err = ERROR_INIT;
    struct event ev = {.kind = EVENT_SAMPLES, .u.samples = {.gpu = 1, .source = SOURCE_PM}};
    assert_int_equal(event_encoder_create(&e, NULL), OK);
    assert_int_equal(event_encode(e, &out, &ev, &err), ERR_BAD_INPUT);
    assert_int_equal(out.len, 0);
    event_encoder_destroy(e);
    buf_fini(&out);
}

/* The value of one sample, decoded quickly, and with a blank in front, which is for the general
 * decoder only. */
struct one {
    double v;
    size_t pushed;
};

static enum status take_one(void *self, const struct event *ev, struct error *err)
{
    struct one *one = self;
    (void)err;
    if (ev->kind == EVENT_SAMPLES) {
        one->v = ev->u.samples.values[0];
        one->pushed++;
    }
    return OK;
}

static void numbers_are_read_the_same_in_both_ways(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0", "-0", "-0.0", "0e5", "1", "0.9283368", "3.8753369088e+12", "1e22", "1e23", "1e-22",
        "123456789012345", "99999999999999.9", "0.1", "0.3", "2.2250738585072014e-308",
        "1.7976931348623157e308", "5e-324", "9007199254740993", "123456.789e-5", "null", "1.5E3",
        /* no numbers of JSON, or not of ours: both refuse them */
        "01", "1.", ".5", "+1", "1e", "1e+", "--1", "nul", "NaN", "Infinity", "0x10", "1e400", ""};
    static const char plan[] =
        "{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\",\"rate_hz\":50,\"series\":[{\"metric\":"
        "\"sm_active\",\"unit\":\"ratio\",\"state\":\"ok\"}]}";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char line[400];
        struct event_decoder *d = NULL;
        struct one quick = {0, 0}, general = {0, 0};
        const struct event_sink to_quick = {take_one, &quick}, to_general = {take_one, &general};
        assert_int_equal(event_decoder_create(&d, NULL), OK);
        assert_int_equal(event_decode(d, plan, strlen(plan), &to_quick, NULL), OK);
        snprintf(line, sizeof line,
                 " {\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[5],\"t1_ns\":[6],"
                 "\"values\":{\"sm_active\":[%s]}}",
                 texts[i]);
        enum status a = event_decode(d, line + 1, strlen(line + 1), &to_quick, NULL);
        enum status b = event_decode(d, line, strlen(line), &to_general, NULL);
        assert_int_equal(a, b);
        assert_int_equal(quick.pushed, general.pushed);
        assert_true((isnan(quick.v) && isnan(general.v)) ||
                    memcmp(&quick.v, &general.v, sizeof quick.v) == 0);
        event_decoder_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_stream_survives_the_wire),
        cmocka_unit_test(lines_look_as_documented),
        cmocka_unit_test(ratios_keep_seven_places),
        cmocka_unit_test(wrong_lines_push_nothing),
        cmocka_unit_test(a_server_survives_the_wire),
        cmocka_unit_test(a_server_that_is_gone_says_so),
        cmocka_unit_test(wrong_servers_push_nothing),
        cmocka_unit_test(what_is_not_known_is_ignored),
        cmocka_unit_test(samples_without_a_plan_are_not_encoded),
        cmocka_unit_test(numbers_are_read_the_same_in_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
