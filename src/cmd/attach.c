/* SPDX-License-Identifier: MIT */
#include "cmd/attach.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/doubtful.h"
#include "daemon/client.h"
#include "event/pipe.h"

/* What a daemon has it sends at once, and each source something every second. */
enum { ANSWER_MS = 3000, SETTLE_MS = 3000 };

struct attach {
    int fd;
    struct event_pipe pipe;
    const struct request *request;
    const struct event_sink *sink;
    int64_t begin_ns;
    bool unwanted[SOURCE_GPUS_MAX], any_wanted, is_replay;
    bool has_samples; /* of whatever GPU */
    /* of each source and wanted GPU: do samples come, and does the newest plan have counters? */
    bool gave[SOURCE_COUNT][SOURCE_GPUS_MAX], plans[SOURCE_COUNT][SOURCE_GPUS_MAX];
    struct value why[SOURCE_COUNT]; /* the newest plan without counters says why */
    struct doubtful doubts;
    bool closed;
    enum status end_status;
    char end_reason[400];
};

void attach_close(struct attach *a)
{
    if (!a)
        return;
    if (a->fd >= 0)
        close(a->fd);
    event_pipe_fini(&a->pipe);
    doubtful_fini(&a->doubts);
    free(a);
}

/* ---- events ---- */

static bool is_unwanted(const struct attach *a, unsigned gpu)
{
    return gpu >= SOURCE_GPUS_MAX || a->unwanted[gpu];
}

static void take_plan(struct attach *a, const struct event_plan *p)
{
    bool *plans = &a->plans[p->source][p->gpu];
    *plans = false;
    for (size_t i = 0; i < p->n; i++)
        *plans |= p->series[i].state == VALUE_OK || p->series[i].state == VALUE_SUSPECT;
    if (!*plans && p->n)
        value_set_state(&a->why[p->source], p->source, p->series[0].state, "%s",
                        p->series[0].reason);
}

static enum status push_plan(struct attach *a, const struct event *ev, struct error *err)
{
    struct plan_series series[METRIC_COUNT];
    struct event marked = *ev;
    marked.u.plan = doubtful_plan(&a->doubts, &ev->u.plan, series);
    return event_push(a->sink, &marked, err);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct attach *a = self;
    switch (ev->kind) {
    case EVENT_HELLO:
        a->is_replay = ev->u.hello.is_replay;
        break;
    case EVENT_GPU:
        if (ev->u.gpu.gpu < SOURCE_GPUS_MAX)
            a->unwanted[ev->u.gpu.gpu] = !request_wants(a->request, ev->u.gpu.gpu, ev->u.gpu.uuid);
        if (is_unwanted(a, ev->u.gpu.gpu))
            return OK;
        a->any_wanted = true;
        if (!a->is_replay)
            doubtful_see(&a->doubts, &ev->u.gpu);
        break;
    case EVENT_PLAN:
        if (is_unwanted(a, ev->u.plan.gpu))
            return OK;
        take_plan(a, &ev->u.plan);
        return push_plan(a, ev, err);
    case EVENT_SAMPLES:
        a->has_samples = true;
        if (is_unwanted(a, ev->u.samples.gpu))
            return OK;
        a->gave[ev->u.samples.source][ev->u.samples.gpu] = true;
        break;
    case EVENT_PROCESSES:
        if (is_unwanted(a, ev->u.processes.gpu))
            return OK;
        break;
    case EVENT_END: /* the reader says its own end */
        a->end_status = ev->u.end.status;
        snprintf(a->end_reason, sizeof a->end_reason, "%s", ev->u.end.reason);
        return OK;
    default:
        break;
    }
    return event_push(a->sink, ev, err);
}

/* ---- opening ---- */

/* The first line, which says what this stream is. */
static enum status hear_hello(struct attach *a, struct error *err)
{
    struct buf line = BUF_INIT;
    const struct event_sink own = {take, a};
    enum status st = client_hear(a->fd, &line, ANSWER_MS, err);
    if (!st)
        st = event_decode(a->pipe.decoder, buf_str(&line), line.len, &own, err);
    buf_fini(&line);
    return st;
}

enum status attach_open(struct attach **out, const char *run_dir, double history_s,
                        const struct request *r, const struct event_sink *sink, struct error *err)
{
    char request[64];
    struct attach *a = calloc(1, sizeof *a);
    if (!a)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *a = (struct attach){.fd = -1, .request = r, .sink = sink};
    a->begin_ns = clock_monotonic_ns();
    snprintf(request, sizeof request, "events %.3f", history_s);
    enum status st = event_pipe_init(&a->pipe, err);
    if (!st)
        st = client_connect(&a->fd, run_dir, NULL, err);
    if (!st)
        st = client_say(a->fd, request, err);
    if (!st)
        st = hear_hello(a, err);
    if (st) {
        attach_close(a);
        return st;
    }
    fcntl(a->fd, F_SETFL, O_NONBLOCK);
    *out = a;
    return OK;
}

bool attach_is_replay(const struct attach *a)
{
    return a->is_replay;
}

/* ---- the stream ---- */

void attach_waits(const struct attach *a, struct waits *w)
{
    waits_add(w, a->closed ? -1 : a->fd, POLLIN);
}

enum status attach_poll(struct attach *a, int timeout_ms, struct error *err)
{
    const struct event_sink own = {take, a};
    struct waits w;
    bool heard;
    waits_init(&w, timeout_ms);
    attach_waits(a, &w);
    waits_poll(&w);
    return a->closed ? OK : event_pipe_read(&a->pipe, a->fd, &own, &heard, &a->closed, err);
}

/* Does any GPU have counters now? */
static bool is_giving(const struct attach *a)
{
    static const enum source_id order[] = {SOURCE_PM, SOURCE_NSYS, SOURCE_GPM};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (size_t gpu = 0; gpu < SOURCE_GPUS_MAX; gpu++)
            if (a->gave[order[i]][gpu] && a->plans[order[i]][gpu])
                return true;
    return false;
}

bool attach_settled(const struct attach *a)
{
    bool is_late = clock_monotonic_ns() - a->begin_ns > SETTLE_MS * INT64_C(1000000);
    return is_giving(a) || is_late;
}

enum status attach_counters(const struct attach *a, const char **reason)
{
    const struct value *why = &a->why[SOURCE_PM];
    if (is_giving(a))
        return OK;
    if (!why->reason[0])
        why = a->why[SOURCE_NSYS].reason[0] ? &a->why[SOURCE_NSYS] : &a->why[SOURCE_GPM];
    *reason = why->reason[0] ? why->reason : "the daemon has none";
    switch (why->state) {
    case VALUE_BUSY:
        return ERR_BUSY;
    case VALUE_NO_PERMISSION:
        return ERR_PERMISSION;
    default:
        return ERR_UNSUPPORTED;
    }
}

bool attach_over(const struct attach *a, enum status *status, const char **reason)
{
    if (a->has_samples && !a->any_wanted) {
        *reason = "none of the daemon's GPUs is one of those asked for (--gpu)";
        *status = ERR_NO_GPU;
        return true;
    }
    if (!a->closed)
        return false;
    *reason = a->end_reason[0] ? a->end_reason : "the daemon has ended";
    *status = a->end_status ? a->end_status : ERR_IO;
    return true;
}
