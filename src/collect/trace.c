/* SPDX-License-Identifier: MIT */
#include "collect/trace.h"

#include <math.h>
#include <stdlib.h>

#include "collect/planned.h"
#include "collect/rank.h"

/* Samples do not overlap; what begins so much earlier was stamped by a clock that was set back. */
static const int64_t back_ns = INT64_C(1000000000);

struct bucket {
    float min, max, mean; /* NaN = nothing measured */
};

/* One metric of one GPU. Bucket number b (UNIX time ÷ TRACE_BUCKET_NS) is at ring[b modulo size].
 */
struct track {
    struct bucket *ring; /* owned; NULL = no sample yet */
    int64_t head;        /* number of the newest bucket */
    uint32_t head_n;     /* samples in it */
    int64_t last_ns;     /* end of the newest sample */
    int64_t hold;        /* buckets for which a reading holds */
    enum source_id source;
};

struct gpu {
    struct track tracks[METRIC_COUNT];
    struct planned plans[SOURCE_COUNT];
};

struct trace {
    struct gpu *gpus[TRACE_GPUS_MAX]; /* owned; NULL = not seen */
    int64_t newest_ns;
};

enum status trace_create(struct trace **out, struct error *err)
{
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = t;
    return OK;
}

void trace_destroy(struct trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < TRACE_GPUS_MAX; i++) {
        struct gpu *g = t->gpus[i];
        if (!g)
            continue;
        for (size_t k = 0; k < METRIC_COUNT; k++)
            free(g->tracks[k].ring);
        for (size_t k = 0; k < SOURCE_COUNT; k++)
            planned_fini(&g->plans[k]);
        free(g);
    }
    free(t);
}

/* ---- plans ---- */

static struct gpu *gpu_of(struct trace *t, unsigned index)
{
    if (index >= TRACE_GPUS_MAX)
        return NULL;
    if (!t->gpus[index])
        t->gpus[index] = calloc(1, sizeof *t->gpus[index]);
    return t->gpus[index];
}

static enum status take_plan(struct trace *t, const struct event_plan *ev, struct error *err)
{
    if (ev->gpu >= TRACE_GPUS_MAX)
        return OK;
    struct gpu *g = gpu_of(t, ev->gpu);
    return g ? planned_set(&g->plans[ev->source], ev, planned_is_curve, err)
             : fail(err, ERR_NOMEM, 0, "out of memory");
}

/* ---- samples ---- */

static struct bucket *bucket_at(const struct track *k, int64_t number)
{
    return &k->ring[number % TRACE_BUCKETS];
}

/* Empties the buckets up to number, which becomes the newest. */
static void advance(struct track *k, int64_t number)
{
    int64_t from = number - k->head > TRACE_BUCKETS ? number - TRACE_BUCKETS : k->head;
    for (int64_t b = from + 1; b <= number; b++)
        *bucket_at(k, b) = (struct bucket){NAN, NAN, NAN};
    k->head = number;
    k->head_n = 0;
}

static void forget(struct track *k)
{
    for (size_t i = 0; i < TRACE_BUCKETS; i++)
        k->ring[i] = (struct bucket){NAN, NAN, NAN};
    k->head_n = 0;
    k->last_ns = 0;
}

static void add(struct bucket *b, uint32_t *n, double v)
{
    float f = (float)v;
    if (*n == 0 || isnan(b->mean)) {
        *b = (struct bucket){f, f, f};
        *n = 1;
        return;
    }
    (*n)++;
    b->min = fminf(b->min, f);
    b->max = fmaxf(b->max, f);
    b->mean += (f - b->mean) / (float)*n;
}

/* A sample that is longer than a bucket stands in each one that ends within it. */
static void take_sample(struct track *k, int64_t t0_ns, int64_t t1_ns, double v)
{
    int64_t last = (t1_ns - 1) / TRACE_BUCKET_NS, first = t0_ns / TRACE_BUCKET_NS;
    if (first < last && t0_ns % TRACE_BUCKET_NS > TRACE_BUCKET_NS / 2)
        first++;          /* most of that bucket was before */
    if (last - first < 2) /* also of an instant, on a border */
        first = last;     /* one that lies on a border belongs to the later bucket */
    if (last - first >= TRACE_BUCKETS)
        first = last - TRACE_BUCKETS + 1;
    if (k->last_ns == 0)
        k->head = first - 1;
    for (int64_t b = first > k->head ? first : k->head; b <= last; b++) {
        if (b > k->head)
            advance(k, b);
        add(bucket_at(k, b), &k->head_n, v);
    }
    k->last_ns = t1_ns;
}

static int64_t hold_buckets(double rate_hz)
{
    double period = rate_hz > 0 ? 1e9 / rate_hz / (double)TRACE_BUCKET_NS : 0;
    return period < 1 ? 0 : period > 240 ? 480 : (int64_t)(2 * period);
}

static enum status take_column(struct track *k, const struct event_samples *ev, size_t column,
                               double rate_hz, struct error *err)
{
    const double *values = ev->values + column * ev->stride;
    if (!source_may_write(ev->source, ev->t1_ns[ev->n - 1], k->source, k->last_ns))
        return OK;
    k->source = ev->source;
    if (!k->ring) {
        k->ring = malloc(TRACE_BUCKETS * sizeof *k->ring);
        if (!k->ring)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        forget(k);
    }
    k->hold = hold_buckets(rate_hz);
    if (ev->t1_ns[0] < k->last_ns - back_ns)
        forget(k);
    for (size_t i = 0; i < ev->n; i++)
        if (isfinite(values[i]) && ev->t1_ns[i] > 0)
            take_sample(k, ev->t0_ns[i], ev->t1_ns[i], values[i]);
    return OK;
}

static enum status take_samples(struct trace *t, const struct event_samples *ev, struct error *err)
{
    struct gpu *g = ev->gpu < TRACE_GPUS_MAX ? t->gpus[ev->gpu] : NULL;
    if (!g || ev->n == 0)
        return OK;
    const struct planned *p = &g->plans[ev->source];
    for (size_t c = 0; c < ev->columns; c++) {
        int metric = planned_metric(p, ev->series[c]);
        enum status st =
            metric == METRIC_NONE ? OK : take_column(&g->tracks[metric], ev, c, p->rate_hz, err);
        if (st)
            return st;
    }
    int64_t end_ns = ev->t1_ns[ev->n - 1];
    if (end_ns > t->newest_ns || end_ns < t->newest_ns - 10 * back_ns)
        t->newest_ns = end_ns;
    return OK;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    switch (ev->kind) {
    case EVENT_PLAN:
        return take_plan(self, &ev->u.plan, err);
    case EVENT_SAMPLES:
        return take_samples(self, &ev->u.samples, err);
    default:
        return OK;
    }
}

struct event_sink trace_sink(struct trace *t)
{
    return (struct event_sink){take, t};
}

/* ---- queries ---- */

int64_t trace_newest_ns(const struct trace *t)
{
    return t->newest_ns;
}

int64_t trace_oldest_ns(const struct trace *t)
{
    int64_t oldest = INT64_MAX;
    for (size_t i = 0; i < TRACE_GPUS_MAX; i++)
        for (size_t m = 0; t->gpus[i] && m < METRIC_COUNT; m++) {
            const struct track *k = &t->gpus[i]->tracks[m];
            for (int64_t b = k->head - TRACE_BUCKETS + 1; k->ring && b <= k->head; b++)
                if (b > 0 && !isnan(bucket_at(k, b)->mean)) {
                    oldest = b < oldest ? b : oldest;
                    break;
                }
        }
    return oldest == INT64_MAX ? 0 : oldest * TRACE_BUCKET_NS;
}

bool trace_has_gpu(const struct trace *t, unsigned gpu)
{
    return gpu < TRACE_GPUS_MAX && t->gpus[gpu];
}

static const struct trace_column unknown = {NAN, NAN, NAN, false};

static const struct bucket *known_at(const struct track *k, int64_t b)
{
    if (b > k->head || b <= k->head - TRACE_BUCKETS || b < 0)
        return NULL;
    const struct bucket *at = bucket_at(k, b);
    return isnan(at->mean) ? NULL : at;
}

/* The newest reading before bucket b that still holds there. */
static struct trace_column held(const struct track *k, int64_t b)
{
    for (int64_t i = 1; i <= k->hold; i++) {
        const struct bucket *at = known_at(k, b - i);
        if (at)
            return (struct trace_column){(double)at->mean, (double)at->mean, (double)at->mean,
                                         true};
    }
    return unknown;
}

static struct trace_column column_of(const struct track *k, int64_t first, int64_t end)
{
    struct trace_column c = unknown;
    double sum = 0;
    size_t n = 0;
    for (int64_t b = first; b < end; b++) {
        const struct bucket *at = known_at(k, b);
        if (!at)
            continue;
        c.min = n ? fmin(c.min, (double)at->min) : (double)at->min;
        c.max = n ? fmax(c.max, (double)at->max) : (double)at->max;
        sum += (double)at->mean;
        n++;
    }
    if (n == 0)
        return k->hold ? held(k, first) : unknown;
    c.mean = sum / (double)n;
    c.known = true;
    return c;
}

void trace_columns(const struct trace *t, unsigned gpu, enum metric m, int64_t begin_ns,
                   int64_t column_ns, size_t n, struct trace_column *out)
{
    const struct gpu *g = gpu < TRACE_GPUS_MAX ? t->gpus[gpu] : NULL;
    const struct track *k = g ? &g->tracks[m] : NULL;
    int64_t width = column_ns < TRACE_BUCKET_NS ? TRACE_BUCKET_NS : column_ns;
    for (size_t i = 0; i < n; i++) {
        int64_t from = begin_ns + (int64_t)i * width;
        out[i] = k && k->ring && from >= 0
                     ? column_of(k, from / TRACE_BUCKET_NS, (from + width) / TRACE_BUCKET_NS)
                     : unknown;
    }
}

struct trace_column trace_span(const struct trace *t, unsigned gpu, enum metric m, int64_t begin_ns,
                               int64_t end_ns)
{
    struct trace_column c;
    trace_columns(t, gpu, m, begin_ns, end_ns - begin_ns, 1, &c);
    return c;
}
