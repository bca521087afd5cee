/* SPDX-License-Identifier: MIT */
#include "source/nsys/batch.h"

#include <math.h>
#include <stdlib.h>

#include "source/nsys/decode.h"

/* About 1 MiB of values, whatever the number of columns. */
enum { BATCH_CELLS = 131072, BATCH_SAMPLES_MAX = 1024 };

/* A row takes 10 bytes at least, and a sample of an honest file has a row for nearly each metric; a
 * forged one can name 20,000 metrics and give each sample one. */
#define CELLS_ALWAYS INT64_C(10000000)

/* Gives a column to each series that has samples. */
static bool make_columns(struct nsys_batch *b)
{
    size_t n = b->gpu->n_series ? b->gpu->n_series : 1;
    b->column = calloc(n, sizeof *b->column);
    b->series = calloc(n, sizeof *b->series);
    if (!b->column || !b->series)
        return false;
    for (size_t i = 0; i < b->gpu->n_series; i++) {
        b->column[i] = b->gpu->series[i].addends ? (int32_t)b->columns : -1;
        if (b->gpu->series[i].addends)
            b->series[b->columns++] = (uint32_t)i;
    }
    return true;
}

static bool make_cells(struct nsys_batch *b)
{
    size_t columns = b->columns ? b->columns : 1;
    b->cap = BATCH_CELLS / columns;
    b->cap = b->cap < 1 ? 1 : b->cap > BATCH_SAMPLES_MAX ? BATCH_SAMPLES_MAX : b->cap;
    b->t0 = calloc(b->cap, sizeof *b->t0);
    b->t1 = calloc(b->cap, sizeof *b->t1);
    b->values = calloc(columns * b->cap, sizeof *b->values);
    b->of = calloc(columns, sizeof *b->of);
    for (size_t c = 0; b->of && c < b->columns; c++) {
        const struct nsys_series *s = &b->gpu->series[b->series[c]];
        b->of[c].divisor = s->divisor;
        b->of[c].all = (uint8_t)((1U << s->addends) - 1);
    }
    return b->t0 && b->t1 && b->values && b->of;
}

/* Rows of one sample can differ in their last digits. Samples are never closer than 5 µs (200 kHz,
 * the most that nsys does). */
static int64_t within(const struct nsys_gpu *gpu, double nominal_hz)
{
    double apart_ns = gpu->apart_ns > 0 ? (double)gpu->apart_ns : 0;
    if (apart_ns == 0 && nominal_hz > 0)
        apart_ns = 1e9 / nominal_hz;
    double ns = 0.01 * apart_ns;
    return ns > 1e9 ? 1000000000 : (int64_t)ns;
}

enum status nsys_batch_init(struct nsys_batch *b, struct nsys_gpu *gpu, int64_t epoch_ns,
                            double nominal_hz, int64_t file_size, const struct event_sink *sink,
                            struct error *err)
{
    *b = (struct nsys_batch){.gpu = gpu, .epoch_ns = epoch_ns, .sink = sink};
    b->cells_left = file_size + CELLS_ALWAYS;
    b->within_ns = within(gpu, nominal_hz);
    enum status st =
        make_columns(b) && make_cells(b) ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st)
        st = nsys_period_init(&b->period, gpu->info.chip, nominal_hz, err);
    if (!st)
        st = nsys_wrap_init(&b->wrap, gpu, b->column, err);
    if (st)
        nsys_batch_fini(b);
    return st;
}

void nsys_batch_fini(struct nsys_batch *b)
{
    free(b->column);
    free(b->series);
    free(b->t0);
    free(b->t1);
    free(b->values);
    free(b->of);
    nsys_period_fini(&b->period);
    nsys_wrap_fini(&b->wrap);
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

/* How much time before its stamp the sample covers. Of the first one only the next tells it;
 * next_ns NULL = there is none. */
static int64_t length_of(struct nsys_batch *b, const int64_t *next_ns)
{
    if (b->any)
        return nsys_period_next(&b->period, b->stamp_ns - b->before_ns);
    return next_ns ? nsys_period_first(&b->period, *next_ns - b->stamp_ns) : 0;
}

/* A sum counts only when all its addends came. It is divided once: 0.30 + 0.54 + 0.05 + 0.11 is
 * above 1.
 */
static void close_values(struct nsys_batch *b)
{
    double *v = b->values + b->n;
    for (size_t c = 0; c < b->columns; c++, v += b->cap) {
        struct nsys_column *of = &b->of[c];
        bool all = of->arrived == of->all;
        *v = all && isfinite(of->sum) ? of->sum / of->divisor : NAN;
        of->incomplete += !all;
        of->sum = 0;
        of->arrived = 0;
    }
}

static enum status close_sample(struct nsys_batch *b, const int64_t *next_ns, struct error *err)
{
    if (!b->open)
        return OK;
    b->cells_left -= (int64_t)b->columns;
    if (b->cells_left < 0)
        return fail(err, ERR_BAD_INPUT, 0,
                    "damaged: metrics and samples are more than the file has room for");
    close_values(b);
    int64_t length_ns = length_of(b, next_ns);
    nsys_wrap_sample(&b->wrap, b->values + b->n, b->cap, length_ns);
    b->t0[b->n] = b->epoch_ns + b->stamp_ns - length_ns;
    b->t1[b->n] = b->epoch_ns + b->stamp_ns;
    b->before_ns = b->stamp_ns;
    b->gpu->samples++;
    b->any = true;
    b->open = false;
    b->n++;
    return b->n == b->cap ? send(b, err) : OK;
}

/* Rows of a sample mostly come in the order of their ids. */
static struct nsys_file_metric *find_metric(struct nsys_batch *b, int64_t id)
{
    struct nsys_gpu *g = b->gpu;
    size_t next = b->hint + 1 < g->n_metrics ? b->hint + 1 : 0;
    if (next < g->n_metrics && g->metrics[next].id == id) {
        b->hint = next;
        return &g->metrics[next];
    }
    struct nsys_file_metric *m = nsys_gpu_by_id(g, id);
    if (m)
        b->hint = (size_t)(m - g->metrics);
    return m;
}

static void take_value(struct nsys_batch *b, struct nsys_file_metric *m,
                       const struct nsys_cell *value)
{
    double v;
    if (!value->is_integer || !nsys_decode(m, value->v, &v)) {
        m->refused++;
        return;
    }
    struct nsys_column *of = &b->of[b->column[m->series]];
    if (of->arrived & m->part) {
        m->duplicates++; /* the first one stands */
        return;
    }
    m->taken++;
    if (v > m->max)
        m->max = v;
    of->sum += v;
    of->arrived |= m->part;
}

/* The column that takes the metric's values, -1 = none. */
static int32_t column_of(const struct nsys_batch *b, const struct nsys_file_metric *m)
{
    return m && m->series >= 0 ? b->column[m->series] : -1;
}

/* Is a row of another time one more of the same sample? A second value of a metric is, too: it is
 * counted as a duplicate then, which makes the metric suspect. */
static bool belongs(const struct nsys_batch *b, int64_t stamp_ns)
{
    return stamp_ns - b->stamp_ns <= b->within_ns;
}

enum status nsys_batch_row(struct nsys_batch *b, int64_t stamp_ns, const struct nsys_cell *id,
                           const struct nsys_cell *value, uint64_t *unknown, struct error *err)
{
    struct nsys_file_metric *m = id->is_integer ? find_metric(b, id->v) : NULL;
    if (!m) {
        ++*unknown;
        if (b->gpu->n_metrics)
            return OK;
    }
    if (b->open && stamp_ns != b->last_ns) {
        if (stamp_ns < b->last_ns)
            return fail(err, ERR_ORDER, 0, "rows are not in the order of their times");
        enum status st = belongs(b, stamp_ns) ? OK : close_sample(b, &stamp_ns, err);
        if (st)
            return st;
    }
    if (!b->open)
        b->stamp_ns = stamp_ns;
    b->open = true;
    b->last_ns = stamp_ns;
    if (column_of(b, m) >= 0) /* else not known, or not asked for */
        take_value(b, m, value);
    return OK;
}

enum status nsys_batch_flush(struct nsys_batch *b, struct error *err)
{
    enum status st = close_sample(b, NULL, err);
    for (size_t c = 0; c < b->columns; c++)
        b->gpu->series[b->series[c]].incomplete = b->of[c].incomplete;
    b->gpu->rate_hz = nsys_period_rate_hz(&b->period);
    b->gpu->longest_ns = b->period.longest_ns;
    return st ? st : send(b, err);
}
