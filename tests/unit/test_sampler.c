/* SPDX-License-Identifier: MIT */
/* The supervision of sampler processes, with shell scripts as samplers. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#include "base/clock.h"
#include "base/proc.h"
#include "collect/sampler.h"

#define PLAN                                                                                       \
    "echo '{\"event\":\"plan\",\"gpu\":0,\"source\":\"pm\",\"series\":[{\"metric\":\"sm_active\"," \
    "\"unit\":\"ratio\",\"state\":\"ok\"}]}';"
#define SAMPLE                                                                                     \
    "echo '{\"event\":\"samples\",\"gpu\":0,\"source\":\"pm\",\"t0_ns\":[1],\"t1_ns\":[2],"        \
    "\"values\":{\"sm_active\":[0.5]}}';"
#define END(status) "echo '{\"event\":\"end\",\"status\":\"" status "\",\"reason\":\"because\"}';"

static struct samplers *samplers;
static int samples, plans;
static char notes[4000];

static enum status take(void *self, const struct event *ev, struct error *err)
{
    (void)self, (void)err;
    samples += ev->kind == EVENT_SAMPLES;
    plans += ev->kind == EVENT_PLAN;
    if (ev->kind == EVENT_NOTE && strlen(notes) + strlen(ev->u.note.text) + 2 < sizeof notes) {
        strcat(notes, ev->u.note.text);
        strcat(notes, "\n");
    }
    return OK;
}

static int set_up(void **state)
{
    (void)state;
    static const struct event_sink sink = {take, NULL};
    samples = plans = 0;
    notes[0] = '\0';
    return samplers_create(&samplers, "/bin/sh", false, &sink, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    samplers_destroy(samplers);
    samplers = NULL;
    return 0;
}

static void add(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct error err = ERROR_INIT;
    if (samplers_add(samplers, "test", argv, &err))
        fail_msg("%s", err.text);
}

/* Polls until the condition holds, at most some seconds; returns how long it took. */
#define poll_until(condition, limit_s)                                                             \
    do {                                                                                           \
        int64_t begin_ = clock_monotonic_ns();                                                     \
        while (!(condition)) {                                                                     \
            assert_int_equal(samplers_poll(samplers, 50, NULL), OK);                               \
            if (clock_monotonic_ns() - begin_ > (limit_s)*INT64_C(1000000000))                     \
                fail_msg("not within %d s: %s (%s)", limit_s, #condition, notes);                  \
        }                                                                                          \
    } while (0)

static void events_of_several_samplers_arrive(void **state)
{
    (void)state;
    add(PLAN SAMPLE SAMPLE "sleep 60");
    add(PLAN SAMPLE "sleep 60");
    poll_until(samples == 3, 5);
    assert_int_equal(plans, 2);
    assert_int_equal(samplers_alive(samplers), 2);
    const char *reason;
    assert_int_equal(samplers_end(samplers, 0, &reason), OK);
    assert_true(samplers_delivered(samplers, 1));
}

static void a_regular_end_is_final(void **state)
{
    (void)state;
    add(PLAN SAMPLE END("OK"));
    poll_until(samplers_alive(samplers) == 0, 5);
    assert_int_equal(samples, 1);
    assert_string_equal(notes, "");
}

static void a_refusal_is_final_and_told(void **state)
{
    (void)state;
    const char *reason = NULL;
    add(END("PERMISSION"));
    poll_until(samplers_alive(samplers) == 0, 5);
    assert_int_equal(samplers_end(samplers, 0, &reason), ERR_PERMISSION);
    assert_string_equal(reason, "because");
    assert_string_equal(notes, "test: because\n");
}

static void busy_counters_are_asked_for_again_quietly(void **state)
{
    (void)state;
    char script[512], flag[64];
    snprintf(flag, sizeof flag, "/tmp/smeff-test-busy-%d", (int)getpid());
    unlink(flag);
    snprintf(script, sizeof script, "if test -e %s; then " PLAN SAMPLE "sleep 60; fi; " END("BUSY"),
             flag);
    add(script);
    const char *reason = NULL;
    poll_until(samplers_end(samplers, 0, &reason) == ERR_BUSY, 5);
    fclose(fopen(flag, "w"));
    poll_until(samples == 1, 8);
    assert_string_equal(notes, "test: because; trying again every 5 s\n");
    unlink(flag);
}

static void a_killed_sampler_is_started_again(void **state)
{
    (void)state;
    add(PLAN SAMPLE "sleep 60");
    poll_until(samples == 1, 5);
    int64_t begin_ns = clock_monotonic_ns();
    kill(samplers_pid(samplers, 0), SIGKILL);
    poll_until(samples == 2, 5);
    assert_true(clock_monotonic_ns() - begin_ns < 2000000000);
    assert_contains(notes, "test: killed by signal 9 (Killed); starting it again");
}

static void a_crash_has_its_reason(void **state)
{
    (void)state;
    add(PLAN SAMPLE "kill -SEGV $$");
    poll_until(samples >= 2, 5);
    assert_contains(notes, "killed by signal 11");
}

static void exit_without_an_end_is_no_end(void **state)
{
    (void)state;
    add("exit 3");
    poll_until(strstr(notes, "ended with exit code 3; starting it again"), 5);
    assert_int_equal(samplers_alive(samplers), 1);
}

/* SIGSTOP: the process is there, and says nothing. */
static void a_stopped_sampler_is_replaced(void **state)
{
    (void)state;
    add(PLAN SAMPLE "while sleep 0.3; do echo '{\"event\":\"beat\"}'; done");
    poll_until(samples == 1, 5);
    for (int64_t begin = clock_monotonic_ns(); clock_monotonic_ns() - begin < 3500000000;)
        assert_int_equal(samplers_poll(samplers, 50, NULL), OK);
    assert_int_equal(samples, 1); /* beats keep it alive */
    kill(samplers_pid(samplers, 0), SIGSTOP);
    poll_until(samples == 2, 5);
    assert_contains(notes, "it said nothing for 2.5 s");
}

static void nonsense_costs_the_sampler(void **state)
{
    (void)state;
    add("echo hello; sleep 60");
    poll_until(strstr(notes, "it sent a line that is no event"), 5);
    assert_int_equal(samplers_alive(samplers), 1);
}

static void output_closed_but_alive_is_ended(void **state)
{
    (void)state;
    add(PLAN "exec >&-; sleep 60");
    poll_until(strstr(notes, "killed by signal 9"), 5);
}

static enum status refuse(void *self, const struct event *ev, struct error *err)
{
    (void)self, (void)ev;
    return fail(err, ERR_IO, 0, "full");
}

static void a_failing_sink_ends_polling(void **state)
{
    (void)state;
    static const struct event_sink sink = {refuse, NULL};
    struct error err = ERROR_INIT;
    samplers_destroy(samplers);
    assert_int_equal(samplers_create(&samplers, "/bin/sh", false, &sink, NULL), OK);
    add(PLAN "sleep 60");
    enum status st = OK;
    for (int i = 0; i < 100 && !st; i++)
        st = samplers_poll(samplers, 50, &err);
    assert_int_equal(st, ERR_IO);
    assert_string_equal(err.text, "full");
}

static bool is_alive(int pid)
{
    return kill(pid, 0) == 0;
}

static void destroying_leaves_nothing(void **state)
{
    (void)state;
    add(PLAN "trap '' TERM; while :; do sleep 1; done");
    add(PLAN "sleep 60");
    poll_until(plans == 2, 5);
    int stubborn = samplers_pid(samplers, 0), plain = samplers_pid(samplers, 1);
    kill(plain, SIGSTOP);
    samplers_destroy(samplers);
    samplers = NULL;
    assert_false(is_alive(stubborn) || is_alive(plain)); /* reaped, so no zombie either */
}

/* The sampler must end when its parent is killed, whatever it is doing. */
static void no_orphan_stays(void **state)
{
    (void)state;
    int ends[2], child_pid = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        add("sleep 60");
        child_pid = samplers_pid(samplers, 0);
        if (write(ends[1], &child_pid, sizeof child_pid) != sizeof child_pid)
            _exit(1);
        pause();
    }
    assert_int_equal(read(ends[0], &child_pid, sizeof child_pid), sizeof child_pid);
    usleep(200000);
    kill(parent, SIGKILL);
    for (int i = 0; i < 100 && is_alive(child_pid); i++)
        usleep(20000);
    assert_false(is_alive(child_pid));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(events_of_several_samplers_arrive),
        T(a_regular_end_is_final),
        T(a_refusal_is_final_and_told),
        T(busy_counters_are_asked_for_again_quietly),
        T(a_killed_sampler_is_started_again),
        T(a_crash_has_its_reason),
        T(exit_without_an_end_is_no_end),
        T(a_stopped_sampler_is_replaced),
        T(nonsense_costs_the_sampler),
        T(output_closed_but_alive_is_ended),
        T(a_failing_sink_ends_polling),
        T(destroying_leaves_nothing),
        T(no_orphan_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
