/* SPDX-License-Identifier: MIT */
#include "collect/serverlist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { SERVERS_MAX = 256 };

static const int64_t anew_ns = 500000000;

void serverlist_fini(struct serverlist *l)
{
    free(l->list);
    *l = (struct serverlist){0};
}

static void copy(char *dst, size_t size, const char *src)
{
    str_clean(dst, size, src, strlen(src));
}

/* NULL: not in the list. */
static struct server_entry *find(const struct serverlist *l, const char *url)
{
    char clean[SERVER_URL_SIZE];
    copy(clean, sizeof clean, url);
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->list[i].newest.url, clean) == 0)
            return &l->list[i];
    return NULL;
}

static void take_out(struct serverlist *l, const char *url)
{
    struct server_entry *e = find(l, url);
    if (!e)
        return;
    l->n--;
    memmove(e, e + 1, (size_t)(&l->list[l->n] - e) * sizeof *e);
}

/* NULL and OK: there are too many. */
static enum status find_or_add(struct serverlist *l, const char *url, struct server_entry **out,
                               struct error *err)
{
    *out = find(l, url);
    if (*out || l->n == SERVERS_MAX)
        return OK;
    struct server_entry *longer = realloc(l->list, (l->n + 1) * sizeof *longer);
    if (!longer)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    l->list = longer;
    *out = &longer[l->n++];
    **out = (struct server_entry){0};
    copy((*out)->newest.url, sizeof(*out)->newest.url, url);
    return OK;
}

static void take_metric(struct server_metric *m, const struct event_server_metric *ev, int64_t t_ns)
{
    copy(m->series, sizeof m->series, ev->series);
    copy(m->freshness, sizeof m->freshness, ev->freshness);
    if (ev->state != VALUE_OK)
        value_set_state(&m->value, SOURCE_SERVER, ev->state, "%s", ev->reason);
    else
        value_set(&m->value, SOURCE_SERVER, t_ns, ev->v);
    if (value_has_number(&m->value))
        m->value.v = ev->v;
    if (ev->state != VALUE_OK)
        return;
    m->mean = (m->mean * (double)m->readings + ev->v) / (double)(m->readings + 1);
    m->max = m->readings && m->max > ev->v ? m->max : ev->v;
    m->readings++;
}

/* A window begins anew now and then (the clock of its beginning is not exact to the millisecond):
 * what was read in the one before still tells of the present, what was before that does not. */
static void roll(struct server_entry *e, const struct event_server *ev)
{
    if (ev->t0_ns - e->newest.t0_ns < anew_ns && e->newest.t0_ns - ev->t0_ns < anew_ns)
        return;
    e->newest.before = server_snapshot_rates(&e->newest);
    for (int i = 0; i < SERVER_METRICS; i++) {
        struct server_metric *m = &e->newest.metrics[i];
        e->before[i] = (struct server_readings){m->readings, m->mean, m->max};
        m->readings = 0;
    }
}

enum status serverlist_take(struct serverlist *l, const struct event_server *ev, struct error *err)
{
    struct server_entry *e = NULL;
    if (ev->is_gone) {
        take_out(l, ev->url);
        return OK;
    }
    enum status st = find_or_add(l, ev->url, &e, err);
    if (st || !e)
        return st;
    struct server_snapshot *s = &e->newest;
    if (l->rolls)
        roll(e, ev);
    /* A server that does not answer now is still the one that it was. */
    if (*ev->kind)
        copy(s->kind, sizeof s->kind, ev->kind);
    if (*ev->model)
        copy(s->model, sizeof s->model, ev->model);
    copy(s->reason, sizeof s->reason, ev->reason);
    s->state = ev->state;
    s->pid = ev->pid;
    s->is_local = ev->is_local;
    s->n_gpu_pids = ev->n_gpu_pids < SERVER_PIDS_MAX ? ev->n_gpu_pids : SERVER_PIDS_MAX;
    for (size_t i = 0; i < s->n_gpu_pids; i++)
        s->gpu_pids[i] = ev->gpu_pids[i];
    s->t0_ns = ev->t0_ns;
    s->t1_ns = ev->t1_ns;
    for (int i = 0; i < SERVER_METRICS; i++) {
        s->metrics[i].series[0] = s->metrics[i].freshness[0] = '\0';
        value_set_state(&s->metrics[i].value, SOURCE_SERVER, VALUE_UNSUPPORTED,
                        "the server's event does not have it");
    }
    for (size_t i = 0; i < ev->n; i++) {
        int index = (int)ev->metrics[i].metric - SERVER_METRIC_FIRST;
        if (index >= 0 && index < SERVER_METRICS)
            take_metric(&s->metrics[index], &ev->metrics[i], ev->t1_ns);
    }
    return OK;
}

void serverlist_forget(struct serverlist *l)
{
    for (size_t i = 0; i < l->n; i++)
        for (int m = 0; m < SERVER_METRICS; m++)
            l->list[i].newest.metrics[m].readings = l->list[i].before[m].n = 0;
}

static void add_readings(struct server_metric *m, const struct server_readings *more)
{
    if (more->n == 0)
        return;
    double sum = m->readings ? m->mean * (double)m->readings : 0;
    m->max = m->readings && m->max > more->max ? m->max : more->max;
    m->readings += more->n;
    m->mean = (sum + more->mean * (double)more->n) / (double)m->readings;
}

enum status serverlist_copy(const struct serverlist *l, struct server_snapshot **out, size_t *n,
                            struct error *err)
{
    struct server_snapshot *list = calloc(l->n + 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < l->n; i++) {
        list[i] = l->list[i].newest;
        for (int m = 0; m < SERVER_METRICS && l->rolls; m++)
            add_readings(&list[i].metrics[m], &l->list[i].before[m]);
    }
    *out = list;
    *n = l->n;
    return OK;
}
