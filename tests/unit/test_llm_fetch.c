/* SPDX-License-Identifier: MIT */
/* Fetching: URLs, and servers that are slow, wrong or hostile. Each gives a state and a reason, and
 * none takes longer than its second. */
#include "support.h"

#include "folder.h"
#include "http_server.h"

#include "base/clock.h"
#include "llm/watch.h"

static struct http_server server;

static int start(void **state)
{
    server = http_start("127.0.0.1");
    return server.pid > 0 ? make_folder(state) : -1;
}

static int stop(void **state)
{
    http_stop(&server);
    return remove_folder(state);
}

static struct target target_of(const char *url)
{
    struct target t = {0};
    struct error err = ERROR_INIT;
    if (target_parse(url, &t, &err))
        fail_msg("%s: %s", url, err.text);
    return t;
}

/* ---- URLs ---- */

static void urls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *url;
        bool is_loopback, has_path;
    } good[] = {
        {"localhost:8000", "http://localhost:8000/metrics", true, false},
        {"127.0.0.1", "http://127.0.0.1:80/metrics", true, false},
        {"127.8.8.8:1", "http://127.8.8.8:1/metrics", true, false},
        {"http://a.example/", "http://a.example:80/metrics", false, false},
        {"https://a.example/x/y?m=1", "https://a.example:443/x/y?m=1", false, true},
        {"http://[::1]:8080", "http://[::1]:8080/metrics", true, false},
        {"[2001:db8::1]:8080", "http://[2001:db8::1]:8080/metrics", false, false},
        {"ftp.example:8000", "http://ftp.example:8000/metrics", false, false},
        {"127.evil.example", "http://127.evil.example:80/metrics", false, false},
        {"localhost:8000/v1", "http://localhost:8000/metrics", true, false},
        {"http://a.example/v1/", "http://a.example:80/metrics", false, false},
        {"http://a.example/v1/x", "http://a.example:80/v1/x", false, true},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct target t = target_of(good[i].text);
        assert_string_equal(t.url, good[i].url);
        if (t.is_loopback != good[i].is_loopback || t.has_path != good[i].has_path)
            fail_msg("%s: loopback %d, path %d", good[i].text, t.is_loopback, t.has_path);
    }
    static const char *const bad[] = {
        "",      "ftp://a/",      "file:///etc/passwd", "http://",   "a b",
        "unix:", "unix:relative", "http://a:99999",     "gopher:x",  "http://[::1",
        "8080",  "http://8080",   "127.1:80",           "0x7f.0.0.1"}; /* numbers, no hosts */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct target t;
        struct error err = ERROR_INIT;
        if (target_parse(bad[i], &t, &err) != ERR_USAGE)
            fail_msg("\"%s\" passes as %s", bad[i], t.url);
    }
}

static void secrets_are_not_shown(void **state)
{
    (void)state;
    struct target t;
    struct error err = ERROR_INIT;
    assert_int_equal(target_parse("http://user:hush@a.example/", &t, &err), ERR_USAGE);
    assert_null(strstr(err.text, "hush"));
    t = target_of("http://a.example/metrics?key=hush");
    assert_null(strstr(t.shown, "hush"));
    struct target other = target_of("http://a.example/metrics?key=other");
    assert_string_not_equal(t.shown, other.shown); /* two places have two names */
    t = target_of("unix:/run/x.sock:/prometheus/metrics");
    assert_string_equal(t.unix_socket, "/run/x.sock");
    assert_string_equal(t.url, "http://localhost:80/prometheus/metrics");
    assert_string_equal(t.shown, "unix:/run/x.sock:/prometheus/metrics");
}

/* ---- one server ---- */

static void ask(const char *url, const char *token, struct watch_view *view)
{
    static struct watch *w; /* of the last call: the view holds pointers into it */
    struct error err = ERROR_INIT;
    struct watch_place place = {.target = target_of(url), .is_named = true, .token = token};
    watch_destroy(w);
    w = NULL;
    if (url[0] == '\0')
        return;
    assert_int_equal(watch_create(&w, &err), OK);
    assert_int_equal(watch_add(w, &place, &err), OK);
    int64_t began = clock_monotonic_ns();
    watch_begin(w);
    while (watch_step(w, 20))
        ;
    watch_view(w, 0, view);
    assert_true(clock_monotonic_ns() - began < INT64_C(1500000000));
}

static void ask_path(const char *path, const char *token, struct watch_view *view)
{
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", server.port, path);
    ask(url, token, view);
}

static void expect(const char *path, enum value_state state, const char *reason)
{
    struct watch_view v;
    ask_path(path, NULL, &v);
    if (v.state != state || !strstr(v.reason, reason))
        fail_msg("%s: %s (%s), expected %s (%s)", path, value_state_name(v.state), v.reason,
                 value_state_name(state), reason);
    assert_int_equal(v.is_known, state == VALUE_OK);
    for (int i = 0; state != VALUE_OK && i < SIGNAL_COUNT; i++) {
        assert_int_equal(v.signals.list[i].value.state, state);
        assert_true(v.signals.list[i].value.reason[0] != '\0');
    }
}

static void every_trouble_has_its_reason(void **state)
{
    (void)state;
    expect("", VALUE_OK, "");
    expect("/moved", VALUE_OK, "");
    expect("/negotiate", VALUE_OK, "");
    expect("/hang", VALUE_FAILED, "no answer within 1000 ms");
    expect("/slow", VALUE_FAILED, "did not end its answer within 1000 ms");
    expect("/huge", VALUE_FAILED, "larger than 8 MiB");
    expect("/gzip", VALUE_FAILED, "compressed");
    expect("/loop", VALUE_FAILED, "in a circle");
    expect("/elsewhere", VALUE_FAILED, "another server");
    expect("/file", VALUE_FAILED, "no web address");
    expect("/key", VALUE_NO_PERMISSION, "--token-file");
    expect("/501", VALUE_UNSUPPORTED, "--metrics");
    expect("/400", VALUE_UNSUPPORTED, "?model=NAME");
    expect("/503", VALUE_WARMING, "loads its model");
    expect("/404", VALUE_UNSUPPORTED, "--enable-metrics");
    expect("/html", VALUE_FAILED, "an HTML page");
    expect("/cut", VALUE_FAILED, "");
    expect("/garbage", VALUE_FAILED, "");
}

static void a_key_opens(void **state)
{
    (void)state;
    struct watch_view v;
    ask_path("/key", "sesame", &v);
    assert_int_equal(v.state, VALUE_OK);
    ask_path("/key", "barley", &v);
    assert_int_equal(v.state, VALUE_NO_PERMISSION);
    assert_null(strstr(v.reason, "barley"));
}

static void another_path_is_tried(void **state)
{
    (void)state;
    struct watch_view v;
    char url[64];
    http_is_trtllm = true;
    struct http_server own = http_start("127.0.0.1");
    http_is_trtllm = false;
    snprintf(url, sizeof url, "127.0.0.1:%u", own.port);
    ask(url, NULL, &v);
    assert_int_equal(v.state, VALUE_OK);
    assert_contains(v.target->shown, "/prometheus/metrics");
    assert_near(signal_of(&v.signals, METRIC_RUNNING)->value.v, 2, 0);
    /* a path that was given is that one alone */
    snprintf(url, sizeof url, "127.0.0.1:%u/metrics", own.port);
    ask(url, NULL, &v);
    http_stop(&own);
    assert_int_equal(v.state, VALUE_FAILED);
    assert_string_equal(v.reason, "the answer is JSON, not metrics");
}

static void nobody_there(void **state)
{
    (void)state;
    struct watch_view v;
    ask("127.0.0.1:1", NULL, &v);
    assert_int_equal(v.state, VALUE_FAILED);
    assert_true(v.is_absent);
    assert_contains(v.reason, "nobody answers there");
}

static void tls_fails(void **state)
{
    (void)state;
    struct watch_view v;
    char url[64];
    snprintf(url, sizeof url, "https://127.0.0.1:%u", server.port);
    ask(url, NULL, &v);
    assert_int_equal(v.state, VALUE_FAILED);
    assert_contains(v.reason, "TLS");
}

static void other_sockets(void **state)
{
    (void)state;
    struct watch_view v;
    char path[64], url[80];
    snprintf(path, sizeof path, "%s/metrics.sock", folder);
    struct http_server un = http_start(path), v6 = http_start("::1");
    assert_true(un.pid > 0);
    snprintf(url, sizeof url, "unix:%s", path);
    ask(url, NULL, &v);
    http_stop(&un);
    assert_int_equal(v.state, VALUE_OK);
    assert_contains(v.target->shown, path);
    ask(url, NULL, &v); /* its file is still there */
    assert_true(v.is_absent);
    assert_contains(v.reason, path);
    assert_null(strstr(v.reason, "localhost"));
    ask("unix:/nonexist", NULL, &v);
    assert_int_equal(v.state, VALUE_FAILED);
    assert_string_equal(v.reason, "nobody answers at /nonexist: No such file or directory");
    if (v6.pid > 0) {
        snprintf(url, sizeof url, "http://[::1]:%u", v6.port);
        ask(url, NULL, &v);
        http_stop(&v6);
        assert_int_equal(v.state, VALUE_OK);
    }
}

/* ---- several, and over time ---- */

static void connections_are_kept(void **state)
{
    (void)state;
    struct watch *w = NULL;
    struct watch_view v;
    char url[64];
    snprintf(url, sizeof url, "127.0.0.1:%u/count", server.port);
    struct watch_place place = {.target = target_of(url)};
    assert_int_equal(watch_create(&w, NULL), OK);
    assert_int_equal(watch_add(w, &place, NULL), OK);
    for (int i = 1; i <= 3; i++) {
        watch_begin(w);
        while (watch_step(w, 20))
            ;
        watch_view(w, 0, &v);
        assert_int_equal(v.state, VALUE_OK);
        assert_near(signal_of(&v.signals, METRIC_RUNNING)->value.v, i, 0);
    }
    watch_destroy(w);
}

/* The window that a restart falls into has no rate, and the next begins there. */
static void a_restart_costs_one_window(void **state)
{
    (void)state;
    static const enum value_state expected[] = {VALUE_WARMING, VALUE_OK, VALUE_WARMING, VALUE_OK,
                                                VALUE_OK};
    struct watch *w = NULL;
    struct watch_view v;
    char url[64];
    snprintf(url, sizeof url, "127.0.0.1:%u/restart", server.port);
    struct watch_place place = {.target = target_of(url)};
    assert_int_equal(watch_create(&w, NULL), OK);
    assert_int_equal(watch_add(w, &place, NULL), OK);
    for (int i = 0; i < 5; i++) {
        usleep(20000);
        watch_begin(w);
        while (watch_step(w, 20))
            ;
        watch_view(w, 0, &v);
        const struct value *rate = &signal_of(&v.signals, METRIC_OUTPUT_TOKENS_PER_SECOND)->value;
        if (rate->state != expected[i])
            fail_msg("scrape %d: %s (%s)", i + 1, value_state_name(rate->state), rate->reason);
        if (i == 4) /* 20 tokens since the restart: both intervals */
            assert_near(rate->v * v.signals.seconds, 20, 1e-6);
    }
    watch_mark(w);
    watch_view(w, 0, &v);
    assert_int_equal(signal_of(&v.signals, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.state,
                     VALUE_WARMING);
    watch_destroy(w);
}

/* Another service at a usual port is asked once; a server that was named, again and again. */
static void strangers_are_left_in_peace(void **state)
{
    (void)state;
    struct watch *w = NULL;
    char url[64];
    snprintf(url, sizeof url, "127.0.0.1:%u/404", server.port);
    struct watch_place found = {.target = target_of(url)}, named = found;
    named.is_named = true;
    assert_int_equal(watch_create(&w, NULL), OK);
    assert_int_equal(watch_add(w, &found, NULL), OK);
    assert_int_equal(watch_add(w, &named, NULL), OK);
    watch_begin(w);
    while (watch_step(w, 20))
        ;
    usleep(1300000); /* longer than the first pause */
    watch_begin(w);
    assert_false(watch_waits(w, 0));
    assert_true(watch_waits(w, 1));
    watch_destroy(w);
}

/* A step never waits, whatever the servers do; the good one has its numbers long before the bad. */
static void the_slow_delay_nobody(void **state)
{
    (void)state;
    static const char *const paths[] = {"/hang", "/metrics", "/slow"};
    struct watch *w = NULL;
    struct watch_view v = {.state = VALUE_WARMING};
    assert_int_equal(watch_create(&w, NULL), OK);
    for (int i = 0; i < 3; i++) {
        char url[64];
        snprintf(url, sizeof url, "127.0.0.1:%u%s", server.port, paths[i]);
        struct watch_place place = {.target = target_of(url)};
        assert_int_equal(watch_add(w, &place, NULL), OK);
    }
    int64_t began = clock_monotonic_ns(), longest = 0;
    watch_begin(w);
    while (v.state != VALUE_OK) {
        int64_t t = clock_monotonic_ns();
        size_t left = watch_step(w, 0);
        int64_t took = clock_monotonic_ns() - t;
        longest = took > longest ? took : longest;
        watch_view(w, 1, &v);
        assert_true(left > 0 || v.state == VALUE_OK);
        if (clock_monotonic_ns() - began > INT64_C(900000000))
            fail_msg("the good server's numbers came too late");
    }
    assert_true(longest < INT64_C(400000000)); /* not the second that the slow ones have */
    watch_view(w, 0, &v);
    assert_int_equal(v.state, VALUE_WARMING);
    while (watch_step(w, 20))
        ;
    watch_view(w, 0, &v);
    assert_int_equal(v.state, VALUE_FAILED);
    /* it failed, so it is left alone for a second */
    watch_begin(w);
    watch_view(w, 0, &v);
    assert_int_equal(v.state, VALUE_FAILED);
    watch_destroy(w);
}

static void numbers_of_a_server_that_went_are_stale(void **state)
{
    (void)state;
    struct http_server own = http_start("127.0.0.1");
    struct watch *w = NULL;
    struct watch_view v;
    char url[64];
    snprintf(url, sizeof url, "127.0.0.1:%u", own.port);
    struct watch_place place = {.target = target_of(url)};
    assert_int_equal(watch_create(&w, NULL), OK);
    assert_int_equal(watch_add(w, &place, NULL), OK);
    watch_begin(w);
    while (watch_step(w, 20))
        ;
    http_stop(&own); /* and the process of the connection with it */
    for (int i = 0; i < 100; i++) {
        watch_begin(w);
        while (watch_step(w, 20))
            ;
        watch_view(w, 0, &v);
        if (v.state != VALUE_OK)
            break;
    }
    assert_int_equal(v.state, VALUE_FAILED);
    assert_true(v.is_known);
    const struct value *running = &signal_of(&v.signals, METRIC_RUNNING)->value;
    assert_int_equal(running->state, VALUE_STALE);
    assert_near(running->v, 3, 0);
    assert_contains(running->reason, "s old: ");
    watch_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls),
        cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(every_trouble_has_its_reason),
        cmocka_unit_test(a_key_opens),
        cmocka_unit_test(another_path_is_tried),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(tls_fails),
        cmocka_unit_test(other_sockets),
        cmocka_unit_test(connections_are_kept),
        cmocka_unit_test(a_restart_costs_one_window),
        cmocka_unit_test(strangers_are_left_in_peace),
        cmocka_unit_test(the_slow_delay_nobody),
        cmocka_unit_test(numbers_of_a_server_that_went_are_stale),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
