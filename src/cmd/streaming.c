/* SPDX-License-Identifier: MIT */
#include "cmd/streaming.h"

#include "base/clock.h"
#include "cmd/intake.h"
#include "cmd/interrupt.h"
#include "cmd/serverwatch.h"

/* A servers' window: long enough for slow counters, short enough to see a change. */
static const double window_s = 5;

enum { POLL_MS = 1000 };

struct streaming {
    const struct event_sink *out;
    struct serverwatch *servers; /* NULL = none */
    bool own_servers;            /* those of the daemon are left out */
};

static enum status take(void *self, const struct event *ev, struct error *err)
{
    const struct streaming *s = self;
    serverwatch_see(s->servers, ev);
    return ev->kind == EVENT_SERVER && s->own_servers ? OK : event_push(s->out, ev, err);
}

/* A daemon watches servers, too, and a recording has its own: ours are those that are named. */
static bool asks_servers(const struct options *o, const struct intake *in)
{
    if (intake_is_replay(in))
        return false;
    return !intake_is_attached(in) || o->server;
}

static int wait_ms(const struct streaming *s, int64_t end_ns)
{
    int ms = serverwatch_wait_ms(s->servers, POLL_MS);
    if (!end_ns)
        return ms;
    int64_t left_ms = (end_ns - clock_monotonic_ns()) / 1000000 + 1;
    return left_ms < ms ? (int)left_ms : ms;
}

static enum status run(struct streaming *s, struct intake *in, int64_t end_ns, struct error *err)
{
    enum status st = OK, ended = OK;
    const char *reason = "";
    while (!st && !interrupt_raised() && !intake_over(in, &ended, &reason) &&
           (!end_ns || clock_monotonic_ns() < end_ns)) {
        st = intake_poll(in, wait_ms(s, end_ns), err);
        if (!st)
            st = serverwatch_step(s->servers, err);
    }
    return !st && ended ? fail(err, ended, 0, "%s", reason) : st;
}

int streaming_run(const struct options *o, const struct request *r, double seconds,
                  const struct event_sink *out)
{
    struct streaming s = {.out = out};
    const struct event_sink sink = {take, &s};
    struct intake *in = NULL;
    struct error err = ERROR_INIT;
    enum status st = intake_open(&in, o, r, 0, &sink, &err);
    s.own_servers = !st && asks_servers(o, in);
    if (s.own_servers)
        st = serverwatch_open(&s.servers, o, window_s, out, &err);
    int64_t end_ns = seconds > 0 ? clock_monotonic_ns() + (int64_t)(seconds * 1e9) : 0;
    if (!st)
        st = run(&s, in, end_ns, &err);
    if (st)
        complain("%s", err.text);
    intake_close(in);
    serverwatch_close(s.servers);
    struct event end = {.kind = EVENT_END, .u.end = {st, st ? err.text : ""}};
    event_push(out, &end, NULL);
    return (int)exit_code_of(st);
}
