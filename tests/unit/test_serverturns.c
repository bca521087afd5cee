/* SPDX-License-Identifier: MIT */
/* Servers that are found: how they come, what they cost while they stay, and how they go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http_server.h"
#include "support.h"

#include "base/clock.h"
#include "cmd/serverturns.h"
#include "llm/discover.h"

/* ---- what the linker puts between (tests/CMakeLists.txt) ---- */

static int reallocs_left = -1; /* below 0: memory does not run out */
static unsigned parents_read;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    if (reallocs_left == 0)
        return NULL;
    reallocs_left -= reallocs_left > 0;
    return __real_realloc(old, size);
}

int __real_discover_parent(const char *root, int pid);
int __wrap_discover_parent(const char *root, int pid);
int __wrap_discover_parent(const char *root, int pid)
{
    parents_read++;
    return __real_discover_parent(root, pid);
}

/* ---- a server at a port where servers are looked for ---- */

static char url[64];

static struct http_server start_found(void)
{
    static const uint16_t usual[] = {2242, 1234, 23333, 8081, 30000, 8002, 3000};
    struct http_server s = {0, 0};
    for (size_t i = 0; s.pid <= 0 && i < sizeof usual / sizeof usual[0]; i++) {
        http_port = usual[i];
        s = http_start("127.0.0.1");
    }
    if (s.pid <= 0)
        fail_msg("somebody listens at every usual port of this machine");
    snprintf(url, sizeof url, "http://127.0.0.1:%u/metrics", s.port);
    return s;
}

struct seen {
    unsigned ok, failed, gone; /* reports of url */
    bool ok_after_gone;
    struct server_report last;
};

static void take(void *self, const struct server_report *r)
{
    struct seen *s = self;
    if (strcmp(r->place.url, url) != 0)
        return;
    s->ok += r->state == VALUE_OK;
    s->failed += r->state != VALUE_OK && !r->is_gone;
    s->gone += r->is_gone;
    s->ok_after_gone |= s->gone && r->state == VALUE_OK;
    s->last = *r;
}

static const struct on_gpus nobody;

/* Turns until *until is at least n; false after so many seconds. */
static bool turn_until(struct serverturns *t, struct seen *s, const unsigned *until, unsigned n,
                       double most_s)
{
    const struct report_sink sink = {take, s};
    const struct timespec tick = {0, 5000000};
    int64_t began_ns = clock_monotonic_ns();
    while (*until < n && (double)(clock_monotonic_ns() - began_ns) * 1e-9 < most_s) {
        serverturns_find(t, false, NULL);
        serverturns_step(t, 5, &nobody, &sink);
        nanosleep(&tick, NULL);
    }
    return *until >= n;
}

/* ---- tests ---- */

static void a_found_server_that_ends_is_gone(void **state)
{
    (void)state;
    struct http_server server = start_found();
    struct serverturns *t = NULL;
    struct seen s = {0};
    const struct options o = {0};
    assert_int_equal(serverturns_create(&t, &o, (struct serverturns_times){5, 0.5}, NULL), OK);
    assert_true(turn_until(t, &s, &s.ok, 1, 30));
    http_stop(&server);
    assert_true(turn_until(t, &s, &s.gone, 1, 60));
    assert_true(s.failed >= 1); /* at first it may come back */
    assert_int_equal(s.last.state, VALUE_FAILED);
    assert_contains(s.last.reason, "nobody listens");
    unsigned failed = s.failed;
    assert_false(turn_until(t, &s, &s.gone, 2, 2)); /* once */
    assert_int_equal(s.failed, failed);
    http_port = (uint16_t)server.port; /* and it comes back */
    server = http_start("127.0.0.1");
    assert_true(server.pid > 0);
    unsigned ok = s.ok;
    assert_true(turn_until(t, &s, &s.ok, ok + 1, 60));
    assert_true(s.ok_after_gone);
    serverturns_destroy(t);
    http_stop(&server);
}

/* One that was named, and each in a measurement, stays what it is: failed. */
static void a_named_server_that_ends_stays(void **state)
{
    (void)state;
    struct http_server server = start_found();
    struct serverturns *t = NULL;
    struct seen s = {0};
    const struct options o = {.server = url};
    assert_int_equal(serverturns_create(&t, &o, (struct serverturns_times){5, 0.1}, NULL), OK);
    assert_true(turn_until(t, &s, &s.ok, 1, 30));
    http_stop(&server);
    assert_true(turn_until(t, &s, &s.failed, 3, 60));
    assert_int_equal(s.gone, 0);
    serverturns_destroy(t);
}

static void a_measurement_keeps_its_servers(void **state)
{
    (void)state;
    struct http_server server = start_found();
    struct serverturns *t = NULL;
    struct seen s = {0};
    const struct options o = {0};
    assert_int_equal(serverturns_create(&t, &o, (struct serverturns_times){0, 0.1}, NULL), OK);
    assert_true(turn_until(t, &s, &s.ok, 1, 30));
    http_stop(&server);
    assert_true(turn_until(t, &s, &s.failed, 3, 60));
    assert_int_equal(s.gone, 0);
    serverturns_destroy(t);
}

/* What was there is no inference server and is left in peace; what comes after it is looked at. */
static void another_service_gives_way_to_a_server(void **state)
{
    (void)state;
    struct serverturns *t = NULL;
    struct seen s = {0};
    const struct options o = {0};
    http_is_other = true;
    struct http_server server = start_found();
    http_is_other = false;
    assert_int_equal(serverturns_create(&t, &o, (struct serverturns_times){5, 60}, NULL), OK);
    assert_false(turn_until(t, &s, &s.ok, 1, 2));
    http_stop(&server);
    http_port = (uint16_t)server.port;
    server = http_start("127.0.0.1");
    assert_true(server.pid > 0);
    assert_true(turn_until(t, &s, &s.ok, 1, 60));
    serverturns_destroy(t);
    http_stop(&server);
}

/* Wherever memory runs out, what was found before is watched, and nothing is read that is not
 * there (sanitizers look). */
static void memory_may_run_out_while_servers_are_added(void **state)
{
    (void)state;
    struct http_server server = start_found();
    const struct options o = {0};
    unsigned refused = 0;
    for (int k = 0; k < 12; k++) {
        struct serverturns *t = NULL;
        struct seen s = {0};
        const struct report_sink sink = {take, &s};
        assert_int_equal(serverturns_create(&t, &o, (struct serverturns_times){5, 60}, NULL), OK);
        reallocs_left = k;
        refused += serverturns_find(t, false, NULL) == ERR_NOMEM;
        reallocs_left = -1;
        for (int i = 0; i < 50; i++)
            serverturns_step(t, 5, &nobody, &sink);
        serverturns_finish(t, &nobody, &sink);
        serverturns_destroy(t);
    }
    assert_true(refused >= 3); /* else this test looked at nothing */
    http_stop(&server);
}

/* 32 processes on a GPU, and a server: who started whom is read once, not at every answer. */
static void relations_are_read_once(void **state)
{
    (void)state;
    struct http_server server = start_found();
    struct serverturns *t = NULL;
    struct seen s = {0};
    struct on_gpus on = {0};
    const struct report_sink sink = {take, &s};
    const struct options o = {.server = url};
    for (on.gpu[0].n = 0; on.gpu[0].n < 32; on.gpu[0].n++)
        on.gpu[0].pid[on.gpu[0].n] = on.gpu[0].n ? getpid() : server.pid;
    assert_int_equal(serverturns_create(&t, &o, (struct serverturns_times){5, 60}, NULL), OK);
    for (int64_t began = clock_monotonic_ns();
         s.ok < 1 && clock_monotonic_ns() - began < INT64_C(30000000000);)
        serverturns_step(t, 5, &on, &sink);
    assert_int_equal(s.ok, 1);
    assert_true(s.last.relation.n_pids == 32); /* itself, and what started it */
    assert_true(parents_read > 0);
    parents_read = 0;
    for (int64_t began = clock_monotonic_ns();
         s.ok < 3 && clock_monotonic_ns() - began < INT64_C(30000000000);)
        serverturns_step(t, 5, &on, &sink);
    assert_int_equal(s.ok, 3);
    assert_int_equal(parents_read, 0);
    on.gpu[0].n = 1;
    on.gpu[0].is_cut = true;
    serverturns_gpus_changed(t);
    for (int64_t began = clock_monotonic_ns();
         s.ok < 4 && clock_monotonic_ns() - began < INT64_C(30000000000);)
        serverturns_step(t, 5, &on, &sink);
    assert_true(parents_read > 0);
    assert_int_equal(s.last.relation.n_pids, 1);
    assert_true(s.last.relation.has_strangers); /* more than we were told of */
    serverturns_destroy(t);
    http_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_found_server_that_ends_is_gone),
        cmocka_unit_test(a_named_server_that_ends_stays),
        cmocka_unit_test(a_measurement_keeps_its_servers),
        cmocka_unit_test(another_service_gives_way_to_a_server),
        cmocka_unit_test(memory_may_run_out_while_servers_are_added),
        cmocka_unit_test(relations_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
