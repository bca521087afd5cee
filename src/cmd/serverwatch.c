/* SPDX-License-Identifier: MIT */
/* Here the thread that watches, and what it and the counters' loop tell each other. */
#include "cmd/serverwatch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/places.h"
#include "cmd/serverturns.h"

/* While an answer is on its way the counters' loop looks for it at this pace; it is noticed, with
 * its time, when it comes. */
enum { LOOK_MS = 20, FINISH_MS = 2000, STACK_SIZE = 1024 * 1024 };

/* The newest report of a server that was not sent yet. */
struct letter {
    struct server_report report;
    bool is_new;
};

struct serverwatch {
    const struct event_sink *sink;
    bool all_gpus; /* of this machine are in the stream */
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows but turns */
    pthread_cond_t wake, done;
    bool ask, mark, finish, stop; /* wishes to the thread */
    bool gpus_changed;
    bool is_busy; /* the thread works, or a server owes an answer */
    int64_t next_ns;
    struct on_gpus on;
    struct letter **letters; /* owned, at most one a server */
    size_t n;
    struct error wrong; /* why no server is watched; said once */
    bool has_wrong;
    struct serverturns *turns; /* the thread's alone */
    struct on_gpus on_copy;    /* the thread's alone */
};

/* ---- the thread ---- */

/* The letter of this server, else one that was sent, else a new one; NULL when memory ran out. */
static struct letter *letter_for(struct serverwatch *w, const char *url)
{
    struct letter *sent = NULL;
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->letters[i]->report.place.url, url) == 0)
            return w->letters[i];
        sent = w->letters[i]->is_new ? sent : w->letters[i];
    }
    if (sent)
        return sent;
    struct letter **longer = realloc(w->letters, (w->n + 1) * sizeof *longer);
    w->letters = longer ? longer : w->letters;
    struct letter *l = longer ? calloc(1, sizeof *l) : NULL;
    if (l)
        w->letters[w->n++] = l;
    return l;
}

static void take_report(void *self, const struct server_report *report)
{
    struct serverwatch *w = self;
    pthread_mutex_lock(&w->lock);
    struct letter *l = letter_for(w, report->place.url);
    if (l) {
        l->report = *report;
        l->is_new = true;
    }
    pthread_mutex_unlock(&w->lock);
}

/* The wishes of the other side, once each. */
struct wishes {
    bool ask, mark, finish, gpus_changed;
};

/* Sleeps until there is something to do, unless an answer is on its way; false = stop. */
static bool take_wishes(struct serverwatch *w, bool is_waiting, struct wishes *out)
{
    int64_t next_ns = serverturns_next_ns(w->turns);
    struct timespec until = {next_ns / 1000000000, next_ns % 1000000000};
    pthread_mutex_lock(&w->lock);
    w->next_ns = next_ns;
    pthread_cond_broadcast(&w->done);
    while (!is_waiting && !w->ask && !w->mark && !w->finish && !w->stop)
        if (pthread_cond_timedwait(&w->wake, &w->lock, &until) != 0)
            break;
    w->is_busy = true; /* until fulfil() knows better */
    *out = (struct wishes){w->ask, w->mark, w->finish, w->gpus_changed};
    w->mark = w->gpus_changed = false;
    if (out->gpus_changed || out->finish)
        w->on_copy = w->on;
    bool go_on = !w->stop;
    pthread_mutex_unlock(&w->lock);
    return go_on;
}

/* A wish stands until it is fulfilled: somebody may wait for that. */
static void fulfil(struct serverwatch *w, const struct wishes *done, const struct error *wrong)
{
    pthread_mutex_lock(&w->lock);
    w->is_busy = serverturns_is_waiting(w->turns);
    if (done->ask)
        w->ask = false;
    if (done->finish)
        w->finish = false;
    if (wrong->text[0]) {
        w->wrong = *wrong;
        w->has_wrong = true;
    }
    pthread_cond_broadcast(&w->done);
    pthread_mutex_unlock(&w->lock);
}

static void *run(void *self)
{
    struct serverwatch *w = self;
    struct report_sink sink = {take_report, w};
    struct wishes wishes;
    bool find = true; /* a failure is said once */
    while (take_wishes(w, serverturns_is_waiting(w->turns), &wishes)) {
        struct error wrong = ERROR_INIT;
        if (wishes.gpus_changed)
            serverturns_gpus_changed(w->turns);
        if (find)
            find = serverturns_find(w->turns, wishes.gpus_changed, &wrong) == OK;
        if (wishes.mark)
            serverturns_mark(w->turns);
        if (wishes.ask)
            serverturns_ask(w->turns);
        serverturns_step(w->turns, LOOK_MS, &w->on_copy, &sink);
        if (wishes.finish)
            serverturns_finish(w->turns, &w->on_copy, &sink);
        fulfil(w, &wishes, &wrong);
    }
    return NULL;
}

/* ---- the other side ---- */

void serverwatch_see(struct serverwatch *w, const struct event *ev)
{
    if (!w || ev->kind != EVENT_PROCESSES || ev->u.processes.gpu >= SOURCE_GPUS_MAX)
        return;
    struct on_gpu now = {.n = 0};
    now.is_cut = ev->u.processes.n > REPORT_PIDS_MAX;
    now.n = now.is_cut ? REPORT_PIDS_MAX : ev->u.processes.n;
    for (size_t i = 0; i < now.n; i++)
        now.pid[i] = ev->u.processes.list[i].pid;
    pthread_mutex_lock(&w->lock);
    struct on_gpu *g = &w->on.gpu[ev->u.processes.gpu];
    if (g->n != now.n || g->is_cut != now.is_cut ||
        memcmp(g->pid, now.pid, now.n * sizeof now.pid[0]) != 0) {
        *g = now;
        w->gpus_changed = true;
    }
    pthread_mutex_unlock(&w->lock);
}

static void wish(struct serverwatch *w, bool *which)
{
    pthread_mutex_lock(&w->lock);
    *which = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void serverwatch_ask(struct serverwatch *w)
{
    if (w)
        wish(w, &w->ask);
}

void serverwatch_mark(struct serverwatch *w)
{
    if (w)
        wish(w, &w->mark);
}

bool serverwatch_is_waiting(struct serverwatch *w)
{
    if (!w)
        return false;
    pthread_mutex_lock(&w->lock);
    bool is_waiting = w->is_busy || w->ask;
    pthread_mutex_unlock(&w->lock);
    return is_waiting;
}

int serverwatch_wait_ms(struct serverwatch *w, int most_ms)
{
    if (!w)
        return most_ms;
    if (serverwatch_is_waiting(w))
        return LOOK_MS < most_ms ? LOOK_MS : most_ms;
    pthread_mutex_lock(&w->lock);
    int64_t left_ms = (w->next_ns - clock_monotonic_ns()) / 1000000 + 1;
    pthread_mutex_unlock(&w->lock);
    return left_ms < LOOK_MS ? LOOK_MS : left_ms < most_ms ? (int)left_ms : most_ms;
}

/* Copies the next report that was not sent; false = none. */
static bool open_letter(struct serverwatch *w, size_t i, struct server_report *out)
{
    pthread_mutex_lock(&w->lock);
    bool is_new = i < w->n && w->letters[i]->is_new;
    if (is_new) {
        *out = w->letters[i]->report;
        w->letters[i]->is_new = false;
    }
    pthread_mutex_unlock(&w->lock);
    return is_new;
}

static enum status say_wrong(struct serverwatch *w, struct error *err)
{
    struct error wrong = ERROR_INIT;
    pthread_mutex_lock(&w->lock);
    bool has_wrong = w->has_wrong;
    wrong = w->wrong;
    w->has_wrong = false;
    pthread_mutex_unlock(&w->lock);
    if (!has_wrong)
        return OK;
    return event_push_note(w->sink, NOTE_INFO, -1, err, "inference servers are not watched: %s",
                           wrong.text);
}

enum status serverwatch_step(struct serverwatch *w, struct error *err)
{
    struct server_report r;
    enum status st = w ? say_wrong(w, err) : OK;
    if (!w)
        return OK;
    pthread_mutex_lock(&w->lock);
    size_t n = w->n;
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < n && !st; i++)
        if (open_letter(w, i, &r))
            st = server_report_push(&r, w->all_gpus, w->sink, err);
    return st;
}

enum status serverwatch_finish(struct serverwatch *w, struct error *err)
{
    if (!w)
        return OK;
    int64_t until_ns = clock_monotonic_ns() + FINISH_MS * INT64_C(1000000);
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    pthread_mutex_lock(&w->lock);
    w->finish = true;
    pthread_cond_signal(&w->wake);
    while (w->finish && pthread_cond_timedwait(&w->done, &w->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&w->lock);
    return serverwatch_step(w, err);
}

/* ---- opening and closing ---- */

static bool takes_all_gpus(const struct options *o)
{
    return !o->gpu || strcmp(o->gpu, "all") == 0;
}

static void init_lock(struct serverwatch *w)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, &attr);
    pthread_cond_init(&w->done, &attr);
    pthread_condattr_destroy(&attr);
}

/* Signals are for the thread that sleeps in poll. */
static int start_thread(struct serverwatch *w)
{
    sigset_t all, before;
    pthread_attr_t attr;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int why = pthread_create(&w->thread, &attr, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return why;
}

static void release(struct serverwatch *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->letters[i]);
    free(w->letters);
    serverturns_destroy(w->turns);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

enum status serverwatch_open(struct serverwatch **out, const struct options *o, double window_s,
                             const struct event_sink *sink, struct error *err)
{
    *out = NULL;
    if (places_is_none(o->server))
        return OK;
    struct serverwatch *w = calloc(1, sizeof *w);
    if (!w)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    w->sink = sink;
    w->all_gpus = takes_all_gpus(o);
    w->is_busy = true; /* until it has looked around */
    init_lock(w);
    enum status st = serverturns_create(
        &w->turns, o, (struct serverturns_times){window_s, SERVERTURNS_GONE_S}, err);
    int why = st ? 0 : start_thread(w);
    if (why)
        st = fail(err, ERR_IO, why, "no thread for inference servers: %s", strerror(why));
    if (st)
        release(w);
    else
        *out = w;
    return st;
}

void serverwatch_close(struct serverwatch *w)
{
    if (!w)
        return;
    wish(w, &w->stop);
    pthread_join(w->thread, NULL);
    release(w);
}
