/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"
#include "show/csv_columns.h"

struct csv_series {
    int metric; /* enum metric or METRIC_NONE */
    enum unit unit;
    enum value_state state;
    int column; /* its number, or CSV_NO_COLUMN */
};

struct csv_plan {
    unsigned gpu;
    enum source_id source;
    size_t n;
    struct csv_series *series; /* owned */
};

struct csv_gpu {
    unsigned gpu;
    char uuid[64]; /* cleaned */
};

struct csv_stream {
    char *file; /* owned, cleaned */
    struct csv_plan *plans;
    size_t n_plans;
    struct csv_gpu *gpus;
    size_t n_gpus;
};

struct show_csv {
    struct csv_columns columns;
    struct csv_stream *streams;
    size_t n_streams;
};

enum status show_csv_create(struct show_csv **out, struct error *err)
{
    struct show_csv *c = calloc(1, sizeof *c);
    if (!c)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = c;
    return OK;
}

static void stream_fini(struct csv_stream *s)
{
    for (size_t i = 0; i < s->n_plans; i++)
        free(s->plans[i].series);
    free(s->plans);
    free(s->gpus);
    free(s->file);
}

void show_csv_destroy(struct show_csv *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_streams; i++)
        stream_fini(&c->streams[i]);
    csv_columns_fini(&c->columns);
    free(c->streams);
    free(c);
}

static enum status add_stream(struct show_csv *c, const char *file, struct error *err)
{
    struct csv_stream *grown = realloc(c->streams, (c->n_streams + 1) * sizeof *grown);
    if (!grown)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    c->streams = grown;
    struct csv_stream *s = &grown[c->n_streams++];
    *s = (struct csv_stream){.file = str_clean_copy(file)};
    return s->file ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
}

/* Has samples, or may have some soon. */
static bool may_have_samples(enum value_state state)
{
    return state == VALUE_OK || state == VALUE_SUSPECT || state == VALUE_STALE ||
           state == VALUE_WARMING || state == VALUE_BUSY;
}

static enum status add_gpu(struct csv_stream *s, const struct event_gpu *ev, struct error *err)
{
    size_t i = 0;
    while (i < s->n_gpus && s->gpus[i].gpu != ev->gpu)
        i++;
    if (i == s->n_gpus) {
        struct csv_gpu *grown = realloc(s->gpus, (s->n_gpus + 1) * sizeof *grown);
        if (!grown)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        s->gpus = grown;
        s->gpus[s->n_gpus++] = (struct csv_gpu){.gpu = ev->gpu};
    }
    str_clean(s->gpus[i].uuid, sizeof s->gpus[i].uuid, ev->uuid, strlen(ev->uuid));
    return OK;
}

static struct csv_plan *find_plan(struct csv_stream *s, unsigned gpu, enum source_id source)
{
    for (size_t i = 0; i < s->n_plans; i++)
        if (s->plans[i].gpu == gpu && s->plans[i].source == source)
            return &s->plans[i];
    return NULL;
}

/* The plan's place in the stream: that of an earlier plan of this GPU and source, or a new one. */
static struct csv_plan *place_for(struct csv_stream *s, const struct event_plan *ev)
{
    struct csv_plan *old = find_plan(s, ev->gpu, ev->source);
    if (old)
        return old;
    struct csv_plan *grown = realloc(s->plans, (s->n_plans + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    s->plans = grown;
    s->plans[s->n_plans] = (struct csv_plan){.gpu = ev->gpu, .source = ev->source};
    return &s->plans[s->n_plans++];
}

static enum status add_plan(struct show_csv *c, const struct event_plan *ev, struct error *err)
{
    struct csv_plan *p = place_for(&c->streams[c->n_streams - 1], ev);
    struct csv_series *series = calloc(ev->n ? ev->n : 1, sizeof *series);
    if (!p || !series) {
        free(series);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    free(p->series);
    p->series = series;
    p->n = ev->n;
    for (size_t i = 0; i < ev->n; i++) {
        const struct plan_series *from = &ev->series[i];
        series[i] = (struct csv_series){from->metric, from->unit, from->state, CSV_NO_COLUMN};
        if (may_have_samples(from->state))
            series[i].column = csv_columns_add(&c->columns, from->metric, from->name, ev->source);
        if (series[i].column == CSV_NO_MEMORY) {
            series[i].column = CSV_NO_COLUMN;
            return fail(err, ERR_NOMEM, 0, "out of memory");
        }
    }
    return OK;
}

enum status show_csv_describe(struct show_csv *c, const char *file, const struct event *event,
                              struct error *err)
{
    struct csv_stream *s = c->n_streams ? &c->streams[c->n_streams - 1] : NULL;
    if (!s && event->kind != EVENT_HELLO)
        return fail(err, ERR_BAD_INPUT, 0, "a stream that does not begin with hello");
    switch (event->kind) {
    case EVENT_HELLO:
        return add_stream(c, file, err);
    case EVENT_GPU:
        return add_gpu(s, &event->u.gpu, err);
    case EVENT_PLAN:
        return add_plan(c, &event->u.plan, err);
    default:
        return OK;
    }
}

/* RFC 4180: quoted when needed, quotes doubled. What begins like a formula (= + - @) is quoted,
 * too: these are names from a file. */
static void put_text(struct buf *out, const char *s)
{
    if (!strpbrk(s, ",\"") && !(*s && strchr("=+-@", *s))) {
        buf_puts(out, s);
        return;
    }
    buf_putc(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            buf_putc(out, '"');
        buf_putc(out, *s);
    }
    buf_putc(out, '"');
}

void show_csv_header(struct show_csv *c, struct buf *out)
{
    c->columns.fixed = true;
    for (size_t i = 0; csv_columns_fixed(i); i++)
        buf_printf(out, "%s%s", i ? "," : "", csv_columns_fixed(i));
    for (size_t k = 0; k < csv_columns_width(&c->columns); k++) {
        if (!csv_columns_shown(&c->columns, k))
            continue;
        buf_putc(out, ',');
        put_text(out, csv_columns_name(&c->columns, k));
    }
    buf_putc(out, '\n');
}

static struct csv_plan *plan_of(struct show_csv *c, size_t stream, unsigned gpu,
                                enum source_id source)
{
    return stream < c->n_streams ? find_plan(&c->streams[stream], gpu, source) : NULL;
}

/* Is it the plan that was described, apart from states and reasons? */
static bool same_series(const struct show_csv *c, const struct csv_plan *p,
                        const struct event_plan *ev)
{
    if (p->n != ev->n)
        return false;
    for (size_t i = 0; i < p->n; i++) {
        if (p->series[i].metric != ev->series[i].metric)
            return false;
        if (p->series[i].column >= METRIC_COUNT &&
            !csv_columns_is(&c->columns, p->series[i].column, ev->series[i].name, ev->source))
            return false;
    }
    return true;
}

enum status show_csv_replan(struct show_csv *c, size_t stream, const struct event_plan *plan,
                            struct buf *changes, struct error *err)
{
    struct csv_plan *p = plan_of(c, stream, plan->gpu, plan->source);
    if (!p || !same_series(c, p, plan))
        return fail(err, ERR_BAD_INPUT, 0, "the file changed while it was read");
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_series *now = &plan->series[i];
        if (p->series[i].state == now->state)
            continue;
        p->series[i].state = now->state;
        buf_puts(changes, changes->len ? "; " : "");
        if (c->streams[stream].n_plans > 1)
            buf_printf(changes, "GPU %u ", p->gpu);
        buf_printf(changes, "%s is %s: %s", now->name, value_state_name(now->state), now->reason);
    }
    return changes->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : OK;
}

/* A cell: NaN = none. */
struct csv_cell {
    double v;
    bool suspect;
};

static void fill_row(const struct csv_plan *p, const struct event_samples *batch, size_t sample,
                     struct csv_cell *row, size_t width)
{
    for (size_t k = 0; k < width; k++)
        row[k] = (struct csv_cell){NAN, false};
    for (size_t col = 0; col < batch->columns; col++) {
        const struct csv_series *s = &p->series[batch->series[col]];
        double v = batch->values[col * batch->stride + sample];
        if (s->column != CSV_NO_COLUMN && !isnan(v))
            row[s->column] =
                (struct csv_cell){v, s->state == VALUE_SUSPECT || (s->unit == UNIT_RATIO && v > 1)};
    }
}

/* The keys of what is suspect in this row, with blanks between them; so the blanks of a source's
 * own name become "_". */
static void put_suspects(const struct show_csv *c, const struct csv_cell *row, size_t width,
                         struct buf *out)
{
    struct buf keys = BUF_INIT;
    for (size_t k = 0; k < width; k++) {
        if (!row[k].suspect)
            continue;
        const char *key = csv_columns_name(&c->columns, k);
        if (keys.len)
            buf_putc(&keys, ' ');
        for (; *key; key++)
            buf_putc(&keys, *key == ' ' ? '_' : *key);
    }
    put_text(out, buf_str(&keys));
    out->failed |= keys.failed;
    buf_fini(&keys);
}

static const char *uuid_of(const struct csv_stream *s, unsigned gpu)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        if (s->gpus[i].gpu == gpu)
            return s->gpus[i].uuid;
    return "";
}

static void put_row(const struct show_csv *c, const struct csv_stream *s, const struct csv_plan *p,
                    int64_t t0_ns, int64_t t1_ns, const struct csv_cell *row, struct buf *out)
{
    char text[CLOCK_TEXT_SIZE];
    size_t width = csv_columns_width(&c->columns);
    put_text(out, s->file);
    buf_printf(out, ",%u,", p->gpu);
    put_text(out, uuid_of(s, p->gpu));
    buf_printf(out, ",%s,%s,%lld,%lld,", source_name(p->source),
               t1_ns < CLOCK_WALL_MIN_NS ? "" : clock_iso8601(text, t1_ns, 6), (long long)t0_ns,
               (long long)t1_ns);
    put_suspects(c, row, width, out);
    for (size_t k = 0; k < width; k++) {
        if (!csv_columns_shown(&c->columns, k))
            continue;
        buf_putc(out, ',');
        if (isnan(row[k].v))
            continue; /* an empty cell, never 0 */
        char number[NUM_TEXT_SIZE];
        buf_add(out, number, num_format(number, row[k].v));
    }
    buf_putc(out, '\n');
}

enum status show_csv_rows(struct show_csv *c, size_t stream, const struct event_samples *batch,
                          struct buf *out, struct error *err)
{
    const struct csv_plan *p = plan_of(c, stream, batch->gpu, batch->source);
    if (!p)
        return fail(err, ERR_BAD_INPUT, 0, "samples without a plan");
    for (size_t col = 0; col < batch->columns; col++)
        if (batch->series[col] >= p->n)
            return fail(err, ERR_BAD_INPUT, 0, "samples of a series that the plan lacks");
    size_t width = csv_columns_width(&c->columns);
    struct csv_cell *row = malloc(width * sizeof *row);
    if (!row)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < batch->n; i++) {
        fill_row(p, batch, i, row, width);
        put_row(c, &c->streams[stream], p, batch->t0_ns[i], batch->t1_ns[i], row, out);
    }
    free(row);
    return out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : OK;
}
