/* SPDX-License-Identifier: MIT */
#include "collect/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "collect/notes.h"
#include "collect/tally.h"

/* One series of one source on one GPU, with all that arrived for it. */
struct series {
    int metric;
    enum unit unit;
    enum value_state state;
    char *name, *counter, *reason; /* owned */
    double resolution;
    struct tally tally;
    uint64_t above_one; /* samples of a ratio above 1 */
    uint64_t idle;      /* samples of a ratio that show no work */
};

/* What one source says of one GPU. */
struct feed {
    unsigned gpu;
    enum source_id source;
    double rate_hz;
    struct series *series;
    size_t n_series;
    uint64_t samples, gaps;
    int64_t t0_ns, t1_ns, covered_ns, longest_gap_ns;
};

struct identity {
    unsigned index;
    char name[96], uuid[64], chip[32], pci_bus[32];
};

struct collector {
    char tool[96], host[128];
    struct identity *gpus;
    size_t n_gpus;
    struct feed *feeds;
    size_t n_feeds;
    struct notes notes;
};

enum status collector_create(struct collector **out, struct error *err)
{
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = c;
    return OK;
}

static void series_fini(struct series *s)
{
    free(s->name);
    free(s->counter);
    free(s->reason);
    tally_fini(&s->tally);
}

static void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < f->n_series; i++)
        series_fini(&f->series[i]);
    free(f->series);
}

void collector_destroy(struct collector *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_feeds; i++)
        feed_fini(&c->feeds[i]);
    free(c->feeds);
    free(c->gpus);
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

static enum status take_gpu(struct collector *c, const struct event_gpu *ev, struct error *err)
{
    struct identity *g = NULL;
    for (size_t i = 0; i < c->n_gpus; i++)
        if (c->gpus[i].index == ev->gpu)
            g = &c->gpus[i];
    if (!g)
        g = append((void **)&c->gpus, &c->n_gpus, sizeof *g);
    if (!g)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    g->index = ev->gpu;
    copy(g->name, sizeof g->name, ev->name);
    copy(g->uuid, sizeof g->uuid, ev->uuid);
    copy(g->chip, sizeof g->chip, ev->chip);
    copy(g->pci_bus, sizeof g->pci_bus, ev->pci_bus);
    return OK;
}

static struct feed *find_feed(struct collector *c, unsigned gpu, enum source_id source)
{
    for (size_t i = 0; i < c->n_feeds; i++)
        if (c->feeds[i].gpu == gpu && c->feeds[i].source == source)
            return &c->feeds[i];
    return NULL;
}

static bool set_text(char **dst, const char *src)
{
    size_t size = 3 * strlen(src) + 1; /* cleaning turns a byte into three at most */
    char *text = malloc(size);
    if (!text)
        return false;
    str_clean(text, size, src, strlen(src));
    free(*dst);
    *dst = text;
    return true;
}

static bool series_set(struct series *s, const struct plan_series *p)
{
    s->metric = p->metric;
    s->unit = p->unit;
    s->state = p->state;
    s->resolution = p->resolution;
    return set_text(&s->name, p->name) && set_text(&s->counter, p->counter) &&
           set_text(&s->reason, p->reason);
}

/* A first plan makes the feed; a later one may only change states and reasons. */
static enum status take_plan(struct collector *c, const struct event_plan *ev, struct error *err)
{
    struct feed *f = find_feed(c, ev->gpu, ev->source);
    if (f && f->n_series != ev->n)
        return fail(err, ERR_BAD_INPUT, 0, "a later plan of GPU %u has %zu series instead of %zu",
                    ev->gpu, ev->n, f->n_series);
    if (!f) {
        f = append((void **)&c->feeds, &c->n_feeds, sizeof *f);
        if (!f)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        f->gpu = ev->gpu;
        f->source = ev->source;
        f->series = calloc(ev->n ? ev->n : 1, sizeof *f->series);
        if (!f->series)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        f->n_series = ev->n;
        for (size_t i = 0; i < ev->n; i++)
            tally_init(&f->series[i].tally);
    }
    f->rate_hz = ev->rate_hz;
    for (size_t i = 0; i < ev->n; i++)
        if (!series_set(&f->series[i], &ev->series[i]))
            return fail(err, ERR_NOMEM, 0, "out of memory");
    return OK;
}

/* Coverage: which share of the wall time was really measured, and where it broke. */
static void take_time(struct feed *f, int64_t t0_ns, int64_t t1_ns)
{
    if (f->samples == 0)
        f->t0_ns = t0_ns;
    else if (t0_ns > f->t1_ns) {
        f->gaps++;
        if (t0_ns - f->t1_ns > f->longest_gap_ns)
            f->longest_gap_ns = t0_ns - f->t1_ns;
    }
    f->samples++;
    f->covered_ns += t1_ns - t0_ns;
    f->t1_ns = t1_ns;
}

static void take_values(struct series *s, const double *values, size_t n)
{
    double idle = s->resolution > SNAPSHOT_IDLE_SHARE ? s->resolution : SNAPSHOT_IDLE_SHARE;
    for (size_t i = 0; i < n; i++) {
        tally_add(&s->tally, values[i]);
        s->above_one += s->unit == UNIT_RATIO && values[i] > 1;
        /* a little slack: four rows of 0.01 add up to a sum that is not the double 0.04 */
        s->idle += s->unit == UNIT_RATIO && isfinite(values[i]) && values[i] <= idle + 1e-9;
    }
}

static enum status take_samples(struct collector *c, const struct event_samples *ev,
                                struct error *err)
{
    struct feed *f = find_feed(c, ev->gpu, ev->source);
    if (!f)
        return fail(err, ERR_BAD_INPUT, 0, "samples of GPU %u before its plan", ev->gpu);
    for (size_t i = 0; i < ev->n; i++)
        take_time(f, ev->t0_ns[i], ev->t1_ns[i]);
    for (size_t col = 0; col < ev->columns; col++) {
        if (ev->series[col] >= f->n_series)
            return fail(err, ERR_BAD_INPUT, 0, "samples of a series that the plan of GPU %u lacks",
                        ev->gpu);
        struct series *s = &f->series[ev->series[col]];
        take_values(s, ev->values + col * ev->stride, ev->n);
    }
    return OK;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct collector *c = self;
    switch (ev->kind) {
    case EVENT_HELLO:
        copy(c->tool, sizeof c->tool, ev->u.hello.tool);
        copy(c->host, sizeof c->host, ev->u.hello.host);
        return OK;
    case EVENT_GPU:
        return take_gpu(c, &ev->u.gpu, err);
    case EVENT_PLAN:
        return take_plan(c, &ev->u.plan, err);
    case EVENT_SAMPLES:
        return take_samples(c, &ev->u.samples, err);
    case EVENT_NOTE:
        return notes_add(&c->notes, &ev->u.note, err);
    case EVENT_PROCESSES:
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

static const struct metric_stats no_stats = {
    .min = NAN, .p05 = NAN, .p50 = NAN, .p95 = NAN, .max = NAN, .idle_share = NAN};

static void stats_of(const struct feed *f, const struct series *s, struct metric_stats *out)
{
    *out = no_stats;
    copy(out->counter, sizeof out->counter, s->counter);
    out->samples = s->tally.count;
    out->resolution = s->resolution;
    enum value_state state = s->state;
    if (state != VALUE_OK && state != VALUE_SUSPECT) {
        value_set_state(&out->value, f->source, state, "%s", s->reason);
        return;
    }
    if (s->tally.count == 0) {
        value_set_state(&out->value, f->source, VALUE_FAILED, "no usable sample%s%s",
                        s->reason[0] ? ": " : "", s->reason);
        return;
    }
    value_set(&out->value, f->source, f->t1_ns, tally_mean(&s->tally));
    out->min = s->tally.min;
    out->p05 = tally_quantile(&s->tally, 0.05);
    out->p50 = tally_quantile(&s->tally, 0.50);
    out->p95 = tally_quantile(&s->tally, 0.95);
    out->max = s->tally.max;
    if (s->unit == UNIT_RATIO)
        out->idle_share = (double)s->idle / (double)s->tally.count;
    /* A share above 1 cannot be true, whatever the source thinks of it. */
    if (s->above_one)
        value_set_state(&out->value, f->source, VALUE_SUSPECT,
                        "%llu of %llu samples above 100 %%%s%s", (unsigned long long)s->above_one,
                        (unsigned long long)s->tally.count, s->reason[0] ? "; " : "", s->reason);
    else if (state == VALUE_SUSPECT)
        value_set_state(&out->value, f->source, state, "%s", s->reason);
}

/* Of two sources for one metric: one with a number wins, then the one that came first. */
static bool better(const struct metric_stats *candidate, const struct metric_stats *have)
{
    if (have->value.source == SOURCE_NONE)
        return true;
    return value_has_number(&candidate->value) && !value_has_number(&have->value);
}

static enum status add_feed(struct gpu_snapshot *g, const struct feed *f, struct error *err)
{
    size_t extras = 0;
    for (size_t i = 0; i < f->n_series; i++)
        extras += f->series[i].metric == METRIC_NONE;
    if (extras) {
        struct extra_stats *grown = realloc(g->extras, (g->n_extras + extras) * sizeof *grown);
        if (!grown)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        g->extras = grown;
    }
    for (size_t i = 0; i < f->n_series; i++) {
        const struct series *s = &f->series[i];
        if (s->metric == METRIC_NONE) {
            struct extra_stats *x = &g->extras[g->n_extras++];
            copy(x->name, sizeof x->name, s->name);
            stats_of(f, s, &x->stats);
            continue;
        }
        struct metric_stats stats;
        stats_of(f, s, &stats);
        if (better(&stats, &g->metrics[s->metric]))
            g->metrics[s->metric] = stats;
    }
    return OK;
}

/* The feed with the hardware counters tells rate, window and coverage of the GPU. */
static void set_window(struct gpu_snapshot *g, const struct feed *f)
{
    g->backend = f->source;
    g->rate_hz = f->rate_hz;
    g->samples = f->samples;
    g->t0_ns = f->t0_ns;
    g->t1_ns = f->t1_ns;
    g->gaps = f->gaps;
    g->longest_gap_s = (double)f->longest_gap_ns * 1e-9;
    g->coverage = f->t1_ns > f->t0_ns ? (double)f->covered_ns / (double)(f->t1_ns - f->t0_ns) : NAN;
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
static enum status fill_gpu(const struct collector *c, struct gpu_snapshot *g, struct error *err)
{
    enum status st = OK;
    for (size_t k = 0; !st && k < c->n_feeds; k++) {
        const struct feed *f = &c->feeds[k];
        if (f->gpu != g->index)
            continue;
        if (g->backend == SOURCE_NONE)
            set_window(g, f);
        st = add_feed(g, f, err);
    }
    return st;
}

enum status collector_snapshot(struct collector *c, struct snapshot **out, struct error *err)
{
    struct snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    s->gpus = calloc(c->n_gpus ? c->n_gpus : 1, sizeof *s->gpus);
    s->notes = calloc(c->notes.n + 1, sizeof *s->notes);
    if (!s->gpus || !s->notes) {
        snapshot_destroy(s);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    copy(s->tool, sizeof s->tool, c->tool);
    copy(s->host, sizeof s->host, c->host);
    s->n_notes = notes_copy(&c->notes, s->notes);
    s->n_gpus = c->n_gpus;
    for (size_t i = 0; i < c->n_gpus; i++) {
        init_gpu(&s->gpus[i], &c->gpus[i]);
        enum status st = fill_gpu(c, &s->gpus[i], err);
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
