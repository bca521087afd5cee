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
    struct server_relation relation; /* of related_pid, until the GPUs' processes change */
    int related_pid;
    bool is_related;
    uint64_t sockets;  /* at its port, when it was added */
    int64_t absent_ns; /* monotonic: nobody has listened there since then; 0 = somebody does */
    bool is_over;      /* to be watched no more */
    bool was_waiting, was_shown, was_sent; /* sent: since the last mark */
};

struct serverturns {
    struct watch *watch;  /* NULL until there is a server: libcurl need not be loaded before */
    struct watched *list; /* owned; as the watch has them, but where memory ran out fewer */
    size_t n_list;
    bool are_named;
    int64_t next_ns, window_ns, gone_ns, mark_ns;
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
static enum status follow(struct serverturns *t, struct error *err)
{
    size_t n = watch_count(t->watch);
    struct watched *longer = realloc(t->list, (n + 1) * sizeof *longer);
    if (!longer)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->list = longer;
    for (; t->n_list < n; t->n_list++) {
        struct watched *own = &t->list[t->n_list];
        const struct target *target = watch_target(t->watch, t->n_list);
        *own = (struct watched){.place.pid = watch_pid(t->watch, t->n_list)};
        snprintf(own->place.url, sizeof own->place.url, "%s", target->shown);
        if (!t->are_named)
            own->sockets = discover_mark("", places_port(target));
    }
    return OK;
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
    return st ? st : follow(t, err);
}

enum status serverturns_create(struct serverturns **out, const struct options *o,
                               struct serverturns_times times, struct error *err)
{
    struct serverturns *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->window_ns = (int64_t)(times.window_s * 1e9);
    t->gone_ns = (int64_t)(times.gone_s * 1e9);
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
    if (!server || n == DISCOVER_HOLDERS_MAX || access("/dev/nvidia0", F_OK) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (server_descends(holders[i], server) || server_descends(server, holders[i]))
            return false;
    return true;
}

/* What is no inference server is left in peace only as long as its socket is the same. */
static void give_up_those_replaced(struct serverturns *t)
{
    for (size_t i = 0; i < t->n_list; i++)
        if (watch_is_left(t->watch, i))
            t->list[i].is_over |=
                discover_mark("", places_port(watch_target(t->watch, i))) != t->list[i].sockets;
}

/* Who listens now where a known server was: it may have been started anew. */
static void look_again(struct serverturns *t, const int *holders, size_t n_holders)
{
    for (size_t i = 0; i < t->n_list; i++) {
        struct server_place *p = &t->list[i].place;
        unsigned port = places_port(watch_target(t->watch, i));
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
    for (size_t i = 0; i < t->n_list; i++)
        if (!t->list[i].is_over &&
            places_port(watch_target(t->watch, i)) == strtoul(port + 1, NULL, 10))
            return true;
    return false;
}

static enum status add_new(struct serverturns *t, const int *holders, size_t n_holders,
                           struct error *err)
{
    struct discover_place found[DISCOVER_MAX];
    size_t n = discover_places("", holders, n_holders, found, DISCOVER_MAX), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_watched(t, &found[i]))
            found[kept++] = found[i];
    if (kept == 0)
        return OK;
    enum status st = need_watch(t, err);
    if (!st)
        st = places_add_found(t->watch, found, kept, err);
    /* some may have been added before it failed */
    enum status followed = t->watch ? follow(t, err) : OK;
    t->next_ns = 0; /* they are asked at once */
    return st ? st : followed;
}

/* Is there a server on this machine of which nobody knows the process? */
static bool lacks_process(const struct serverturns *t)
{
    for (size_t i = 0; i < t->n_list; i++)
        if (!t->list[i].place.pid && places_port(watch_target(t->watch, i)))
            return true;
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
    uint64_t sockets = discover_mark("", 0);
    bool is_due = !t->found_all_ns || now - t->found_all_ns >= FIND_ANYWAY_S * second_ns;
    if (!is_due && !t->changed && sockets == t->sockets)
        return OK;
    t->found_all_ns = now;
    t->sockets = sockets;
    t->changed = false;
    int holders[DISCOVER_HOLDERS_MAX];
    size_t n = discover_gpu_holders("", holders, DISCOVER_HOLDERS_MAX);
    give_up_those_replaced(t);
    enum status st = t->are_named ? OK : add_new(t, holders, n, err);
    look_again(t, holders, n);
    return st;
}

/* ---- reports ---- */

/* Who started whom costs a walk through /proc, and hardly changes. */
static const struct server_relation *relation_of(struct watched *own, const struct on_gpus *on)
{
    if (!own->is_related || own->related_pid != own->place.pid)
        server_relate(&own->relation, own->place.pid, on);
    own->is_related = true;
    own->related_pid = own->place.pid;
    return &own->relation;
}

static void note_absence(const struct serverturns *t, struct watched *own,
                         const struct watch_view *v)
{
    int64_t now = clock_monotonic_ns();
    if (!v->is_absent)
        own->absent_ns = 0;
    else if (!own->absent_ns)
        own->absent_ns = now;
    else if (t->window_ns && !v->is_named)
        own->is_over |= now - own->absent_ns >= t->gone_ns;
}

static void report(struct serverturns *t, size_t i, const struct on_gpus *on,
                   const struct report_sink *sink)
{
    struct watched *own = &t->list[i];
    struct watch_view v;
    struct server_report r;
    watch_view(t->watch, i, &v);
    own->was_sent = true;
    note_absence(t, own, &v);
    if (own->is_over || !places_is_shown(&v))
        return;
    own->was_shown = true;
    if (own->place.pid && !server_is_there(own->place.pid))
        own->place.pid = 0; /* looked for again: serverturns_find */
    server_report_fill(&r, &own->place, &v, relation_of(own, on));
    sink->take(sink->self, &r);
}

static void say_gone(struct serverturns *t, size_t i, const struct report_sink *sink)
{
    static const struct server_relation nobody = {0};
    struct watch_view v;
    struct server_report r;
    watch_view(t->watch, i, &v);
    server_report_fill(&r, &t->list[i].place, &v, &nobody);
    r.place.pid = 0;
    r.t0_ns = r.t1_ns;
    r.state = VALUE_FAILED;
    snprintf(r.reason, sizeof r.reason, "nobody listens there any more: not watched now");
    signals_none(&r.signals, r.state, r.reason);
    r.is_gone = true;
    sink->take(sink->self, &r);
}

static void drop_those_gone(struct serverturns *t, const struct report_sink *sink)
{
    for (size_t i = t->n_list; i-- > 0;) {
        if (!t->list[i].is_over)
            continue;
        if (t->list[i].was_shown)
            say_gone(t, i, sink);
        watch_remove(t->watch, i);
        t->n_list--;
        memmove(&t->list[i], &t->list[i + 1], (t->n_list - i) * sizeof t->list[0]);
    }
}

void serverturns_gpus_changed(struct serverturns *t)
{
    for (size_t i = 0; i < t->n_list; i++)
        t->list[i].is_related = false;
}

/* ---- turns ---- */

void serverturns_ask(struct serverturns *t)
{
    t->next_ns = clock_monotonic_ns() + TURN_S * second_ns;
    if (!t->watch)
        return;
    watch_begin(t->watch);
    for (size_t i = 0; i < t->n_list; i++)
        t->list[i].was_waiting |= watch_waits(t->watch, i);
}

bool serverturns_is_waiting(const struct serverturns *t)
{
    for (size_t i = 0; i < t->n_list; i++)
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
    for (size_t i = 0; i < t->n_list; i++)
        t->list[i].was_sent = false;
}

void serverturns_step(struct serverturns *t, int timeout_ms, const struct on_gpus *on,
                      const struct report_sink *sink)
{
    if (t->watch)
        watch_step(t->watch, timeout_ms);
    if (clock_monotonic_ns() >= t->next_ns)
        serverturns_ask(t);
    for (size_t i = 0; i < t->n_list; i++) {
        bool waits = watch_waits(t->watch, i);
        if (t->list[i].was_waiting && !waits)
            report(t, i, on, sink);
        t->list[i].was_waiting = waits;
    }
    drop_those_gone(t, sink);
    if (t->window_ns && clock_monotonic_ns() - t->mark_ns >= t->window_ns)
        serverturns_mark(t);
}

void serverturns_finish(struct serverturns *t, const struct on_gpus *on,
                        const struct report_sink *sink)
{
    for (size_t i = 0; i < t->n_list; i++)
        if (!t->list[i].was_sent)
            report(t, i, on, sink);
}
