/* SPDX-License-Identifier: MIT */
#include "loads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/file.h"

static const char *const names[LOADS] = {"decode", "matmul", "bursty", "tail", "idle"};

/* Sums of what fell into each slot, while a recording is read. */
struct reading {
    struct load *load;
    int64_t begin_ns[SOURCE_COUNT];
    unsigned count[SOURCE_COUNT][METRIC_COUNT][LOAD_SLOTS_MAX];
};

static void free_texts(struct plan_series *p)
{
    free((char *)p->name);
    free((char *)p->reason);
    free((char *)p->counter);
}

static enum status take_plan(struct load_source *s, const struct event_plan *ev, struct error *err)
{
    if (!s->series) {
        s->series = calloc(ev->n, sizeof *s->series);
        s->values = calloc(ev->n, sizeof *s->values);
        s->n = ev->n;
        s->slots = LOAD_SECONDS * (ev->source == SOURCE_PM ? LOAD_PM_HZ : 1);
    }
    if (!s->series || !s->values)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    if (ev->n > METRIC_COUNT || ev->n != s->n)
        return fail(err, ERR_BAD_INPUT, 0, "a plan of %zu series", ev->n);
    for (size_t i = 0; i < ev->n; i++) { /* the last plan holds */
        free_texts(&s->series[i]);
        s->series[i] = ev->series[i];
        s->series[i].name = strdup(ev->series[i].name);
        s->series[i].reason = strdup(ev->series[i].reason);
        s->series[i].counter = strdup(ev->series[i].counter);
    }
    return OK;
}

static void take_samples(struct reading *r, const struct event_samples *ev)
{
    struct load_source *s = &r->load->sources[ev->source];
    int64_t *begin_ns = &r->begin_ns[ev->source];
    if (ev->n && !*begin_ns)
        *begin_ns = ev->t0_ns[0];
    for (size_t c = 0; c < ev->columns; c++)
        for (size_t i = 0; i < ev->n; i++) {
            double at_s = (double)(ev->t0_ns[i] - *begin_ns) * 1e-9;
            size_t slot = (size_t)(at_s * (double)s->slots / LOAD_SECONDS + 0.01);
            double v = ev->values[c * ev->stride + i];
            if (slot >= s->slots || !isfinite(v))
                continue;
            unsigned *n = &r->count[ev->source][ev->series[c]][slot];
            double *mean = &s->values[ev->series[c]][slot];
            *mean += (v - *mean) / ++*n;
        }
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct reading *r = self;
    if (ev->kind == EVENT_GPU) {
        snprintf(r->load->gpu, sizeof r->load->gpu, "%s", ev->u.gpu.name);
        if (ev->u.gpu.chip[0])
            snprintf(r->load->chip, sizeof r->load->chip, "%s", ev->u.gpu.chip);
    } else if (ev->kind == EVENT_PLAN) {
        return take_plan(&r->load->sources[ev->u.plan.source], &ev->u.plan, err);
    } else if (ev->kind == EVENT_SAMPLES) {
        take_samples(r, &ev->u.samples);
    }
    return OK;
}

/* The newest sample of a slot or before it; of none, the first one that there is. */
static double held(const struct load_source *s, const unsigned *count, size_t series, size_t slot)
{
    for (size_t i = slot + 1; i-- > 0;)
        if (count[i])
            return s->values[series][i];
    for (size_t i = slot; i < s->slots; i++)
        if (count[i])
            return s->values[series][i];
    return NAN;
}

/* A reading that comes each five seconds holds. */
static void fill(struct reading *r)
{
    for (size_t k = 0; k < SOURCE_COUNT; k++) {
        struct load_source *s = &r->load->sources[k];
        for (size_t i = 0; i < s->n; i++)
            for (size_t slot = 0; slot < s->slots; slot++)
                s->values[i][slot] = held(s, r->count[k][i], i, slot);
    }
}

static enum status read_one(struct load *load, const char *folder, struct error *err)
{
    char path[600];
    struct event_reader *reader = NULL;
    struct reading *r = calloc(1, sizeof *r);
    bool more = true;
    if (!r)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    r->load = load;
    const struct event_sink sink = {take, r};
    snprintf(path, sizeof path, "%s/%s.jsonl.gz", folder, load->name);
    enum status st = event_reader_open(&reader, path, err);
    while (!st && more)
        st = event_reader_next(reader, &sink, &more, err);
    fill(r);
    event_reader_close(reader);
    free(r);
    return st;
}

enum status loads_read(struct load *loads, const char *folder, struct error *err)
{
    enum status st = OK;
    memset(loads, 0, LOADS * sizeof *loads);
    for (size_t i = 0; !st && i < LOADS; i++) {
        loads[i].name = names[i];
        st = read_one(&loads[i], folder, err);
    }
    return st;
}

void loads_fini(struct load *loads)
{
    for (size_t i = 0; i < LOADS; i++)
        for (size_t k = 0; k < SOURCE_COUNT; k++) {
            for (size_t c = 0; c < loads[i].sources[k].n; c++)
                free_texts(&loads[i].sources[k].series[c]);
            free(loads[i].sources[k].series);
            free(loads[i].sources[k].values);
        }
}
