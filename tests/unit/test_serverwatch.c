/* SPDX-License-Identifier: MIT */
/* Servers watched beside the counters: what the counters' loop pays for them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http_server.h"
#include "support.h"

#include "base/clock.h"
#include "cmd/serverwatch.h"

enum { SERVERS = 12 };

struct seen {
    unsigned events, ok;
    bool fails; /* as a pipe that nobody reads */
};

static enum status see(void *self, const struct event *ev, struct error *err)
{
    struct seen *s = self;
    if (s->fails)
        return fail(err, ERR_IO, 0, "nobody reads");
    assert_int_equal(ev->kind, EVENT_SERVER);
    s->events++;
    s->ok += ev->u.server.state == VALUE_OK;
    return OK;
}

static struct http_server start_server(void)
{
    struct http_server s = http_start("127.0.0.1");
    if (s.pid <= 0)
        fail_msg("nobody can listen at 127.0.0.1 here");
    return s;
}

/* Of the processor: a loaded machine does not matter. */
static double cpu_seconds(clockid_t whose)
{
    struct timespec t;
    clock_gettime(whose, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pause_ms(long ms)
{
    const struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static bool is_over(int64_t began_ns, double seconds)
{
    return (double)(clock_monotonic_ns() - began_ns) * 1e-9 >= seconds;
}

/* The URL of the small server, n times. */
static void list_servers(char *dst, size_t size, unsigned port, const char *path, int n)
{
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used +=
            (size_t)snprintf(dst + used, size - used, "%s127.0.0.1:%u%s", i ? "," : "", port, path);
}

/* Answers of 32,000 series each: reading one takes this thread nothing, since another does it. */
static void large_answers_cost_the_counters_nothing(void **state)
{
    (void)state;
    struct http_server server = start_server();
    char list[SERVERS * 40];
    struct seen seen = {0};
    const struct event_sink sink = {see, &seen};
    struct serverwatch *w = NULL;
    list_servers(list, sizeof list, server.port, "/large", SERVERS);
    const struct options o = {.server = list};
    assert_int_equal(serverwatch_open(&w, &o, 0, &sink, NULL), OK);
    double steps_s = 0, all_s = -cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t began = clock_monotonic_ns(); seen.ok < 2 * SERVERS && !is_over(began, 120);) {
        steps_s -= cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        assert_int_equal(serverwatch_step(w, NULL), OK);
        steps_s += cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        pause_ms(2);
    }
    all_s += cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    assert_true(seen.ok >= 2 * SERVERS);
    print_message("serverwatch_step: %.1f of %.1f ms for %u events\n", 1e3 * steps_s, 1e3 * all_s,
                  seen.events);
    assert_true(steps_s < 0.2 * all_s); /* the rest is reading, which would be here otherwise */
    serverwatch_close(w);
    http_stop(&server);
}

/* Once somebody who waits is told that nothing is on its way, the first answers are there: the
 * search for servers, and the asking, counted as well. */
static void whoever_waits_has_the_first_answer(void **state)
{
    (void)state;
    struct http_server server = start_server();
    char list[64];
    struct seen seen = {0};
    const struct event_sink sink = {see, &seen};
    struct serverwatch *w = NULL;
    list_servers(list, sizeof list, server.port, "/metrics", 1);
    const struct options o = {.server = list};
    assert_int_equal(serverwatch_open(&w, &o, 0, &sink, NULL), OK);
    while (serverwatch_is_waiting(w))
        ;
    assert_int_equal(serverwatch_step(w, NULL), OK);
    assert_int_equal(seen.events, 1);
    serverwatch_close(w);
    http_stop(&server);
}

/* A server that never answers has its event all the same. Seconds from asking to that. */
static double finish_with_silent_server(const struct http_server *server)
{
    char list[64];
    struct seen seen = {0};
    const struct event_sink sink = {see, &seen};
    struct serverwatch *w = NULL;
    list_servers(list, sizeof list, server->port, "/hang", 1);
    const struct options o = {.server = list};
    assert_int_equal(serverwatch_open(&w, &o, 0, &sink, NULL), OK);
    int64_t began = clock_monotonic_ns();
    serverwatch_ask(w);
    assert_true(serverwatch_is_waiting(w));
    serverwatch_mark(w);
    assert_int_equal(serverwatch_finish(w, NULL), OK);
    assert_int_equal(seen.events, 1);
    serverwatch_close(w);
    return (double)(clock_monotonic_ns() - began) * 1e-9;
}

/* Its second is not waited for. A loaded machine can take longer, but not each time. */
static void a_silent_server_has_an_event_in_the_end(void **state)
{
    (void)state;
    struct http_server server = start_server();
    double best_s = INFINITY;
    for (int i = 0; i < 10 && !(best_s < 0.9); i++)
        best_s = fmin(best_s, finish_with_silent_server(&server));
    assert_true(best_s < 0.9);
    http_stop(&server);
}

static void a_reader_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct http_server server = start_server();
    char list[64];
    struct error err = ERROR_INIT;
    struct seen seen = {.fails = true};
    const struct event_sink sink = {see, &seen};
    struct serverwatch *w = NULL;
    list_servers(list, sizeof list, server.port, "/metrics", 1);
    const struct options o = {.server = list};
    assert_int_equal(serverwatch_open(&w, &o, 0, &sink, &err), OK);
    enum status st = OK;
    for (int64_t began = clock_monotonic_ns(); !st && !is_over(began, 60);) {
        st = serverwatch_step(w, &err);
        pause_ms(2);
    }
    assert_int_equal(st, ERR_IO);
    assert_string_equal(err.text, "nobody reads");
    serverwatch_close(w);
    http_stop(&server);
}

static void nobody_is_watched(void **state)
{
    (void)state;
    struct seen seen = {0};
    const struct event_sink sink = {see, &seen};
    struct serverwatch *w = NULL;
    const struct options none = {.server = "none"}, wrong = {.server = "ftp://a/"};
    struct error err = ERROR_INIT;
    assert_int_equal(serverwatch_open(&w, &none, 0, &sink, NULL), OK);
    assert_null(w);
    assert_int_equal(serverwatch_wait_ms(NULL, 100), 100);
    assert_false(serverwatch_is_waiting(NULL));
    assert_int_equal(serverwatch_step(NULL, NULL), OK);
    assert_int_equal(serverwatch_finish(NULL, NULL), OK);
    serverwatch_close(NULL);
    assert_int_equal(serverwatch_open(&w, &wrong, 0, &sink, &err), ERR_USAGE);
    assert_null(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_answers_cost_the_counters_nothing),
        cmocka_unit_test(whoever_waits_has_the_first_answer),
        cmocka_unit_test(a_silent_server_has_an_event_in_the_end),
        cmocka_unit_test(a_reader_that_is_gone_is_an_error),
        cmocka_unit_test(nobody_is_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
