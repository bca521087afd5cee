/* SPDX-License-Identifier: MIT */
#include "source/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/file.h"

/* Between the end of a recording and its next beginning. */
static const int64_t turn_ns = INT64_C(20000000);

struct replay {
    struct source base;
    const struct source_request *request;
    struct event_reader *reader;
    double speed;
    int64_t from_ns;                 /* the recording's first time; 0 = not yet known */
    int64_t last_ns;                 /* its newest time so far */
    int64_t begin_unix_ns, begin_ns; /* what from_ns is now: UNIX time, monotonic */
    const struct event_sink *sink;   /* while run() runs */
    const struct source_stop *stop;
    int64_t *t0_ns, *t1_ns; /* of the batch being sent; owned */
    size_t room;
};

static bool covers(enum metric m)
{
    (void)m; /* whatever the recording has: its plans are in it */
    return false;
}

static enum status open_replay(struct source **out, const struct source_request *request,
                               struct error *err)
{
    struct replay *r = calloc(1, sizeof *r);
    if (!r)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    r->base.ops = &replay_ops;
    r->request = request;
    r->speed = request->speed > 0 ? request->speed : 1;
    enum status st = request->file ? event_reader_open(&r->reader, request->file, err)
                                   : fail(err, ERR_USAGE, 0, "which recording?");
    if (st) {
        free(r);
        return st;
    }
    *out = &r->base;
    return OK;
}

static enum status describe(struct source *base, const struct event_sink *sink, struct error *err)
{
    struct replay *r = (struct replay *)base;
    return event_push_note(sink, NOTE_INFO, -1, err, "a recording is played: %s", r->request->file);
}

/* ---- times ---- */

static int64_t now_of(const struct replay *r, int64_t t_ns)
{
    return r->begin_unix_ns + (int64_t)((double)(t_ns - r->from_ns) / r->speed);
}

/* Waits until it is the turn of what was recorded at t_ns. */
static enum status wait_for(struct replay *r, int64_t t_ns, struct error *err)
{
    if (r->from_ns == 0) {
        r->from_ns = t_ns;
        r->begin_unix_ns = clock_unix_ns();
        r->begin_ns = clock_monotonic_ns();
    }
    if (t_ns > r->last_ns)
        r->last_ns = t_ns;
    int64_t due_ns = r->begin_ns + (int64_t)((double)(t_ns - r->from_ns) / r->speed);
    return source_wait(due_ns, r->sink, r->stop, err);
}

/* The recording begins again, right behind its end. */
static void turn(struct replay *r)
{
    int64_t length_ns = (int64_t)((double)(r->last_ns - r->from_ns + turn_ns) / r->speed);
    r->begin_unix_ns += length_ns;
    r->begin_ns += length_ns;
    r->last_ns = 0;
}

static bool make_room(struct replay *r, size_t n)
{
    if (n <= r->room)
        return true;
    int64_t *t0 = realloc(r->t0_ns, n * sizeof *t0);
    if (t0)
        r->t0_ns = t0;
    int64_t *t1 = realloc(r->t1_ns, n * sizeof *t1);
    if (t1)
        r->t1_ns = t1;
    if (!t0 || !t1)
        return false;
    r->room = n;
    return true;
}

/* ---- events ---- */

static enum status play_samples(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    struct event_samples *s = &now.u.samples;
    if (s->n == 0)
        return OK;
    if (!make_room(r, s->n))
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = wait_for(r, s->t1_ns[s->n - 1], err);
    for (size_t i = 0; i < s->n; i++) {
        r->t0_ns[i] = now_of(r, s->t0_ns[i]);
        r->t1_ns[i] = now_of(r, s->t1_ns[i]);
    }
    s->t0_ns = r->t0_ns;
    s->t1_ns = r->t1_ns;
    return st || r->stop->raised ? st : event_push(r->sink, &now, err);
}

static enum status play_server(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    enum status st = wait_for(r, ev->u.server.t1_ns, err);
    now.u.server.t0_ns = now_of(r, ev->u.server.t0_ns);
    now.u.server.t1_ns = now_of(r, ev->u.server.t1_ns);
    return st || r->stop->raised ? st : event_push(r->sink, &now, err);
}

static enum status play_plan(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    now.u.plan.rate_hz *= r->speed;
    return event_push(r->sink, &now, err);
}

static bool is_wanted(const struct replay *r, const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_GPU:
        return source_wants(r->request, ev->u.gpu.gpu);
    case EVENT_PLAN:
        return source_wants(r->request, ev->u.plan.gpu);
    case EVENT_SAMPLES:
        return source_wants(r->request, ev->u.samples.gpu);
    case EVENT_PROCESSES:
        return source_wants(r->request, ev->u.processes.gpu);
    default: /* the stream's own begin, end and beats are the sampler's */
        return ev->kind == EVENT_SERVER || ev->kind == EVENT_NOTE;
    }
}

static enum status play(void *self, const struct event *ev, struct error *err)
{
    struct replay *r = self;
    if (!is_wanted(r, ev))
        return OK;
    switch (ev->kind) {
    case EVENT_SAMPLES:
        return play_samples(r, ev, err);
    case EVENT_SERVER:
        return play_server(r, ev, err);
    case EVENT_PLAN:
        return play_plan(r, ev, err);
    default:
        return event_push(r->sink, ev, err);
    }
}

static enum status at_end(struct replay *r, bool *again, struct error *err)
{
    *again = r->request->loop && r->last_ns > r->from_ns;
    if (*again) {
        turn(r);
        return event_reader_rewind(r->reader, err);
    }
    return event_push_note(r->sink, NOTE_INFO, -1, err, "the recording is over%s",
                           event_reader_was_cut(r->reader) ? " (it was cut off)" : "");
}

static enum status run(struct source *base, const struct event_sink *sink,
                       const struct source_stop *stop, struct error *err)
{
    struct replay *r = (struct replay *)base;
    const struct event_sink own = {play, r};
    enum status st = OK;
    bool more = true;
    r->sink = sink;
    r->stop = stop;
    while (!st && more && !stop->raised) {
        st = event_reader_next(r->reader, &own, &more, err);
        if (!st && !more)
            st = at_end(r, &more, err);
    }
    return st;
}

static void close_replay(struct source *base)
{
    struct replay *r = (struct replay *)base;
    if (!r)
        return;
    event_reader_close(r->reader);
    free(r->t0_ns);
    free(r->t1_ns);
    free(r);
}

const struct source_ops replay_ops = {
    .name = "replay",
    .id = SOURCE_NONE,
    .covers = covers,
    .open = open_replay,
    .describe = describe,
    .run = run,
    .close = close_replay,
};
