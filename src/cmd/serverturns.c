/* SPDX-License-Identifier: MIT */
#include "cmd/serverturns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/places.h"
#include "cmd/token.h"

static const int64_t second_ns = INT64_C(1000000000);

/* One look a second is what servers expect of a scraper. */
enum { TURN_S = 1, FIND_S = 10, FIND_GONE_S = 1, FIND_ANYWAY_S = 60 };

struct watched {
    struct server_place place;
    bool was_waiting, was_sent; /* sent: since the last mark */
};

struct serverturns {
    struct watch *watch;  /* NULL until there is a server: libcurl need not be loaded before */
    struct watched *list; /* owned; as many as the watch has */
    bool are_named;
    int64_t next_ns, window_ns, mark_ns;
    int64_t found_ns, found_all_ns; /* last look at the sockets, last search; 0 = none */
    uint64_t sockets;               /* at the last search */
    bool changed;                   /* since then */
};

/* ---- the list ---- */

static enum status need_watch(struct serverturns *t, struct error *err)
{
    return t->watch ? OK : watch_create(&t->watch, err);
}

/* After places were added to the watch: the list follows. */
static enum status follow(struct serverturns *t, size_t before, struct error *err)
{
    size_t n = watch_count(t->watch);
    struct watched *longer = realloc(t->list, (n + 1) * sizeof *longer);
    if (!longer)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->list = longer;
    for (size_t i = before; i < n; i++) {
        struct watch_view v;
        watch_view(t->watch, i, &v);
        t->list[i] = (struct watched){.place.pid = v.pid};
        snprintf(t->list[i].place.url, sizeof t->list[i].place.url, "%s", v.target->shown);
    }
    return OK;
}

static size_t count(const struct serverturns *t)
{
    return t->watch ? watch_count(t->watch) : 0;
}

static enum status add_named(struct serverturns *t, const struct options *o, struct error *err)
{
    char token[TOKEN_SIZE];
    enum status st = need_watch(t, err);
    if (!st)
        st = token_read(o->token_file, token, err);
    if (!st)
        st = places_add_list(t->watch, o->server, token, err);
    explicit_bzero(token, sizeof token);
    return st ? st : follow(t, 0, err);
}

enum status serverturns_create(struct serverturns **out, const struct options *o, double window_s,
                               struct error *err)
{
    struct serverturns *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->window_ns = (int64_t)(window_s * 1e9);
    t->are_named = o->server && *o->server;
    t->mark_ns = clock_monotonic_ns();
    enum status st = t->are_named ? add_named(t, o, err) : OK;
    if (st)
        serverturns_destroy(t);
    else
        *out = t;
    return st;
}

void serverturns_destroy(struct serverturns *t)
{
    if (!t)
        return;
    watch_destroy(t->watch);
    free(t->list);
    free(t);
}

/* ---- looking for servers ---- */

/* A process that uses a GPU has its device file open, where there are such files. */
static bool holds_no_gpu(int server, const int *holders, size_t n)
{
    if (!server || access("/dev/nvidia0", F_OK) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (server_descends(holders[i], server) || server_descends(server, holders[i]))
            return false;
    return true;
}

/* Who listens now where a known server was: it may have been started anew. */
static void look_again(struct serverturns *t, const int *holders, size_t n_holders)
{
    for (size_t i = 0; i < count(t); i++) {
        struct server_place *p = &t->list[i].place;
        struct watch_view v;
        watch_view(t->watch, i, &v);
        unsigned port = places_port(v.target);
        if (!port)
            continue;
        if (!discover_listens("", p->pid, port))
            p->pid = discover_listener("", port);
        p->holds_no_gpu = holds_no_gpu(p->pid, holders, n_holders);
    }
}

static bool is_watched(const struct serverturns *t, const struct discover_place *found)
{
    const char *port = strrchr(found->url, ':');
    for (size_t i = 0; i < count(t); i++) {
        struct watch_view v;
        watch_view(t->watch, i, &v);
        if (places_port(v.target) == strtoul(port + 1, NULL, 10))
            return true;
    }
    return false;
}

static enum status add_new(struct serverturns *t, const int *holders, size_t n_holders,
                           struct error *err)
{
    struct discover_place found[DISCOVER_MAX];
    size_t n = discover_places("", holders, n_holders, found, DISCOVER_MAX), kept = 0;
    size_t before = count(t);
    for (size_t i = 0; i < n; i++)
        if (!is_watched(t, &found[i]))
            found[kept++] = found[i];
    if (kept == 0)
        return OK;
    enum status st = need_watch(t, err);
    if (!st)
        st = places_add_found(t->watch, found, kept, err);
    /* some may have been added before it failed */
    enum status followed = t->watch ? follow(t, before, err) : OK;
    t->next_ns = 0; /* they are asked at once */
    return st ? st : followed;
}

/* Is there a server on this machine of which nobody knows the process? */
static bool lacks_process(const struct serverturns *t)
{
    for (size_t i = 0; i < count(t); i++) {
        struct watch_view v;
        watch_view(t->watch, i, &v);
        if (!t->list[i].place.pid && places_port(v.target))
            return true;
    }
    return false;
}

enum status serverturns_find(struct serverturns *t, bool changed, struct error *err)
{
    int64_t now = clock_monotonic_ns();
    t->changed |= changed;
    if (t->found_ns && now - t->found_ns < FIND_GONE_S * second_ns)
        return OK;
    if (t->found_ns && now - t->found_ns < FIND_S * second_ns && !lacks_process(t))
        return OK;
    t->found_ns = now;
    uint64_t sockets = discover_mark("");
    bool is_due = !t->found_all_ns || now - t->found_all_ns >= FIND_ANYWAY_S * second_ns;
    if (!is_due && !t->changed && sockets == t->sockets)
        return OK;
    t->found_all_ns = now;
    t->sockets = sockets;
    t->changed = false;
    int holders[DISCOVER_MAX];
    size_t n = discover_gpu_holders("", holders, DISCOVER_MAX);
    enum status st = t->are_named ? OK : add_new(t, holders, n, err);
    look_again(t, holders, n);
    return st;
}

/* ---- reports ---- */

static void report(struct serverturns *t, size_t i, const struct on_gpus *on,
                   const struct report_sink *sink)
{
    struct watched *own = &t->list[i];
    struct watch_view v;
    struct server_report r;
    watch_view(t->watch, i, &v);
    own->was_sent = true;
    if (!places_is_shown(&v))
        return;
    if (own->place.pid && !server_is_there(own->place.pid))
        own->place.pid = 0; /* looked for again: serverturns_find */
    server_report_fill(&r, &own->place, &v, on);
    sink->take(sink->self, i, &r);
}

/* ---- turns ---- */

void serverturns_ask(struct serverturns *t)
{
    t->next_ns = clock_monotonic_ns() + TURN_S * second_ns;
    if (!t->watch)
        return;
    watch_begin(t->watch);
    for (size_t i = 0; i < count(t); i++)
        t->list[i].was_waiting |= watch_waits(t->watch, i);
}

bool serverturns_is_waiting(const struct serverturns *t)
{
    for (size_t i = 0; i < count(t); i++)
        if (watch_waits(t->watch, i))
            return true;
    return false;
}

int64_t serverturns_next_ns(const struct serverturns *t)
{
    return t->next_ns;
}

void serverturns_mark(struct serverturns *t)
{
    if (t->watch)
        watch_mark(t->watch);
    t->mark_ns = clock_monotonic_ns();
    for (size_t i = 0; i < count(t); i++)
        t->list[i].was_sent = false;
}

void serverturns_step(struct serverturns *t, int timeout_ms, const struct on_gpus *on,
                      const struct report_sink *sink)
{
    if (t->watch)
        watch_step(t->watch, timeout_ms);
    if (clock_monotonic_ns() >= t->next_ns)
        serverturns_ask(t);
    for (size_t i = 0; i < count(t); i++) {
        bool waits = watch_waits(t->watch, i);
        if (t->list[i].was_waiting && !waits)
            report(t, i, on, sink);
        t->list[i].was_waiting = waits;
    }
    if (t->window_ns && clock_monotonic_ns() - t->mark_ns >= t->window_ns)
        serverturns_mark(t);
}

void serverturns_finish(struct serverturns *t, const struct on_gpus *on,
                        const struct report_sink *sink)
{
    for (size_t i = 0; i < count(t); i++)
        if (!t->list[i].was_sent)
            report(t, i, on, sink);
}
