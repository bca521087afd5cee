/* SPDX-License-Identifier: MIT */
#include "collect/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/planned.h"
#include "collect/rank.h"
#include "collect/reading.h"
#include "collect/snapshot.h"

static const int64_t first_width_ns = INT64_C(10000000);

/* What lies further away was stamped by a clock that was not set yet. */
static const int64_t longest_ns = INT64_C(10) * 365 * 86400 * 1000000000;

/* A column as it grows: value × time, so that columns can be put together. */
struct cell {
    float min, max;
    double sum, weight_ns; /* weight 0 = nothing measured */
};

struct track {
    struct cell *cells; /* owned; NULL = no sample yet */
    int64_t last_ns;    /* end of the newest sample */
    enum source_id source;
};

struct gpu {
    struct track tracks[METRIC_COUNT];
    struct planned plans[SOURCE_COUNT];
};

struct server {
    char url[SERVER_URL_SIZE];
    struct track tracks[SERVER_METRICS];
};

struct timeline {
    int64_t begin_ns, end_ns, width_ns;
    bool is_partial;
    struct gpu *gpus[COLUMN_GPUS_MAX];            /* owned; NULL = not seen */
    struct server *servers[TIMELINE_SERVERS_MAX]; /* owned; the first n_servers */
    size_t n_servers;
};

enum status timeline_create(struct timeline **out, struct error *err)
{
    struct timeline *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->width_ns = first_width_ns;
    *out = t;
    return OK;
}

static void gpu_destroy(struct gpu *g)
{
    if (!g)
        return;
    for (size_t m = 0; m < METRIC_COUNT; m++)
        free(g->tracks[m].cells);
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        planned_fini(&g->plans[i]);
    free(g);
}

void timeline_destroy(struct timeline *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < COLUMN_GPUS_MAX; i++)
        gpu_destroy(t->gpus[i]);
    for (size_t i = 0; i < t->n_servers; i++) {
        for (size_t m = 0; m < SERVER_METRICS; m++)
            free(t->servers[i]->tracks[m].cells);
        free(t->servers[i]);
    }
    free(t);
}

/* ---- widening ---- */

static struct cell joined(const struct cell *a, const struct cell *b)
{
    if (a->weight_ns <= 0 || b->weight_ns <= 0)
        return a->weight_ns > 0 ? *a : *b;
    return (struct cell){fminf(a->min, b->min), fmaxf(a->max, b->max), a->sum + b->sum,
                         a->weight_ns + b->weight_ns};
}

static void fold(struct track *k)
{
    if (!k->cells)
        return;
    for (size_t i = 0; i < TIMELINE_COLUMNS / 2; i++)
        k->cells[i] = joined(&k->cells[2 * i], &k->cells[2 * i + 1]);
    memset(k->cells + TIMELINE_COLUMNS / 2, 0, TIMELINE_COLUMNS / 2 * sizeof *k->cells);
}

static void widen(struct timeline *t)
{
    for (size_t i = 0; i < COLUMN_GPUS_MAX; i++)
        for (size_t m = 0; t->gpus[i] && m < METRIC_COUNT; m++)
            fold(&t->gpus[i]->tracks[m]);
    for (size_t i = 0; i < t->n_servers; i++)
        for (size_t m = 0; m < SERVER_METRICS; m++)
            fold(&t->servers[i]->tracks[m]);
    t->width_ns *= 2;
}

static void empty(struct track *k)
{
    if (k->cells)
        memset(k->cells, 0, TIMELINE_COLUMNS * sizeof *k->cells);
    k->last_ns = 0;
}

/* Makes room up to a time. */
static void reach(struct timeline *t, int64_t t1_ns)
{
    if (t1_ns > t->end_ns)
        t->end_ns = t1_ns;
    while ((t->end_ns - t->begin_ns - 1) / t->width_ns >= TIMELINE_COLUMNS)
        widen(t);
}

/* ---- samples ---- */

static enum status track_open(struct track *k, struct error *err)
{
    if (!k->cells)
        k->cells = calloc(TIMELINE_COLUMNS, sizeof *k->cells);
    return k->cells ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
}

static void add(struct cell *c, double v, int64_t weight_ns)
{
    const struct cell one = {(float)v, (float)v, v * (double)weight_ns, (double)weight_ns};
    *c = joined(c, &one);
}

/* A sample stands in each column that it touches, with the time that it has there; an instant
 * counts as a nanosecond. */
static void take_sample(struct timeline *t, struct track *k, int64_t t0_ns, int64_t t1_ns, double v)
{
    bool is_number = isfinite((float)v) && fabs(v) < 1e30; /* sums of more are not finite */
    if (t1_ns <= t->begin_ns || t1_ns - t->begin_ns > longest_ns || !is_number)
        return;
    int64_t from = t0_ns < t->begin_ns ? t->begin_ns : t0_ns;
    from = from < t1_ns ? from : t1_ns - 1;
    reach(t, t1_ns);
    for (int64_t i = (from - t->begin_ns) / t->width_ns; from < t1_ns; i++) {
        int64_t edge = t->begin_ns + (i + 1) * t->width_ns;
        int64_t to = edge < t1_ns ? edge : t1_ns;
        add(&k->cells[i], v, to - from);
        from = to;
    }
    k->last_ns = t1_ns;
}

static enum status take_plan(struct timeline *t, const struct event_plan *ev, struct error *err)
{
    t->is_partial |= ev->gpu >= COLUMN_GPUS_MAX;
    if (ev->gpu >= COLUMN_GPUS_MAX)
        return OK;
    if (!t->gpus[ev->gpu])
        t->gpus[ev->gpu] = calloc(1, sizeof *t->gpus[ev->gpu]);
    struct gpu *g = t->gpus[ev->gpu];
    return g ? planned_set(&g->plans[ev->source], ev, planned_is_curve, err)
             : fail(err, ERR_NOMEM, 0, "out of memory");
}

/* A reading without a length stands for the time since the one before it, as in the statistics. */
static int64_t begin_of(const struct track *k, const struct event_samples *ev, size_t i,
                        double rate_hz)
{
    int64_t t0_ns = ev->t0_ns[i], t1_ns = ev->t1_ns[i];
    if (t1_ns > t0_ns || ev->source != SOURCE_NVML)
        return t0_ns;
    return t1_ns - reading_length_ns(t1_ns, k->last_ns, rate_hz);
}

/* The first sample can bear a time from before the clock was set, or from far in the future: then
 * the stream begins anew with what comes. */
static void check_begin(struct timeline *t, int64_t t0_ns)
{
    bool was_unset = t->begin_ns < CLOCK_WALL_MIN_NS && t0_ns >= CLOCK_WALL_MIN_NS;
    if (t->begin_ns && !was_unset && t0_ns > t->begin_ns - longest_ns)
        return;
    for (size_t i = 0; i < COLUMN_GPUS_MAX; i++)
        for (size_t m = 0; t->gpus[i] && m < METRIC_COUNT; m++)
            empty(&t->gpus[i]->tracks[m]);
    for (size_t i = 0; i < t->n_servers; i++)
        for (size_t m = 0; m < SERVER_METRICS; m++)
            empty(&t->servers[i]->tracks[m]);
    t->width_ns = first_width_ns;
    t->begin_ns = t->end_ns = t0_ns;
}

static enum status take_samples(struct timeline *t, const struct event_samples *ev,
                                struct error *err)
{
    struct gpu *g = ev->gpu < COLUMN_GPUS_MAX ? t->gpus[ev->gpu] : NULL;
    if (!g || ev->n == 0 || ev->t0_ns[0] <= 0)
        return OK;
    const struct planned *p = &g->plans[ev->source];
    check_begin(t, ev->t0_ns[0]);
    for (size_t c = 0; c < ev->columns; c++) {
        int metric = planned_metric(p, ev->series[c]);
        struct track *k = metric == METRIC_NONE ? NULL : &g->tracks[metric];
        if (!k || !source_may_write(ev->source, ev->t1_ns[ev->n - 1], k->source, k->last_ns))
            continue;
        k->source = ev->source;
        enum status st = track_open(k, err);
        if (st)
            return st;
        for (size_t i = 0; i < ev->n; i++)
            take_sample(t, k, begin_of(k, ev, i, p->rate_hz), ev->t1_ns[i],
                        ev->values[c * ev->stride + i]);
    }
    return OK;
}

static struct server *server_find(const struct timeline *t, const char *url)
{
    for (size_t i = 0; i < t->n_servers; i++)
        if (strncmp(t->servers[i]->url, url, SERVER_URL_SIZE - 1) == 0)
            return t->servers[i];
    return NULL;
}

static struct server *server_add(struct timeline *t, const char *url)
{
    struct server *s = calloc(1, sizeof *s);
    if (s) {
        strncpy(s->url, url, sizeof s->url - 1);
        t->servers[t->n_servers++] = s;
    }
    return s;
}

static enum status take_server(struct timeline *t, const struct event_server *ev, struct error *err)
{
    struct server *s = server_find(t, ev->url);
    t->is_partial |= !s && t->n_servers == TIMELINE_SERVERS_MAX;
    if (t->begin_ns == 0 || ev->t1_ns <= ev->t0_ns || ev->t0_ns <= 0 ||
        (!s && t->n_servers == TIMELINE_SERVERS_MAX))
        return OK;
    if (!s && !(s = server_add(t, ev->url)))
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->n; i++) {
        const struct event_server_metric *m = &ev->metrics[i];
        struct track *k = &s->tracks[m->metric - SERVER_METRIC_FIRST];
        if (m->state != VALUE_OK)
            continue;
        enum status st = track_open(k, err);
        if (st)
            return st;
        /* windows overlap: what is new of this one */
        take_sample(t, k, ev->t0_ns > k->last_ns ? ev->t0_ns : k->last_ns, ev->t1_ns, m->v);
    }
    return OK;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    switch (ev->kind) {
    case EVENT_PLAN:
        return take_plan(self, &ev->u.plan, err);
    case EVENT_SAMPLES:
        return take_samples(self, &ev->u.samples, err);
    case EVENT_SERVER:
        return take_server(self, &ev->u.server, err);
    default:
        return OK;
    }
}

struct event_sink timeline_sink(struct timeline *t)
{
    return (struct event_sink){take, t};
}

/* ---- queries ---- */

int64_t timeline_begin_ns(const struct timeline *t)
{
    return t->begin_ns;
}

int64_t timeline_end_ns(const struct timeline *t)
{
    return t->end_ns;
}

bool timeline_is_partial(const struct timeline *t)
{
    return t->is_partial;
}

int64_t timeline_column_ns(const struct timeline *t)
{
    return t->width_ns;
}

static size_t columns_of(const struct timeline *t, const struct track *k, struct trace_column *out)
{
    size_t n =
        t->end_ns > t->begin_ns ? (size_t)((t->end_ns - t->begin_ns - 1) / t->width_ns) + 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const struct cell *c = k && k->cells ? &k->cells[i] : NULL;
        bool known = c && c->weight_ns > 0;
        out[i] = known ? (struct trace_column){(double)c->min, (double)c->max,
                                               c->sum / c->weight_ns, true}
                       : (struct trace_column){NAN, NAN, NAN, false};
    }
    return n;
}

size_t timeline_gpu(const struct timeline *t, unsigned gpu, enum metric m, struct trace_column *out)
{
    const struct gpu *g = gpu < COLUMN_GPUS_MAX ? t->gpus[gpu] : NULL;
    return columns_of(t, g ? &g->tracks[m] : NULL, out);
}

size_t timeline_server(const struct timeline *t, const char *url, enum metric m,
                       struct trace_column *out)
{
    const struct server *s = server_find(t, url);
    return columns_of(t, s ? &s->tracks[m - SERVER_METRIC_FIRST] : NULL, out);
}
