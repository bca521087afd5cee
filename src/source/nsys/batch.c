/* SPDX-License-Identifier: MIT */
#include "source/nsys/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "source/nsys/decode.h"

/* About 1 MiB of values, whatever the number of columns. */
enum { BATCH_CELLS = 131072, BATCH_SAMPLES_MAX = 1024 };

enum status nsys_batch_init(struct nsys_batch *b, struct nsys_gpu *gpu, int64_t epoch_ns,
                            const struct event_sink *sink, struct error *err)
{
    *b = (struct nsys_batch){.gpu = gpu, .epoch_ns = epoch_ns, .sink = sink};
    b->column = calloc(gpu->n_series ? gpu->n_series : 1, sizeof *b->column);
    b->series = calloc(gpu->n_series ? gpu->n_series : 1, sizeof *b->series);
    for (size_t i = 0; b->column && b->series && i < gpu->n_series; i++) {
        b->column[i] = gpu->series[i].parts ? (int32_t)b->columns : -1;
        if (gpu->series[i].parts)
            b->series[b->columns++] = (uint32_t)i;
    }
    size_t columns = b->columns ? b->columns : 1;
    b->cap = BATCH_CELLS / columns;
    b->cap = b->cap < 1 ? 1 : b->cap > BATCH_SAMPLES_MAX ? BATCH_SAMPLES_MAX : b->cap;
    b->t0 = calloc(b->cap, sizeof *b->t0);
    b->t1 = calloc(b->cap, sizeof *b->t1);
    b->values = calloc(columns * b->cap, sizeof *b->values);
    b->parts = calloc(columns, sizeof *b->parts);
    if (b->column && b->series && b->t0 && b->t1 && b->values && b->parts)
        return OK;
    nsys_batch_fini(b);
    return fail(err, ERR_NOMEM, 0, "out of memory");
}

void nsys_batch_fini(struct nsys_batch *b)
{
    free(b->column);
    free(b->series);
    free(b->t0);
    free(b->t1);
    free(b->values);
    free(b->parts);
    *b = (struct nsys_batch){0};
}

static enum status send(struct nsys_batch *b, struct error *err)
{
    if (b->n == 0)
        return OK;
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.gpu = b->gpu->gpu,
                                     .source = SOURCE_NSYS,
                                     .n = b->n,
                                     .t0_ns = b->t0,
                                     .t1_ns = b->t1,
                                     .columns = b->columns,
                                     .series = b->series,
                                     .values = b->values,
                                     .stride = b->cap}};
    b->n = 0;
    return event_push(b->sink, &ev, err);
}

/* A sample stands for the time since the one before, but never for more than one and a half
 * periods: what is longer is a gap. */
static int64_t begin_of(const struct nsys_batch *b)
{
    int64_t period = b->gpu->period_ns;
    if (b->any && b->stamp_ns - b->before_ns <= period + period / 2)
        return b->before_ns;
    return b->stamp_ns - period;
}

/* The values of a sum count only when all its rows came. */
static enum status close_sample(struct nsys_batch *b, struct error *err)
{
    if (!b->open)
        return OK;
    for (size_t c = 0; c < b->columns; c++)
        if (b->parts[c] != b->gpu->series[b->series[c]].parts)
            b->values[c * b->cap + b->n] = NAN;
    b->t0[b->n] = b->epoch_ns + begin_of(b);
    b->t1[b->n] = b->epoch_ns + b->stamp_ns;
    b->before_ns = b->stamp_ns;
    b->any = true;
    b->open = false;
    b->n++;
    return b->n == b->cap ? send(b, err) : OK;
}

static void open_sample(struct nsys_batch *b, int64_t stamp_ns)
{
    b->stamp_ns = stamp_ns;
    b->open = true;
    memset(b->parts, 0, b->columns);
    for (size_t c = 0; c < b->columns; c++)
        b->values[c * b->cap + b->n] = 0;
}

/* Rows of a sample mostly come in the order of their ids. */
static struct nsys_raw *find_raw(struct nsys_batch *b, int64_t metric_id)
{
    struct nsys_gpu *g = b->gpu;
    size_t next = b->hint + 1 < g->n_raw ? b->hint + 1 : 0;
    if (next < g->n_raw && g->raw[next].metric_id == metric_id) {
        b->hint = next;
        return &g->raw[next];
    }
    struct nsys_raw *r = nsys_raw_find(g, metric_id);
    if (r)
        b->hint = (size_t)(r - g->raw);
    return r;
}

static void take_value(struct nsys_batch *b, struct nsys_raw *r, bool number, int64_t payload)
{
    double v;
    if (!number || !nsys_decode(r, payload, &v)) {
        r->refused++;
        return;
    }
    size_t c = (size_t)b->column[r->target];
    if (b->parts[c] >= b->gpu->series[r->target].parts) {
        r->clash++; /* the first one stands */
        return;
    }
    r->rows++;
    r->sum += v;
    if (v > r->max)
        r->max = v;
    b->values[c * b->cap + b->n] += v / r->divisor;
    b->parts[c]++;
}

enum status nsys_batch_row(struct nsys_batch *b, int64_t stamp_ns, const struct nsys_cell *id,
                           const struct nsys_cell *value, uint64_t *unknown, struct error *err)
{
    if (b->open && stamp_ns != b->stamp_ns) {
        if (stamp_ns < b->stamp_ns)
            return fail(err, ERR_ORDER, 0, "rows are not in the order of their times");
        enum status st = close_sample(b, err);
        if (st)
            return st;
    }
    if (!b->open)
        open_sample(b, stamp_ns);
    struct nsys_raw *r = id->is_integer ? find_raw(b, id->v) : NULL;
    if (!r)
        ++*unknown;
    else if (r->target >= 0 && b->column[r->target] >= 0) /* else known, but not asked for */
        take_value(b, r, value->is_integer, value->v);
    return OK;
}

enum status nsys_batch_flush(struct nsys_batch *b, struct error *err)
{
    enum status st = close_sample(b, err);
    return st ? st : send(b, err);
}
