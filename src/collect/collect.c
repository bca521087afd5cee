/* SPDX-License-Identifier: MIT */
#include "collect/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "collect/blend.h"
#include "collect/crosscheck.h"
#include "collect/feed.h"
#include "collect/notes.h"
#include "collect/serverlist.h"

struct identity {
    unsigned index;
    char name[96], uuid[64], chip[32], pci_bus[32];
    struct crosscheck check, check_before; /* before: of the minutes that were closed */
    struct snapshot_process *processes;    /* owned */
    size_t n_processes;
    bool processes_known;
};

struct collector {
    bool is_replay;
    char tool[96], host[128];
    struct identity *gpus;
    size_t n_gpus;
    struct feed *feeds;
    size_t n_feeds;
    struct serverlist servers;
    struct notes notes;
    bool rolls; /* shows the present, not all that came */
};

enum { CHECK_S = 120 };

enum status collector_create(struct collector **out, struct error *err)
{
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = c;
    return OK;
}

void collector_destroy(struct collector *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_feeds; i++)
        feed_fini(&c->feeds[i]);
    free(c->feeds);
    for (size_t i = 0; i < c->n_gpus; i++)
        free(c->gpus[i].processes);
    free(c->gpus);
    serverlist_fini(&c->servers);
    notes_fini(&c->notes);
    free(c);
}

/* One more zeroed element at the end of an array of n; NULL when memory ran out. */
static void *append(void **array, size_t *n, size_t size)
{
    char *grown = realloc(*array, (*n + 1) * size);
    if (!grown)
        return NULL;
    *array = grown;
    void *element = grown + *n * size;
    memset(element, 0, size);
    (*n)++;
    return element;
}

static void copy(char *dst, size_t size, const char *src)
{
    str_clean(dst, size, src ? src : "", src ? strlen(src) : 0);
}

static struct identity *find_gpu(struct collector *c, unsigned index)
{
    for (size_t i = 0; i < c->n_gpus; i++)
        if (c->gpus[i].index == index)
            return &c->gpus[i];
    return NULL;
}

/* Several sources name a GPU, and not each knows everything. */
static void merge(char *dst, size_t size, const char *src)
{
    if (src && *src)
        copy(dst, size, src);
}

static enum status take_gpu(struct collector *c, const struct event_gpu *ev, struct error *err)
{
    struct identity *g = find_gpu(c, ev->gpu);
    if (!g)
        g = append((void **)&c->gpus, &c->n_gpus, sizeof *g);
    if (!g)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    if (g->uuid[0] && ev->uuid[0] && strcmp(g->uuid, ev->uuid) != 0)
        return fail(err, ERR_BAD_INPUT, 0,
                    "two sources count GPUs differently: GPU %u is %s and %s", ev->gpu, g->uuid,
                    ev->uuid);
    g->index = ev->gpu;
    merge(g->name, sizeof g->name, ev->name);
    merge(g->uuid, sizeof g->uuid, ev->uuid);
    merge(g->chip, sizeof g->chip, ev->chip);
    merge(g->pci_bus, sizeof g->pci_bus, ev->pci_bus);
    return OK;
}

static enum status take_processes(struct collector *c, const struct event_processes *ev,
                                  struct error *err)
{
    struct identity *g = find_gpu(c, ev->gpu);
    if (!g)
        return OK;
    struct snapshot_process *list = calloc(ev->n ? ev->n : 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->n; i++) {
        list[i].pid = ev->list[i].pid;
        list[i].gpu_memory_bytes = ev->list[i].gpu_memory_bytes;
        list[i].sm_utilization = ev->list[i].sm_utilization;
        copy(list[i].name, sizeof list[i].name, ev->list[i].name);
    }
    free(g->processes);
    g->processes = list;
    g->n_processes = ev->n;
    g->processes_known = true;
    return OK;
}

static struct feed *find_feed(struct collector *c, unsigned gpu, enum source_id source)
{
    for (size_t i = 0; i < c->n_feeds; i++)
        if (c->feeds[i].gpu == gpu && c->feeds[i].source == source)
            return &c->feeds[i];
    return NULL;
}

static enum status take_plan(struct collector *c, const struct event_plan *ev, struct error *err)
{
    struct feed *f = find_feed(c, ev->gpu, ev->source);
    if (!f) {
        f = append((void **)&c->feeds, &c->n_feeds, sizeof *f);
        if (!f)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        f->gpu = ev->gpu;
        f->source = ev->source;
    }
    return feed_plan(f, ev, err);
}

/* Both sources of the cross-check, at the same time. */
static void cross_check(struct collector *c, const struct feed *f, const struct event_samples *ev)
{
    struct identity *g = find_gpu(c, ev->gpu);
    int metric_of[METRIC_COUNT];
    if (!g || ev->columns > METRIC_COUNT || ev->n == 0)
        return;
    for (size_t col = 0; col < ev->columns; col++)
        metric_of[col] = f->series[ev->series[col]].metric;
    if (ev->source == SOURCE_PM)
        crosscheck_pm(&g->check, ev, metric_of);
    else if (ev->source == SOURCE_GPM)
        crosscheck_gpm(&g->check, ev, metric_of);
}

static enum status take_samples(struct collector *c, const struct event_samples *ev,
                                struct error *err)
{
    struct feed *f = find_feed(c, ev->gpu, ev->source);
    if (!f)
        return fail(err, ERR_BAD_INPUT, 0, "samples of GPU %u before its plan", ev->gpu);
    enum status st = feed_samples(f, ev, err);
    if (!st)
        cross_check(c, f, ev);
    return st;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct collector *c = self;
    switch (ev->kind) {
    case EVENT_HELLO:
        copy(c->tool, sizeof c->tool, ev->u.hello.tool);
        copy(c->host, sizeof c->host, ev->u.hello.host);
        c->is_replay = ev->u.hello.is_replay;
        return OK;
    case EVENT_GPU:
        return take_gpu(c, &ev->u.gpu, err);
    case EVENT_PLAN:
        return take_plan(c, &ev->u.plan, err);
    case EVENT_SAMPLES:
        return take_samples(c, &ev->u.samples, err);
    case EVENT_SERVER:
        return serverlist_take(&c->servers, &ev->u.server, err);
    case EVENT_NOTE:
        return notes_add(&c->notes, &ev->u.note, err);
    case EVENT_PROCESSES:
        return take_processes(c, &ev->u.processes, err);
    case EVENT_BEAT:
    case EVENT_END:
        return OK;
    }
    return OK;
}

struct event_sink collector_sink(struct collector *c)
{
    return (struct event_sink){take, c};
}

void collector_forget(struct collector *c)
{
    for (size_t i = 0; i < c->n_feeds; i++)
        feed_forget(&c->feeds[i]);
    for (size_t i = 0; i < c->n_gpus; i++)
        c->gpus[i].check = c->gpus[i].check_before = (struct crosscheck){0};
    serverlist_forget(&c->servers);
}

/* Over a long time a disagreement that begins would be lost in the mean. */
static void renew_cross_check(struct identity *g)
{
    if (g->check.gpm_seconds < CHECK_S)
        return;
    g->check_before = g->check;
    g->check = (struct crosscheck){0};
}

void collector_roll(struct collector *c, double window_s)
{
    c->rolls = c->notes.rolls = c->servers.rolls = true;
    for (size_t i = 0; i < c->n_feeds; i++)
        feed_roll(&c->feeds[i], (int64_t)(window_s * 1e9));
    for (size_t i = 0; i < c->n_gpus; i++)
        renew_cross_check(&c->gpus[i]);
}

/* Neither number is believed when the two sources disagree. */
static void apply_cross_check(struct gpu_snapshot *g, const struct identity *identity)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        struct value *v = &g->metrics[m].value;
        double pm, gpm, seconds;
        bool old = v->state == VALUE_STALE; /* stays so, and says both */
        char before[VALUE_REASON_SIZE];
        if ((v->state != VALUE_OK && !old) ||
            (!crosscheck_disagrees(&identity->check, (enum metric)m, &pm, &gpm, &seconds) &&
             !crosscheck_disagrees(&identity->check_before, (enum metric)m, &pm, &gpm, &seconds)))
            continue;
        memcpy(before, v->reason, sizeof before);
        value_set_state(v, v->source, old ? VALUE_STALE : VALUE_SUSPECT,
                        "%s%sPM sampling reads %.1f %%, GPM %.1f %% over the same %.0f s", before,
                        old ? "; " : "", 100 * pm, 100 * gpm, seconds);
    }
}

static enum status copy_processes(struct gpu_snapshot *g, const struct identity *identity,
                                  struct error *err)
{
    g->processes_known = identity->processes_known;
    g->processes = calloc(identity->n_processes + 1, sizeof *g->processes);
    if (!g->processes)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    if (identity->n_processes)
        memcpy(g->processes, identity->processes, identity->n_processes * sizeof *g->processes);
    g->n_processes = identity->n_processes;
    return OK;
}

static void init_gpu(struct gpu_snapshot *g, const struct identity *identity)
{
    g->index = identity->index;
    memcpy(g->name, identity->name, sizeof g->name);
    memcpy(g->uuid, identity->uuid, sizeof g->uuid);
    memcpy(g->chip, identity->chip, sizeof g->chip);
    memcpy(g->pci_bus, identity->pci_bus, sizeof g->pci_bus);
    g->coverage = NAN;
    for (int m = 0; m < METRIC_COUNT; m++) {
        struct metric_stats *s = &g->metrics[m];
        *s = no_stats;
        value_set_state(&s->value, SOURCE_NONE, VALUE_UNSUPPORTED, "no source here gives it");
    }
}

/* All that the sources say of one GPU. */
static enum status fill_gpu(const struct collector *c, const struct identity *identity,
                            struct gpu_snapshot *g, struct error *err)
{
    enum status st = blend(c->feeds, c->n_feeds, g, err);
    apply_cross_check(g, identity);
    return st ? st : copy_processes(g, identity, err);
}

enum status collector_snapshot(struct collector *c, struct snapshot **out, struct error *err)
{
    struct snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    s->gpus = calloc(c->n_gpus ? c->n_gpus : 1, sizeof *s->gpus);
    s->notes = calloc(c->notes.n + 1, sizeof *s->notes);
    enum status st = s->gpus && s->notes ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st)
        st = serverlist_copy(&c->servers, &s->servers, &s->n_servers, err);
    if (st) {
        snapshot_destroy(s);
        return st;
    }
    copy(s->tool, sizeof s->tool, c->tool);
    copy(s->host, sizeof s->host, c->host);
    s->is_replay = c->is_replay;
    s->n_notes = notes_copy(&c->notes, s->notes);
    s->n_gpus = c->n_gpus;
    s->taken_ns = c->rolls ? clock_unix_ns() : 0;
    for (size_t i = 0; i < c->n_gpus; i++) {
        init_gpu(&s->gpus[i], &c->gpus[i]);
        st = fill_gpu(c, &c->gpus[i], &s->gpus[i], err);
        if (st) {
            snapshot_destroy(s);
            return st;
        }
        if (s->gpus[i].t1_ns > s->time_ns)
            s->time_ns = s->gpus[i].t1_ns;
    }
    *out = s;
    return OK;
}
