/* SPDX-License-Identifier: MIT */
/* What is served, without sockets: the gate, paths, texts, charts, event streams. */
#include <jansson.h>
#include <math.h>
#include <zlib.h>

#include "support.h"

#include "http/columns.h"
#include "http/digits.h"
#include "http/frame_json.h"
#include "http/gate.h"
#include "http/page.h"
#include "http/stream.h"
#include "http_site.h"

static const char recording[] = TEST_ROOT "/data/h200/live/decode.jsonl.gz";

static int set_up(void **state)
{
    (void)state;
    open_site(recording);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_site();
    return 0;
}

static struct http_request get(const char *path)
{
    return (struct http_request){.method = "GET", .path = path, .host = "localhost"};
}

static unsigned status_of(const struct http_request *r)
{
    struct http_answer a = {0};
    if (!site_refuses(site, r, &a))
        site_answer(site, r, &a);
    blob_unref(a.body);
    return a.status;
}

/* Bytes without a NUL behind them as a string; strndup reads one more than it is told to, by the
 * sanitizer's strict view. */
static char *string_of(const void *data, size_t len)
{
    char *text = malloc(len + 1);
    assert_non_null(text);
    memcpy(text, data, len);
    text[len] = '\0';
    return text;
}

/* The answer's body as a string of its own. */
static char *body_of(const struct http_request *r, struct http_answer *a)
{
    site_answer(site, r, a);
    assert_non_null(a->body);
    char *text = string_of(a->body->data, a->body->len);
    assert_non_null(text);
    blob_unref(a->body);
    return text;
}

static json_t *json_of(const struct http_request *r)
{
    struct http_answer a;
    char *text = body_of(r, &a);
    assert_int_equal(a.status, 200);
    assert_int_equal(strcspn(text, "\n") + 1, strlen(text)); /* one line */
    json_t *o = json_loads(text, 0, NULL);
    assert_non_null(o);
    free(text);
    return o;
}

/* ---- the gate ---- */

static void test_methods(void **state)
{
    (void)state;
    static const char *const others[] = {"POST",  "PUT", "DELETE", "OPTIONS",
                                         "TRACE", "get", "",       "X"};
    struct http_request r = get("/healthz");
    struct http_answer a;
    assert_int_equal(status_of(&r), 200);
    r.method = "HEAD";
    assert_int_equal(status_of(&r), 200);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        r.method = others[i];
        assert_int_equal(status_of(&r), 405);
    }
    assert_true(site_refuses(site, &r, &a));
    assert_string_equal(a.allow, "GET, HEAD");
    blob_unref(a.body);
    r = get("/healthz");
    r.has_body = true;
    assert_int_equal(status_of(&r), 413);
}

static void test_host(void **state)
{
    (void)state;
    static const char *const good[] = {
        "localhost", "LocalHost:19400", "127.0.0.1", "127.0.0.1:1",   "[::1]:19400",
        "[::1]",     "10.1.2.3:80",     "box",       "BOX.example:9", "localhost."};
    static const char *const bad[] = {"evil.example",
                                      "localhost.evil.example",
                                      "box.example.evil",
                                      "",
                                      "localhost:x",
                                      "[::1",
                                      "::1",
                                      "127.0.0.1.evil",
                                      "bo",
                                      "[]:80",
                                      "localhos",
                                      "."};
    struct http_request r = get("/healthz");
    r.on_loopback = true;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        r.host = good[i];
        if (status_of(&r) != 200)
            fail_msg("%s is refused", r.host);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        r.host = bad[i];
        if (status_of(&r) != 421)
            fail_msg("%s is let in", r.host);
    }
    r.host = NULL; /* HTTP/1.0 */
    assert_int_equal(status_of(&r), 200);
    r.host = "gpu17.fleet.example"; /* a name of a network's own, not on loopback */
    r.on_loopback = false;
    assert_int_equal(status_of(&r), 200);
}

static void test_accept_encoding(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "gzip",   "deflate, gzip", "GZIP;q=0.5",        "br;q=1.0, gzip;q=0.8, *;q=0.1",
        "x-gzip", "gzip ;q=1",     "identity;q=0, gzip"};
    static const char *const no[] = {
        "",        "deflate", "gzip;q=0", "gzip;q=0.0", "gzip; q=0.000",
        "gzipped", "agzip",   "identity", ",,,",        "q=gzip"};
    assert_false(gate_accepts_gzip(NULL));
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!gate_accepts_gzip(yes[i]))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (gate_accepts_gzip(no[i]))
            fail_msg("%s", no[i]);
}

/* ---- paths ---- */

static void test_paths(void **state)
{
    (void)state;
    static const char *const unknown[] = {
        "",         "/metrics/",   "//",          "/../etc/passwd",
        "/%2e%2e/", "/metrics%00", "/index.html", "/health",
        "/Metrics", "metrics",     "*",           "/status.json.gz"};
    static const char *const web[] = {"/",        "/metrics", "/status.json", "/history.json",
                                      "/healthz", "/events"};
    for (size_t i = 0; i < sizeof web / sizeof web[0]; i++) {
        struct http_request r = get(web[i]);
        assert_int_equal(status_of(&r), 200);
        r.method = "HEAD";
        assert_int_equal(status_of(&r), 200);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        struct http_request r = get(unknown[i]);
        if (status_of(&r) != 404)
            fail_msg("%s", unknown[i]);
    }
}

static void test_dcgm_door(void **state)
{
    (void)state;
    static const char *const paths[] = {"/", "/metrics", "/health"}, *const not_here[] = {
                                                                         "/healthz", "/status.json",
                                                                         "/events",
                                                                         "/history.json"};
    for (size_t i = 0; i < 3; i++) {
        struct http_request r = get(paths[i]);
        r.door = HTTP_DOOR_DCGM;
        assert_int_equal(status_of(&r), 200);
    }
    for (size_t i = 0; i < 4; i++) {
        struct http_request r = get(not_here[i]);
        r.door = HTTP_DOOR_DCGM;
        assert_int_equal(status_of(&r), 404);
    }
    struct http_request r = get("/metrics");
    struct http_answer a;
    r.door = HTTP_DOOR_DCGM;
    char *text = body_of(&r, &a);
    assert_string_equal(text, "DCGM 1\n");
    free(text);
    site_tell(site, "it hangs"); /* its names have none for that */
    assert_int_equal(status_of(&r), 503);
}

static void test_types(void **state)
{
    (void)state;
    static const char *const types[][2] = {
        {"/", "text/html; charset=utf-8"},
        {"/metrics", "text/plain; version=0.0.4; charset=utf-8"},
        {"/status.json", "application/json; charset=utf-8"},
        {"/history.json", "application/json; charset=utf-8"},
        {"/healthz", "text/plain; charset=utf-8"},
        {"/nothing", "text/plain; charset=utf-8"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct http_request r = get(types[i][0]);
        struct http_answer a;
        free(body_of(&r, &a));
        assert_string_equal(a.type, types[i][1]);
        assert_contains(a.policy, "default-src 'none'");
    }
    struct http_request r = get("/");
    struct http_answer a;
    char *page = body_of(&r, &a);
    assert_ptr_equal(a.policy, web_page_csp);
    assert_int_equal(strlen(page), web_page_size);
    free(page);
}

static void test_health(void **state)
{
    (void)state;
    struct http_request r = get("/healthz");
    struct http_answer a;
    char *text = body_of(&r, &a);
    assert_string_equal(text, "ok\n");
    free(text);
    site_tell(site, "the daemon has said nothing for 12 s");
    text = body_of(&r, &a);
    assert_int_equal(a.status, 503);
    assert_string_equal(text, "the daemon has said nothing for 12 s\n");
    free(text);
    assert_true(gate_is_open(&r));
    r.path = "/metrics";
    assert_false(gate_is_open(&r));
    r = get("/health");
    assert_false(gate_is_open(&r));
    r.door = HTTP_DOOR_DCGM;
    assert_true(gate_is_open(&r));
}

/* Before anything is known there is no status, and metrics say that nothing is up. */
static void test_nothing_yet(void **state)
{
    (void)state;
    close_site();
    open_site(NULL);
    struct http_request r = get("/status.json");
    struct http_answer a;
    free(body_of(&r, &a));
    assert_int_equal(a.status, 503);
    assert_true(a.retry);
    r.path = "/metrics";
    assert_int_equal(status_of(&r), 200);
    r.path = "/history.json";
    assert_int_equal(status_of(&r), 404);
    r.path = "/healthz";
    assert_int_equal(status_of(&r), 503);
    assert_null(site_status_event(site));
    assert_null(site_frame_event(frames));
}

/* ---- texts ---- */

static void test_status_is_the_snapshot(void **state)
{
    (void)state;
    struct http_request r = get("/status.json");
    json_t *o = json_of(&r);
    assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
    const json_t *gpu = json_array_get(json_object_get(o, "gpus"), 0);
    double shown = json_number_value(
        json_object_get(json_object_get(json_object_get(gpu, "metrics"), "sm_active"), "value"));
    struct snapshot *s = take_snapshot();
    assert_near(shown, s->gpus[0].metrics[METRIC_SM_ACTIVE].value.v, 1e-6);
    snapshot_destroy(s);
    json_decref(o);
}

static void test_rendered_once(void **state)
{
    (void)state;
    struct http_request r = get("/metrics");
    for (int i = 0; i < 5; i++)
        assert_int_equal(status_of(&r), 200);
    r.accept_encoding = "gzip";
    assert_int_equal(status_of(&r), 200);
    assert_int_equal(rendered, 1);
    site_take(site, take_snapshot());
    assert_int_equal(status_of(&r), 200);
    assert_int_equal(rendered, 2);
}

static void test_gzip(void **state)
{
    (void)state;
    struct http_request r = get("/metrics");
    struct http_answer plain, packed;
    site_answer(site, &r, &plain);
    r.accept_encoding = "gzip";
    site_answer(site, &r, &packed);
    assert_false(plain.is_gzip);
    assert_true(packed.is_gzip && packed.varies && plain.varies);
    assert_true(packed.body->len < plain.body->len / 2);
    static char text[1 << 16];
    z_stream z = {.next_in = (Bytef *)packed.body->data,
                  .avail_in = (uInt)packed.body->len,
                  .next_out = (Bytef *)text,
                  .avail_out = sizeof text};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    assert_int_equal(z.total_out, plain.body->len);
    assert_memory_equal(text, plain.body->data, plain.body->len);
    struct http_answer again;
    site_answer(site, &r, &again);
    assert_ptr_equal(again.body, packed.body); /* packed once */
    blob_unref(again.body);
    blob_unref(plain.body);
    site_take(site, take_snapshot()); /* an answer on its way outlives its snapshot */
    assert_int_equal(packed.body->refs, 1);
    blob_unref(packed.body);
    r.path = "/healthz"; /* too short to be worth it */
    site_answer(site, &r, &again);
    assert_false(again.is_gzip);
    blob_unref(again.body);
}

/* ---- charts ---- */

static void test_history(void **state)
{
    (void)state;
    struct http_request r = get("/history.json");
    r.seconds = "20";
    r.columns = "40";
    json_t *o = json_of(&r);
    const json_t *values = json_object_get(o, "values"), *sm = json_object_get(values, "sm_active");
    assert_string_equal(json_string_value(json_object_get(o, "step_ns")), "500000000");
    int64_t begin_ns = strtoll(json_string_value(json_object_get(o, "begin_ns")), NULL, 10);
    assert_int_equal(begin_ns % 500000000, 0);
    assert_true(begin_ns + 20 * INT64_C(1000000000) > trace_newest_ns(trace));
    assert_true(begin_ns + 20 * INT64_C(1000000000) <= trace_newest_ns(trace) + 500000000);
    static struct trace_column list[40];
    trace_columns(trace, 0, METRIC_SM_ACTIVE, begin_ns, 500000000, 40, list);
    size_t known = 0;
    for (size_t i = 0; i < 40; i++) {
        const json_t *mean = json_array_get(json_object_get(sm, "mean"), i),
                     *min = json_array_get(json_object_get(sm, "min"), i),
                     *max = json_array_get(json_object_get(sm, "max"), i);
        assert_int_equal(json_is_null(mean), !list[i].known);
        if (!list[i].known)
            continue;
        known++;
        assert_near(json_number_value(mean), list[i].mean, 1e-5);
        assert_near(json_number_value(min), list[i].min, 1e-5);
        assert_near(json_number_value(max), list[i].max, 1e-5);
    }
    assert_true(known > 10 && known < 40); /* ten seconds of a recording, in twenty */
    assert_int_equal(json_array_size(json_object_get(sm, "max")), 40);
    assert_null(json_object_get(values, "energy")); /* a counter has no chart */
    json_decref(o);
}

static void test_history_arguments(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        {"-1", NULL, NULL},  {"x", NULL, NULL},          {"", NULL, NULL},   {NULL, "0", NULL},
        {NULL, "601", NULL}, {NULL, "1e2", NULL},        {NULL, NULL, "0"},  {NULL, NULL, "601"},
        {NULL, NULL, " 5"},  {"4294967296", NULL, NULL}, {NULL, "nan", NULL}};
    struct http_request r = get("/history.json");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        r.gpu = bad[i][0];
        r.seconds = bad[i][1];
        r.columns = bad[i][2];
        if (status_of(&r) != 400)
            fail_msg("%s %s %s", bad[i][0], bad[i][1], bad[i][2]);
    }
    r = get("/history.json");
    r.gpu = "1";
    assert_int_equal(status_of(&r), 404);
    r.gpu = "4294967295";
    assert_int_equal(status_of(&r), 404);
    r.gpu = "0";
    r.seconds = "1"; /* four quarters of a second: more columns there are not */
    r.columns = "600";
    json_t *o = json_of(&r);
    assert_int_equal(json_array_size(json_object_get(
                         json_object_get(json_object_get(o, "values"), "sm_active"), "min")),
                     4);
    json_decref(o);
    r.seconds = r.columns = "600";
    o = json_of(&r);
    assert_string_equal(json_string_value(json_object_get(o, "step_ns")), "1000000000");
    json_decref(o);
}

/* One that is asked for again in the same second is not made again; a hundred different ones are.
 */
static void test_history_shared(void **state)
{
    (void)state;
    struct http_request r = get("/history.json");
    struct http_answer first, second;
    char columns[16];
    site_answer(site, &r, &first);
    site_answer(site, &r, &second);
    assert_ptr_equal(first.body, second.body);
    blob_unref(second.body);
    r.columns = columns;
    for (int i = 0; i < 99; i++) {
        snprintf(columns, sizeof columns, "%d", i + 1);
        assert_int_equal(status_of(&r), 200);
    }
    snprintf(columns, sizeof columns, "599");
    assert_int_equal(status_of(&r), 503);
    snprintf(columns, sizeof columns, "99"); /* is there */
    assert_int_equal(status_of(&r), 200);
    site_take(site, take_snapshot());
    snprintf(columns, sizeof columns, "599");
    assert_int_equal(status_of(&r), 200);
    assert_int_equal(first.body->refs, 1);
    blob_unref(first.body);
}

static void test_digits(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } numbers[] = {{0, "0"},
                   {-0.0, "0"},
                   {1, "1"},
                   {0.5, "0.5"},
                   {-0.25, "-0.25"},
                   {0.123456, "0.12346"},
                   {0.999996, "1"},
                   {99999.6, "100000"},
                   {12345.4, "12345"},
                   {123456789, "123460000"},
                   {4.87634e12, "4876300000000"},
                   {0.00001234567, "0.000012346"},
                   {9.99999, "10"},
                   {10.05, "10.05"},
                   {582.226, "582.23"},
                   {NAN, "null"},
                   {INFINITY, "null"},
                   {1e-9, "1e-09"},
                   {2.5e20, "2.5e+20"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct buf out = BUF_INIT;
        digits_put(&out, numbers[i].v);
        assert_string_equal(buf_str(&out), numbers[i].text);
        buf_fini(&out);
    }
    /* against printf, over all magnitudes */
    for (double v = 1.23456e-8; v < 1e18; v *= 1.0173) {
        struct buf out = BUF_INIT;
        digits_put(&out, v);
        assert_near(strtod(buf_str(&out), NULL) / v, 1, 5.1e-5);
        buf_fini(&out);
    }
}

/* ---- event streams ---- */

static void test_rates(void **state)
{
    (void)state;
    static const char *const good[] = {NULL, "1", "2", "5", "10"}, *const bad[] = {
                                                                       "0",    "3", "-1", "100",
                                                                       "10.0", "",  "1 "};
    static const unsigned hz[] = {5, 1, 2, 5, 10};
    struct http_request r = get("/events");
    struct http_answer a;
    for (size_t i = 0; i < 5; i++) {
        r.hz = good[i];
        site_answer(site, &r, &a);
        assert_int_equal(a.stream_hz, hz[i]);
        assert_string_equal(a.type, "text/event-stream");
        assert_null(a.body);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        r.hz = bad[i];
        assert_int_equal(status_of(&r), 400);
    }
}

static char *text_of(struct blob *b)
{
    assert_non_null(b);
    char *text = string_of(b->data, b->len);
    blob_unref(b);
    return text;
}

static void test_status_event(void **state)
{
    (void)state;
    struct http_request r = get("/status.json");
    struct http_answer a;
    char *status = body_of(&r, &a), *event = text_of(site_status_event(site));
    assert_int_equal(strncmp(event, "event: status\nid: 1\ndata: {", 27), 0);
    const char *data = strstr(event, "data: ") + 6;
    assert_int_equal(strncmp(data, status, strlen(status)), 0);
    assert_string_equal(data + strlen(status), "\n"); /* an empty line ends an event */
    free(event);
    free(status);
    char *hello = text_of(site_hello());
    assert_string_equal(hello, "retry: 2000\n\n");
    free(hello);
}

static void test_frame_event(void **state)
{
    (void)state;
    char *event = text_of(site_frame_event(frames));
    double min, mean, max;
    assert_int_equal(strncmp(event, "event: frame\ndata: {", 20), 0);
    assert_string_equal(event + strlen(event) - 3, "}\n\n");
    json_t *o = json_loads(strstr(event, "data: ") + 6, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *gpu = json_array_get(json_object_get(o, "gpus"), 0),
                 *sm = json_object_get(json_object_get(gpu, "values"), "sm_active");
    assert_true(frames_of(frames, 0, METRIC_SM_ACTIVE, &min, &mean, &max));
    assert_near(json_number_value(json_array_get(sm, 0)), min, 1e-4 * min);
    assert_near(json_number_value(json_array_get(sm, 1)), mean, 1e-4 * mean);
    assert_near(json_number_value(json_array_get(sm, 2)), max, 1e-4 * max);
    assert_true(min < mean && mean < max);
    assert_int_equal(json_array_size(sm), 3);
    assert_true(strtoll(json_string_value(json_object_get(o, "t1_ns")), NULL, 10) >
                strtoll(json_string_value(json_object_get(o, "t0_ns")), NULL, 10));
    json_decref(o);
    free(event);
    frames_clear(frames);
    assert_null(site_frame_event(frames));
}

static void test_stream_queue(void **state)
{
    (void)state;
    struct stream s = {0};
    struct blob *m = blob_make("0123456789", 10), *empty = blob_make("", 0);
    char out[32];
    assert_int_equal(stream_take(&s, out, sizeof out), 0);
    assert_true(stream_push(&s, m));
    assert_true(stream_push(&s, empty));
    assert_true(stream_push(&s, m));
    assert_int_equal(m->refs, 3);
    assert_int_equal(stream_take(&s, out, 4), 4);
    assert_memory_equal(out, "0123", 4);
    assert_int_equal(stream_take(&s, out, 8), 8);
    assert_memory_equal(out, "45678901", 8);
    assert_int_equal(stream_take(&s, out, sizeof out), 8);
    assert_int_equal(m->refs, 1);
    for (int i = 0; i < STREAM_QUEUE; i++)
        assert_true(stream_push(&s, m));
    assert_false(stream_push(&s, m)); /* too slow */
    assert_int_equal(m->refs, 1 + STREAM_QUEUE);
    stream_fini(&s);
    assert_int_equal(m->refs, 1);
    blob_unref(m);
    blob_unref(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_methods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_host, set_up, tear_down),
        cmocka_unit_test(test_accept_encoding),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dcgm_door, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_health, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_yet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_status_is_the_snapshot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rendered_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gzip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_history, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_history_arguments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_history_shared, set_up, tear_down),
        cmocka_unit_test(test_digits),
        cmocka_unit_test_setup_teardown(test_rates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_status_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_frame_event, set_up, tear_down),
        cmocka_unit_test(test_stream_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
