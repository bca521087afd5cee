/* SPDX-License-Identifier: MIT */
#include "cmd/serverwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/places.h"
#include "cmd/token.h"
#include "source/source.h"

/* One look a second is what servers expect of a scraper. While an answer is on its way we look for
 * it at this pace: an answer's time is taken when it begins to come. */
static const int64_t turn_ns = INT64_C(1000000000);
enum { LOOK_MS = 20, PIDS_MAX = 64, ANCESTORS_MAX = 8 };

struct on_gpu {
    int64_t pid[PIDS_MAX];
    size_t n;
};

struct watched {
    char *url; /* as it was named or found: paths are tried, the name stays; owned */
    int pid;
    bool holds_no_gpu; /* as far as we may see; then it is not taken for the only GPU's server */
    bool was_waiting, was_sent; /* sent: since the last mark */
};

struct serverwatch {
    struct watch *watch;
    const struct event_sink *sink;
    struct watched *list; /* owned; as many as the watch has */
    bool all_gpus;        /* of this machine are in the stream */
    int64_t next_ns, window_ns, mark_ns;
    struct on_gpu gpu[SOURCE_GPUS_MAX];
};

/* ---- whose GPU ---- */

void serverwatch_see(struct serverwatch *w, const struct event *ev)
{
    if (!w || ev->kind != EVENT_PROCESSES || ev->u.processes.gpu >= SOURCE_GPUS_MAX)
        return;
    struct on_gpu *g = &w->gpu[ev->u.processes.gpu];
    g->n = ev->u.processes.n < PIDS_MAX ? ev->u.processes.n : PIDS_MAX;
    for (size_t i = 0; i < g->n; i++)
        g->pid[i] = ev->u.processes.list[i].pid;
}

/* pid itself, or somebody who started it, directly or not. */
static bool descends(int pid, int from)
{
    for (int up = 0; pid > 0 && up <= ANCESTORS_MAX; up++, pid = discover_parent("", pid))
        if (pid == from)
            return true;
    return false;
}

static bool is_there(int64_t pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%lld", (long long)pid);
    return access(path, F_OK) == 0;
}

/* Processes on GPUs that are the server's. *foreign: there are others that we can see, so that
 * process ids are the same here as at the driver. */
static size_t related(const struct serverwatch *w, int server, int64_t *out, bool *foreign)
{
    size_t n = 0;
    for (size_t g = 0; server && g < SOURCE_GPUS_MAX; g++)
        for (size_t i = 0; i < w->gpu[g].n; i++) {
            int pid = (int)w->gpu[g].pid[i];
            if (!descends(pid, server) && !descends(server, pid))
                *foreign |= is_there(pid);
            else if (n < PIDS_MAX)
                out[n++] = pid;
        }
    return n;
}

/* ---- events ---- */

static size_t fill_metrics(const struct watch_view *v, struct event_server_metric *out)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        const struct signal *s = &v->signals.list[i];
        out[i] = (struct event_server_metric){
            .metric = (enum metric)(SIGNAL_FIRST + i),
            .state = s->value.state,
            .v = value_has_number(&s->value) ? s->value.v : NAN,
            .reason = s->value.reason,
            .series = s->series,
            .freshness = s->series[0] && s->fresh != FRESH_LIVE ? freshness_name(s->fresh) : "",
        };
    }
    return SIGNAL_COUNT;
}

static enum status send_event(struct serverwatch *w, size_t i, struct error *err)
{
    struct watched *own = &w->list[i];
    struct watch_view v;
    struct event_server_metric metrics[SIGNAL_COUNT];
    int64_t pids[PIDS_MAX];
    bool foreign = false;
    watch_view(w->watch, i, &v);
    own->was_sent = true;
    if (!places_is_shown(&v))
        return OK;
    if (own->pid && !is_there(own->pid)) /* it ended; another may have its place */
        own->pid = 0;
    int d = v.signals.dialect;
    /* a router or front end counts what other processes do, maybe on other machines */
    bool is_front = v.is_router || d == DIALECT_DYNAMO;
    size_t n_pids = is_front ? 0 : related(w, own->pid, pids, &foreign);
    int64_t t1_ns = v.unix_ns ? v.unix_ns : clock_unix_ns();
    struct event ev = {
        .kind = EVENT_SERVER,
        .u.server = {.url = own->url,
                     .kind = d == DIALECT_NONE ? "" : dialect_get((enum dialect_id)d)->name,
                     .model = v.model,
                     .pid = is_front ? 0 : own->pid,
                     .is_local = v.target->is_loopback && w->all_gpus && !foreign &&
                                 !own->holds_no_gpu && !is_front,
                     .n_gpu_pids = n_pids,
                     .gpu_pids = pids,
                     .state = v.state,
                     .reason = v.reason,
                     .t0_ns = t1_ns - (int64_t)(v.signals.seconds * 1e9),
                     .t1_ns = t1_ns,
                     .n = fill_metrics(&v, metrics),
                     .metrics = metrics}};
    return event_push(w->sink, &ev, err);
}

/* ---- turns ---- */

void serverwatch_ask(struct serverwatch *w)
{
    if (!w)
        return;
    watch_begin(w->watch);
    w->next_ns = clock_monotonic_ns() + turn_ns;
    for (size_t i = 0; i < watch_count(w->watch); i++)
        w->list[i].was_waiting |= watch_waits(w->watch, i);
}

bool serverwatch_is_waiting(const struct serverwatch *w)
{
    for (size_t i = 0; w && i < watch_count(w->watch); i++)
        if (watch_waits(w->watch, i))
            return true;
    return false;
}

void serverwatch_mark(struct serverwatch *w)
{
    if (!w)
        return;
    watch_mark(w->watch);
    w->mark_ns = clock_monotonic_ns();
    for (size_t i = 0; i < watch_count(w->watch); i++)
        w->list[i].was_sent = false;
}

enum status serverwatch_step(struct serverwatch *w, struct error *err)
{
    enum status st = OK;
    if (!w)
        return OK;
    watch_step(w->watch, 0);
    if (clock_monotonic_ns() >= w->next_ns)
        serverwatch_ask(w);
    for (size_t i = 0; i < watch_count(w->watch) && !st; i++) {
        bool waits = watch_waits(w->watch, i);
        if (w->list[i].was_waiting && !waits)
            st = send_event(w, i, err);
        w->list[i].was_waiting = waits;
    }
    if (w->window_ns && clock_monotonic_ns() - w->mark_ns >= w->window_ns)
        serverwatch_mark(w);
    return st;
}

int serverwatch_wait_ms(const struct serverwatch *w, int most_ms)
{
    if (!w)
        return most_ms;
    if (serverwatch_is_waiting(w))
        return LOOK_MS < most_ms ? LOOK_MS : most_ms;
    int64_t left_ms = (w->next_ns - clock_monotonic_ns()) / 1000000 + 1;
    return left_ms < 0 ? 0 : left_ms < most_ms ? (int)left_ms : most_ms;
}

enum status serverwatch_finish(struct serverwatch *w, struct error *err)
{
    enum status st = serverwatch_step(w, err);
    for (size_t i = 0; w && !st && i < watch_count(w->watch); i++)
        if (!w->list[i].was_sent)
            st = send_event(w, i, err);
    return st;
}

/* ---- opening ---- */

static bool are_named(const struct options *o)
{
    return o->server && *o->server;
}

static enum status add_named(struct watch *watch, const struct options *o, struct error *err)
{
    char token[TOKEN_SIZE];
    enum status st = token_read(o->token_file, token, err);
    if (!st)
        st = places_add_list(watch, o->server, token, err);
    explicit_bzero(token, sizeof token);
    return st;
}

/* A process that uses a GPU has its device file open, where there are such files. */
static bool holds_no_gpu(int server, const int *holders, size_t n)
{
    if (!server || access("/dev/nvidia0", F_OK) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (descends(holders[i], server) || descends(server, holders[i]))
            return false;
    return true;
}

static enum status remember_places(struct serverwatch *w, struct error *err)
{
    int holders[DISCOVER_MAX];
    size_t n = watch_count(w->watch), n_holders = discover_gpu_holders("", holders, DISCOVER_MAX);
    w->list = calloc(n, sizeof *w->list);
    if (!w->list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct watch_view v;
        watch_view(w->watch, i, &v);
        w->list[i].pid = v.pid;
        w->list[i].holds_no_gpu = holds_no_gpu(v.pid, holders, n_holders);
        w->list[i].url = strdup(v.target->shown);
        if (!w->list[i].url)
            return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    return OK;
}

static bool takes_all_gpus(const struct options *o)
{
    return !o->gpu || strcmp(o->gpu, "all") == 0;
}

static enum status create(struct serverwatch **out, const struct options *o, double window_s,
                          const struct event_sink *sink, struct error *err)
{
    struct discover_place found[DISCOVER_MAX];
    size_t n = are_named(o) ? 0 : places_find(found);
    if (!are_named(o) && n == 0) /* nobody to ask: libcurl need not be loaded */
        return OK;
    struct serverwatch *w = calloc(1, sizeof *w);
    if (!w)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    w->sink = sink;
    w->all_gpus = takes_all_gpus(o);
    w->window_ns = (int64_t)(window_s * 1e9);
    enum status st = watch_create(&w->watch, err);
    if (!st)
        st = are_named(o) ? add_named(w->watch, o, err) : places_add_found(w->watch, found, n, err);
    bool is_empty = !st && watch_count(w->watch) == 0;
    if (!st && !is_empty)
        st = remember_places(w, err);
    if (st || is_empty) {
        serverwatch_close(w);
        return st;
    }
    serverwatch_mark(w);
    serverwatch_ask(w);
    *out = w;
    return OK;
}

enum status serverwatch_open(struct serverwatch **out, const struct options *o, double window_s,
                             const struct event_sink *sink, struct error *err)
{
    struct error why = ERROR_INIT;
    *out = NULL;
    if (places_is_none(o->server))
        return OK;
    enum status st = create(out, o, window_s, sink, &why);
    if (!st)
        return OK;
    if (are_named(o))
        return fail(err, st, 0, "%s", why.text);
    return event_push_note(sink, NOTE_INFO, -1, err, "inference servers are not watched: %s",
                           why.text);
}

void serverwatch_close(struct serverwatch *w)
{
    if (!w)
        return;
    for (size_t i = 0; w->list && i < watch_count(w->watch); i++)
        free(w->list[i].url);
    free(w->list);
    watch_destroy(w->watch);
    free(w);
}
