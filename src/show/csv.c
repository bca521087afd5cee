/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"

/* Columns are numbered: the catalogue's metrics first, then the sources' own names. Only used ones
 * are printed, so that the header does not depend on the order of the streams. */

struct csv_plan {
    unsigned gpu;
    enum source_id source;
    size_t n;
    size_t *column; /* owned; number of the column of each series */
    char uuid[64];
};

struct csv_stream {
    char *file; /* owned, cleaned */
    struct csv_plan *plans;
    size_t n_plans;
    char last_uuid[64];
};

struct show_csv {
    bool used[METRIC_COUNT];
    char **extras; /* owned names */
    size_t n_extras;
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
        free(s->plans[i].column);
    free(s->plans);
    free(s->file);
}

void show_csv_destroy(struct show_csv *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_streams; i++)
        stream_fini(&c->streams[i]);
    for (size_t i = 0; i < c->n_extras; i++)
        free(c->extras[i]);
    free(c->streams);
    free(c->extras);
    free(c);
}

static char *clean_copy(const char *s)
{
    size_t size = 3 * strlen(s) + 1;
    char *copy = malloc(size);
    if (copy)
        str_clean(copy, size, s, strlen(s));
    return copy;
}

static enum status add_stream(struct show_csv *c, const char *file, struct error *err)
{
    struct csv_stream *grown = realloc(c->streams, (c->n_streams + 1) * sizeof *grown);
    if (!grown)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    c->streams = grown;
    struct csv_stream *s = &grown[c->n_streams++];
    *s = (struct csv_stream){.file = clean_copy(file)};
    return s->file ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
}

/* The column number of an extra of this name, new or old; 0 when memory ran out. */
static size_t extra_column(struct show_csv *c, const char *name)
{
    char *copy = clean_copy(name);
    if (!copy)
        return 0;
    for (size_t i = 0; i < c->n_extras; i++)
        if (strcmp(c->extras[i], copy) == 0) {
            free(copy);
            return METRIC_COUNT + i;
        }
    char **grown = realloc(c->extras, (c->n_extras + 1) * sizeof *grown);
    if (!grown) {
        free(copy);
        return 0;
    }
    c->extras = grown;
    c->extras[c->n_extras] = copy;
    return METRIC_COUNT + c->n_extras++;
}

static bool has_samples(const struct plan_series *s)
{
    return s->state == VALUE_OK || s->state == VALUE_SUSPECT;
}

static enum status add_plan(struct show_csv *c, const struct event_plan *ev, struct error *err)
{
    struct csv_stream *s = &c->streams[c->n_streams - 1];
    struct csv_plan *grown = realloc(s->plans, (s->n_plans + 1) * sizeof *grown);
    size_t *column = calloc(ev->n ? ev->n : 1, sizeof *column);
    if (grown)
        s->plans = grown;
    if (!grown || !column) {
        free(column);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    struct csv_plan *p = &s->plans[s->n_plans++];
    *p = (struct csv_plan){.gpu = ev->gpu, .source = ev->source, .n = ev->n, .column = column};
    memcpy(p->uuid, s->last_uuid, sizeof p->uuid);
    for (size_t i = 0; i < ev->n; i++) {
        const struct plan_series *series = &ev->series[i];
        if (!has_samples(series))
            continue;
        if (series->metric != METRIC_NONE) {
            column[i] = (size_t)series->metric;
            c->used[series->metric] = true;
        } else if ((column[i] = extra_column(c, series->name)) == 0) {
            return fail(err, ERR_NOMEM, 0, "out of memory");
        }
    }
    return OK;
}

enum status show_csv_describe(struct show_csv *c, const char *file, const struct event *event,
                              struct error *err)
{
    struct csv_stream *s = c->n_streams ? &c->streams[c->n_streams - 1] : NULL;
    switch (event->kind) {
    case EVENT_HELLO:
        return add_stream(c, file, err);
    case EVENT_GPU:
        str_clean(s->last_uuid, sizeof s->last_uuid, event->u.gpu.uuid, strlen(event->u.gpu.uuid));
        return OK;
    case EVENT_PLAN:
        return add_plan(c, &event->u.plan, err);
    default:
        return OK;
    }
}

/* RFC 4180: quoted when needed, quotes doubled. A leading = + - @ is quoted and kept: these are
 * names from a file, and the quotes keep the row whole. */
static void put_text(struct buf *out, const char *s)
{
    if (!strpbrk(s, ",\"=+-@")) {
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

void show_csv_header(const struct show_csv *c, struct buf *out)
{
    buf_puts(out, "file,gpu,uuid,time,start_ns,end_ns");
    for (int m = 0; m < METRIC_COUNT; m++)
        if (c->used[m])
            buf_printf(out, ",%s", metric_info((enum metric)m)->key);
    for (size_t i = 0; i < c->n_extras; i++) {
        buf_putc(out, ',');
        put_text(out, c->extras[i]);
    }
    buf_putc(out, '\n');
}

static const struct csv_plan *find_plan(const struct csv_stream *s,
                                        const struct event_samples *batch)
{
    for (size_t i = 0; i < s->n_plans; i++)
        if (s->plans[i].gpu == batch->gpu && s->plans[i].source == batch->source)
            return &s->plans[i];
    return NULL;
}

static void put_row(const struct show_csv *c, const struct csv_stream *s, const struct csv_plan *p,
                    int64_t t0_ns, int64_t t1_ns, const double *row, struct buf *out)
{
    char text[CLOCK_TEXT_SIZE];
    put_text(out, s->file);
    buf_printf(out, ",%u,%s,%s,%lld,%lld", p->gpu, p->uuid,
               t1_ns < CLOCK_WALL_MIN_NS ? "" : clock_iso8601(text, t1_ns, 6), (long long)t0_ns,
               (long long)t1_ns);
    for (size_t k = 0; k < METRIC_COUNT + c->n_extras; k++) {
        if (k < METRIC_COUNT && !c->used[k])
            continue;
        buf_putc(out, ',');
        if (isnan(row[k]))
            continue; /* an empty cell, never 0 */
        char number[NUM_TEXT_SIZE];
        buf_add(out, number, num_format(number, row[k]));
    }
    buf_putc(out, '\n');
}

enum status show_csv_rows(struct show_csv *c, size_t stream, const struct event_samples *batch,
                          struct buf *out, struct error *err)
{
    const struct csv_stream *s = stream < c->n_streams ? &c->streams[stream] : NULL;
    const struct csv_plan *p = s ? find_plan(s, batch) : NULL;
    if (!p)
        return fail(err, ERR_BAD_INPUT, 0, "samples without a plan");
    size_t width = METRIC_COUNT + c->n_extras;
    double *row = malloc(width * sizeof *row);
    if (!row)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < batch->n; i++) {
        for (size_t k = 0; k < width; k++)
            row[k] = NAN;
        for (size_t col = 0; col < batch->columns; col++)
            row[p->column[batch->series[col]]] = batch->values[col * batch->stride + i];
        put_row(c, s, p, batch->t0_ns[i], batch->t1_ns[i], row, out);
    }
    free(row);
    return out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : OK;
}
