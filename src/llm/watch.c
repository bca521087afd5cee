/* SPDX-License-Identifier: MIT */
#include "llm/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "llm/exposition.h"

enum { BACKOFF_MAX_S = 30 };

/* Where metrics are when nobody said it: trtllm-serve's /metrics is JSON, NIM's is not there. */
static const char *const paths[] = {"/metrics", "/prometheus/metrics", "/v1/metrics"};
enum { PATHS = sizeof paths / sizeof paths[0] };

struct server {
    struct target target;
    int pid;
    bool is_named;
    bool waits;                          /* for an answer */
    unsigned path;                       /* of paths, when none was given */
    unsigned failures;                   /* in a row */
    int64_t not_before_ns;               /* monotonic: no request earlier */
    struct scrape *base, *newest, *next; /* window's beginning, its end, room; owned */
    bool has_base, has_newest, restarted;
    int64_t
        moved_ns; /* monotonic: the last scrape at which a token had been counted, or the first */
    struct error wrong; /* with the last body, while the answer itself was fine */
    enum value_state wrong_state;
    char first_reason[VALUE_REASON_SIZE]; /* of the first of paths; "" = none yet */
};

struct watch {
    struct fetcher *fetcher;
    struct server **list; /* owned */
    size_t n;
    size_t turn; /* whose answer is taken first */
};

static void server_destroy(struct server *s)
{
    if (!s)
        return;
    scrape_destroy(s->base);
    scrape_destroy(s->newest);
    scrape_destroy(s->next);
    free(s);
}

static struct server *server_create(const struct watch_place *place)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->target = place->target;
    s->pid = place->pid;
    s->is_named = place->is_named;
    s->base = scrape_create();
    s->newest = scrape_create();
    s->next = scrape_create();
    if (s->base && s->newest && s->next)
        return s;
    server_destroy(s);
    return NULL;
}

enum status watch_create(struct watch **out, struct error *err)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = fetcher_create(&w->fetcher, err);
    if (st)
        free(w);
    else
        *out = w;
    return st;
}

void watch_destroy(struct watch *w)
{
    if (!w)
        return;
    fetcher_destroy(w->fetcher);
    for (size_t i = 0; i < w->n; i++)
        server_destroy(w->list[i]);
    free(w->list);
    free(w);
}

enum status watch_add(struct watch *w, const struct watch_place *place, struct error *err)
{
    size_t index = 0;
    struct server **longer = realloc(w->list, (w->n + 1) * sizeof *longer);
    if (!longer)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    w->list = longer;
    struct server *s = server_create(place);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = fetcher_add(w->fetcher, &place->target, place->token, &index, err);
    if (st) {
        server_destroy(s);
        return st;
    }
    w->list[w->n++] = s; /* the fetcher counts as we do */
    return OK;
}

size_t watch_count(const struct watch *w)
{
    return w->n;
}

void watch_remove(struct watch *w, size_t index)
{
    server_destroy(w->list[index]);
    fetcher_remove(w->fetcher, index);
    w->n--;
    memmove(&w->list[index], &w->list[index + 1], (w->n - index) * sizeof w->list[0]);
}

const struct target *watch_target(const struct watch *w, size_t index)
{
    return &w->list[index]->target;
}

int watch_pid(const struct watch *w, size_t index)
{
    return w->list[index]->pid;
}

bool watch_is_left(const struct watch *w, size_t index)
{
    return w->list[index]->not_before_ns == INT64_MAX;
}

static void ask(struct watch *w, size_t i)
{
    struct server *s = w->list[i];
    struct error err = ERROR_INIT;
    s->waits = !fetcher_begin(w->fetcher, i, &err);
    if (!s->waits) {
        s->wrong = err;
        s->wrong_state = VALUE_FAILED;
    }
}

void watch_begin(struct watch *w)
{
    int64_t now = clock_monotonic_ns();
    for (size_t i = 0; i < w->n; i++)
        if (!w->list[i]->waits && now >= w->list[i]->not_before_ns)
            ask(w, i);
}

/* ---- answers ---- */

static void swap(struct scrape **a, struct scrape **b)
{
    struct scrape *c = *a;
    *a = *b;
    *b = c;
}

/* The scrape before the one that comes; NULL = none. */
static const struct scrape *last_of(const struct server *s)
{
    return s->has_newest ? s->newest : s->has_base ? s->base : NULL;
}

static void make_base(struct server *s)
{
    if (!s->has_newest)
        return;
    swap(&s->base, &s->newest);
    s->has_base = true;
    s->has_newest = false;
}

/* A window in which a server started anew says so once, and ends there. */
static void take_scrape(struct server *s, const struct fetch_result *r)
{
    s->next->mono_ns = r->mono_ns;
    s->next->unix_ns = r->unix_ns;
    memcpy(s->next->start_mark, r->start_mark, sizeof s->next->start_mark);
    if (s->restarted)
        make_base(s);
    s->restarted = last_of(s) && signals_restarted(last_of(s), s->next);
    if (!last_of(s) || signals_moved(last_of(s), s->next))
        s->moved_ns = s->next->mono_ns;
    swap(&s->newest, &s->next);
    s->has_newest = true;
    if (!s->has_base)
        make_base(s);
}

void watch_mark(struct watch *w)
{
    for (size_t i = 0; i < w->n; i++)
        make_base(w->list[i]);
}

static bool is_json(const struct buf *body)
{
    const char *what = exposition_what_else((struct slice){buf_str(body), body->len});
    return what && strcmp(what, "JSON") == 0;
}

/* Goes on to the next path when metrics cannot be under this one; true = asked again. */
static bool try_next_path(struct watch *w, size_t i, const struct fetch_result *r,
                          const char *reason)
{
    struct server *s = w->list[i];
    struct target next;
    bool other = r->status == 404 || (r->status == 200 && is_json(r->body));
    if (s->target.has_path || s->has_newest || !other)
        return false;
    if (s->path == 0)
        str_clean(s->first_reason, sizeof s->first_reason, reason, strlen(reason));
    s->path = (s->path + 1) % PATHS;
    if (target_with_path(&s->target, paths[s->path], &next, NULL))
        return false;
    next.has_path = false;
    s->target = next;
    fetcher_change(w->fetcher, i, &next);
    if (s->path == 0)
        return false;
    ask(w, i);
    return s->waits;
}

static void take_answer(struct watch *w, size_t i)
{
    struct server *s = w->list[i];
    const struct fetch_result *r = fetcher_result(w->fetcher, i);
    s->waits = false;
    s->wrong = (struct error)ERROR_INIT;
    s->wrong_state = r->state;
    if (r->state != VALUE_OK) {
        fail(&s->wrong, ERR_IO, 0, "%s", r->reason);
    } else {
        struct slice body = {buf_str(r->body), r->body->len};
        enum status st = scrape_take(s->next, body, &s->wrong);
        if (st)
            s->wrong_state = st == ERR_UNSUPPORTED ? VALUE_UNSUPPORTED : VALUE_FAILED;
        else
            take_scrape(s, r);
    }
    if (s->wrong_state == VALUE_OK) {
        s->failures = 0;
        return;
    }
    if (try_next_path(w, i, r, s->wrong.text))
        return;
    if (s->first_reason[0] && s->path == 0)
        fail(&s->wrong, ERR_IO, 0, "%s", s->first_reason);
    unsigned shift = s->failures < 5 ? s->failures : 5;
    int64_t pause = (int64_t)1 << shift;
    s->failures++;
    s->not_before_ns = clock_monotonic_ns() +
                       (pause < BACKOFF_MAX_S ? pause : BACKOFF_MAX_S) * INT64_C(1000000000);
    /* somebody's other service at a usual port, which nobody named: left in peace from now on */
    if (!s->is_named && !last_of(s) && s->wrong_state == VALUE_UNSUPPORTED)
        s->not_before_ns = INT64_MAX;
}

/* The server whose answer is to be taken next: in turn, so that none waits for long. -1 = none. */
static int next_answer(struct watch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        size_t at = (w->turn + i) % w->n;
        if (w->list[at]->waits && !fetcher_is_busy(w->fetcher, at))
            return (int)at;
    }
    return -1;
}

size_t watch_step(struct watch *w, int timeout_ms)
{
    size_t waiting = 0;
    fetcher_step(w->fetcher, next_answer(w) >= 0 ? 0 : timeout_ms);
    int at = next_answer(w);
    if (at >= 0) {
        take_answer(w, (size_t)at);
        w->turn = (size_t)at + 1;
    }
    for (size_t i = 0; i < w->n; i++)
        waiting += w->list[i]->waits;
    return waiting;
}

bool watch_waits(const struct watch *w, size_t index)
{
    return w->list[index]->waits;
}

/* ---- what is known ---- */

/* Numbers of an answer that is not the last one. */
static void make_stale(struct watch_view *v)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct value *x = &v->signals.list[i].value;
        double number = x->v;
        if (!value_has_number(x))
            continue;
        value_set_state(x, SOURCE_SERVER, VALUE_STALE, "%.1f s old: %s", v->age_seconds, v->reason);
        x->v = number;
    }
}

static void view_scrapes(const struct server *s, struct watch_view *v)
{
    const struct scrape *last = last_of(s);
    signals_read(s->has_newest && s->has_base ? s->base : NULL, last, &v->signals);
    /* over more than one window: a short one does not show that nothing moves */
    signals_doubt_gauges(&v->signals, (double)(last->mono_ns - s->moved_ns) * 1e-9);
    v->is_known = true;
    v->model = last->model;
    v->models = last->models;
    v->is_router = last->is_router;
    v->unix_ns = last->unix_ns;
    v->age_seconds = (double)(clock_monotonic_ns() - last->mono_ns) * 1e-9;
    if (v->state != VALUE_OK)
        make_stale(v);
}

void watch_view(const struct watch *w, size_t index, struct watch_view *out)
{
    const struct server *s = w->list[index];
    const struct fetch_result *r = fetcher_result(w->fetcher, index);
    *out = (struct watch_view){
        .target = &s->target, .pid = s->pid, .is_named = s->is_named, .model = ""};
    out->state = s->waits ? VALUE_WARMING : s->wrong_state;
    out->is_absent = r->is_absent;
    out->answer_seconds = r->seconds;
    if (out->state != VALUE_OK)
        str_clean(out->reason, sizeof out->reason, s->waits ? r->reason : s->wrong.text,
                  strlen(s->waits ? r->reason : s->wrong.text));
    if (last_of(s))
        view_scrapes(s, out);
    else
        signals_none(&out->signals, out->state == VALUE_OK ? VALUE_WARMING : out->state,
                     out->reason);
}
