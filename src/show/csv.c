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

/* Before those of the metrics. */
#define FIXED_COLUMNS "file", "gpu", "uuid", "time", "start_ns", "end_ns", "suspect"

/* Columns are numbered: the catalogue's metrics first, then the sources' own names. Only used ones
 * are printed, so that the header does not depend on the order of the streams. */

enum { NO_COLUMN = -1 };

struct csv_series {
    int metric; /* enum metric or METRIC_NONE */
    enum unit unit;
    enum value_state state;
    int column; /* its number, or NO_COLUMN when it had no samples */
};

struct csv_plan {
    unsigned gpu;
    enum source_id source;
    size_t n;
    struct csv_series *series; /* owned */
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
    uint32_t *slots; /* owned hash table: index in extras + 1, 0 = free */
    size_t n_slots;  /* a power of two, at least 2 * n_extras; or 0 */
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
    free(c->slots);
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

static bool is_own_column(const char *name)
{
    static const char *const columns[] = {FIXED_COLUMNS};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (strcmp(name, columns[i]) == 0)
            return true;
    return metric_by_key(name) != METRIC_NONE;
}

/* The column of a source's own metric, the caller's to free: its name, and only where that is the
 * name of one of our columns with the source in front, "nsys:sm_active". A name that looks like
 * that already gets one more, so that no two become one. */
static char *extra_name(const char *name, enum source_id source)
{
    char *copy = clean_copy(name);
    const char *prefix = source_name(source), *bare = copy;
    size_t len = strlen(prefix);
    while (bare && str_starts_with(bare, prefix) && bare[len] == ':')
        bare += len + 1;
    if (!bare || !is_own_column(bare))
        return copy;
    size_t size = strlen(copy) + len + sizeof ":";
    char *longer = malloc(size);
    if (longer)
        snprintf(longer, size, "%s:%s", prefix, copy);
    free(copy);
    return longer;
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

/* The slot of this name, or the free one where it belongs (there always is one). */
static uint32_t *find_slot(const struct show_csv *c, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    size_t i = (size_t)(hash ^ hash >> 32) & (c->n_slots - 1);
    while (c->slots[i] && strcmp(c->extras[c->slots[i] - 1], name) != 0)
        i = (i + 1) & (c->n_slots - 1);
    return &c->slots[i];
}

/* Makes room for one more extra. */
static bool grow_extras(struct show_csv *c)
{
    if (2 * (c->n_extras + 1) <= c->n_slots)
        return true;
    size_t n_slots = c->n_slots ? 2 * c->n_slots : 64;
    char **extras = realloc(c->extras, n_slots / 2 * sizeof *extras);
    if (extras)
        c->extras = extras;
    uint32_t *slots = extras ? calloc(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(c->slots);
    c->slots = slots;
    c->n_slots = n_slots;
    for (size_t i = 0; i < c->n_extras; i++)
        *find_slot(c, c->extras[i]) = (uint32_t)i + 1;
    return true;
}

/* The column number of an extra of this name, new or old; NO_COLUMN when memory ran out. */
static int extra_column(struct show_csv *c, const char *name, enum source_id source)
{
    char *copy = grow_extras(c) ? extra_name(name, source) : NULL;
    if (!copy)
        return NO_COLUMN;
    uint32_t *slot = find_slot(c, copy);
    if (*slot) {
        free(copy);
    } else {
        c->extras[c->n_extras++] = copy;
        *slot = (uint32_t)c->n_extras;
    }
    return METRIC_COUNT + (int)*slot - 1;
}

static bool has_samples(enum value_state state)
{
    return state == VALUE_OK || state == VALUE_SUSPECT;
}

static enum status add_plan(struct show_csv *c, const struct event_plan *ev, struct error *err)
{
    struct csv_stream *s = &c->streams[c->n_streams - 1];
    struct csv_plan *grown = realloc(s->plans, (s->n_plans + 1) * sizeof *grown);
    struct csv_series *series = calloc(ev->n ? ev->n : 1, sizeof *series);
    if (grown)
        s->plans = grown;
    if (!grown || !series) {
        free(series);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    struct csv_plan *p = &s->plans[s->n_plans++];
    *p = (struct csv_plan){.gpu = ev->gpu, .source = ev->source, .n = ev->n, .series = series};
    memcpy(p->uuid, s->last_uuid, sizeof p->uuid);
    for (size_t i = 0; i < ev->n; i++) {
        const struct plan_series *from = &ev->series[i];
        series[i] = (struct csv_series){from->metric, from->unit, from->state, NO_COLUMN};
        if (!has_samples(from->state))
            continue;
        if (from->metric != METRIC_NONE)
            c->used[from->metric] = true;
        series[i].column =
            from->metric != METRIC_NONE ? from->metric : extra_column(c, from->name, ev->source);
        if (series[i].column == NO_COLUMN)
            return fail(err, ERR_NOMEM, 0, "out of memory");
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
        str_clean(s->last_uuid, sizeof s->last_uuid, event->u.gpu.uuid, strlen(event->u.gpu.uuid));
        return OK;
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

void show_csv_header(const struct show_csv *c, struct buf *out)
{
    static const char *const columns[] = {FIXED_COLUMNS};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        buf_printf(out, "%s%s", i ? "," : "", columns[i]);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (c->used[m])
            buf_printf(out, ",%s", metric_info((enum metric)m)->key);
    for (size_t i = 0; i < c->n_extras; i++) {
        buf_putc(out, ',');
        put_text(out, c->extras[i]);
    }
    buf_putc(out, '\n');
}

static struct csv_plan *find_plan(struct show_csv *c, size_t stream, unsigned gpu,
                                  enum source_id source)
{
    struct csv_stream *s = stream < c->n_streams ? &c->streams[stream] : NULL;
    for (size_t i = 0; s && i < s->n_plans; i++)
        if (s->plans[i].gpu == gpu && s->plans[i].source == source)
            return &s->plans[i];
    return NULL;
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
        if (p->series[i].column < METRIC_COUNT)
            continue;
        char *name = extra_name(ev->series[i].name, ev->source);
        bool same = name && strcmp(name, c->extras[p->series[i].column - METRIC_COUNT]) == 0;
        free(name);
        if (!same)
            return false;
    }
    return true;
}

enum status show_csv_replan(struct show_csv *c, size_t stream, const struct event_plan *plan,
                            struct buf *changes, struct error *err)
{
    struct csv_plan *p = find_plan(c, stream, plan->gpu, plan->source);
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
        if (s->column != NO_COLUMN && !isnan(v))
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
        const char *key =
            k < METRIC_COUNT ? metric_info((enum metric)k)->key : c->extras[k - METRIC_COUNT];
        if (keys.len)
            buf_putc(&keys, ' ');
        for (; *key; key++)
            buf_putc(&keys, *key == ' ' ? '_' : *key);
    }
    put_text(out, buf_str(&keys));
    out->failed |= keys.failed;
    buf_fini(&keys);
}

static void put_row(const struct show_csv *c, const struct csv_stream *s, const struct csv_plan *p,
                    int64_t t0_ns, int64_t t1_ns, const struct csv_cell *row, struct buf *out)
{
    char text[CLOCK_TEXT_SIZE];
    size_t width = METRIC_COUNT + c->n_extras;
    put_text(out, s->file);
    buf_printf(out, ",%u,", p->gpu);
    put_text(out, p->uuid);
    buf_printf(out, ",%s,%lld,%lld,",
               t1_ns < CLOCK_WALL_MIN_NS ? "" : clock_iso8601(text, t1_ns, 6), (long long)t0_ns,
               (long long)t1_ns);
    put_suspects(c, row, width, out);
    for (size_t k = 0; k < width; k++) {
        if (k < METRIC_COUNT && !c->used[k])
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
    const struct csv_plan *p = find_plan(c, stream, batch->gpu, batch->source);
    if (!p)
        return fail(err, ERR_BAD_INPUT, 0, "samples without a plan");
    for (size_t col = 0; col < batch->columns; col++)
        if (batch->series[col] >= p->n)
            return fail(err, ERR_BAD_INPUT, 0, "samples of a series that the plan lacks");
    size_t width = METRIC_COUNT + c->n_extras;
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
