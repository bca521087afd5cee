/* SPDX-License-Identifier: MIT */
#include "source/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/file.h"

/* Between the end of a recording and its next beginning. */
static const int64_t turn_ns = INT64_C(20000000);

/* A longer time without anything is not waited for. */
static const int64_t hole_max_ns = INT64_C(60000000000);

enum { JOULES_MAX = SOURCE_GPUS_MAX };

/* A series of joules, as plans named it. */
struct joules {
    unsigned gpu;
    enum source_id source;
    uint32_t series;
};

struct replay {
    struct source base;
    const struct source_request *request;
    struct event_reader *reader;
    double speed;
    bool is_real_time; /* speed 1; else joules are left out */
    struct joules joules[JOULES_MAX];
    size_t n_joules;
    int64_t first_ns;   /* its earliest time so far: the begin of a sample */
    int64_t from_ns;    /* the time with which it began to be played */
    int64_t skipped_ns; /* holes that were left out */
    bool has_begun;
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
    r->is_real_time = r->speed >= 1 && r->speed <= 1;
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

/* How long after the beginning something is played. */
static int64_t played_ns(const struct replay *r, int64_t t_ns)
{
    return (int64_t)((double)(t_ns - r->from_ns - r->skipped_ns) / r->speed);
}

static int64_t now_of(const struct replay *r, int64_t t_ns)
{
    return r->begin_unix_ns + played_ns(r, t_ns);
}

/* What happened at t_ns comes now. A recording that leaves out minutes, or whose clock was set, is
 * not waited for so long. */
static enum status skip_hole(struct replay *r, int64_t t_ns, struct error *err)
{
    int64_t hole_ns = r->last_ns ? t_ns - r->last_ns : 0;
    if (hole_ns <= hole_max_ns)
        return OK;
    r->skipped_ns += hole_ns - turn_ns;
    return event_push_note(r->sink, NOTE_INFO, -1, err,
                           "the recording has nothing for %.0f s; that is left out",
                           (double)hole_ns * 1e-9);
}

/* Waits until it is the turn of what was recorded from t0_ns to t1_ns. */
static enum status wait_for(struct replay *r, int64_t t0_ns, int64_t t1_ns, struct error *err)
{
    if (!r->has_begun) {
        r->has_begun = true;
        r->from_ns = r->first_ns = t0_ns;
        r->begin_unix_ns = clock_unix_ns();
        r->begin_ns = clock_monotonic_ns();
    }
    enum status st = skip_hole(r, t1_ns, err);
    if (t0_ns < r->first_ns)
        r->first_ns = t0_ns;
    if (t1_ns > r->last_ns)
        r->last_ns = t1_ns;
    int64_t due_ns = r->begin_ns + played_ns(r, t1_ns);
    return st ? st : source_wait(due_ns, r->sink, r->stop, err);
}

/* The recording begins again, right behind its end. */
static void turn(struct replay *r)
{
    int64_t length_ns = played_ns(r, r->last_ns + turn_ns) - played_ns(r, r->first_ns);
    r->begin_unix_ns += length_ns;
    r->begin_ns += length_ns;
    r->last_ns = r->skipped_ns = 0;
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

static bool is_joules(const struct replay *r, const struct event_samples *s, size_t column)
{
    for (size_t i = 0; i < r->n_joules; i++)
        if (r->joules[i].gpu == s->gpu && r->joules[i].source == s->source &&
            r->joules[i].series == s->series[column])
            return true;
    return false;
}

static void remember_joules(struct replay *r, const struct event_plan *p, size_t series)
{
    const struct event_samples column = {
        .gpu = p->gpu, .source = p->source, .series = &(const uint32_t){(uint32_t)series}};
    if (!is_joules(r, &column, 0) && r->n_joules < JOULES_MAX)
        r->joules[r->n_joules++] = (struct joules){p->gpu, p->source, (uint32_t)series};
}

/* The batch without its joules, if it has them: these come alone or beside few others. */
static enum status push_samples(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    struct event_samples *s = &now.u.samples;
    size_t kept = 0;
    uint32_t *series = calloc(s->columns + 1, sizeof *series);
    double *values = calloc(s->columns * s->n + 1, sizeof *values);
    enum status st = series && values ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t col = 0; !st && col < s->columns; col++) {
        if (is_joules(r, s, col))
            continue;
        series[kept] = s->series[col];
        memcpy(values + kept * s->n, s->values + col * s->stride, s->n * sizeof *values);
        kept++;
    }
    if (!st) {
        s->columns = kept;
        s->series = series;
        s->values = values;
        s->stride = s->n;
        st = event_push(r->sink, &now, err);
    }
    free(series);
    free(values);
    return st;
}

static enum status play_samples(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    struct event_samples *s = &now.u.samples;
    if (s->n == 0)
        return OK;
    if (!make_room(r, s->n))
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = wait_for(r, s->t0_ns[0], s->t1_ns[s->n - 1], err);
    for (size_t i = 0; i < s->n; i++) {
        r->t0_ns[i] = now_of(r, s->t0_ns[i]);
        r->t1_ns[i] = now_of(r, s->t1_ns[i]);
    }
    s->t0_ns = r->t0_ns;
    s->t1_ns = r->t1_ns;
    if (st || r->stop->raised)
        return st;
    return r->is_real_time ? event_push(r->sink, &now, err) : push_samples(r, &now, err);
}

static enum status play_server(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    enum status st = wait_for(r, ev->u.server.t1_ns, ev->u.server.t1_ns, err);
    now.u.server.t0_ns = now_of(r, ev->u.server.t0_ns);
    now.u.server.t1_ns = now_of(r, ev->u.server.t1_ns);
    return st || r->stop->raised ? st : event_push(r->sink, &now, err);
}

/* At another speed a counter grows as much in less time: joules beside watts would be a lie. */
static enum status play_plan(struct replay *r, const struct event *ev, struct error *err)
{
    struct event now = *ev;
    struct plan_series *series = calloc(ev->u.plan.n + 1, sizeof *series);
    if (!series)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->u.plan.n; i++) {
        series[i] = ev->u.plan.series[i];
        if (r->is_real_time || series[i].unit != UNIT_JOULES)
            continue;
        remember_joules(r, &ev->u.plan, i);
        series[i].state = VALUE_UNSUPPORTED;
        series[i].reason = "a recording at another speed has no energy";
    }
    now.u.plan.rate_hz *= r->speed;
    now.u.plan.series = series;
    enum status st = event_push(r->sink, &now, err);
    free(series);
    return st;
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
    *again = r->request->loop && r->last_ns > r->first_ns;
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
