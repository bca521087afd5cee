/* SPDX-License-Identifier: MIT */
#include "show/tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collect/column.h"
#include "collect/snapshot.h"
#include "show/json_out.h"

/* Process numbers of a trace are those of real processes, and of GPUs (PyTorch: 0, 1, …); these are
 * nobody's: Linux has at most 2^22. */
enum { GPU_PID = 900000000, SERVER_PID = 910000000, SERVERS_MAX = 64 };

struct series {
    int metric; /* METRIC_NONE: no track */
    char name[200];
    double scale;
    double last; /* NaN = none since a gap */
};

struct plan {
    struct series *series; /* owned */
    size_t n;
    double rate_hz;
    int64_t end_ns; /* of the newest sample; 0 = none */
    bool has_gaps;  /* the track of gaps has its name */
};

struct show_tracks {
    int64_t base_ns;
    size_t count;
    bool is_named[COLUMN_GPUS_MAX];
    struct plan *plans[COLUMN_GPUS_MAX]; /* owned, SOURCE_COUNT each; NULL = not seen */
    char servers[SERVERS_MAX][SERVER_URL_SIZE];
    int64_t server_end_ns[SERVERS_MAX];
    size_t n_servers;
};

enum status show_tracks_create(struct show_tracks **out, int64_t base_ns, struct error *err)
{
    struct show_tracks *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->base_ns = base_ns;
    *out = t;
    return OK;
}

void show_tracks_destroy(struct show_tracks *t)
{
    if (!t)
        return;
    for (size_t g = 0; g < COLUMN_GPUS_MAX; g++) {
        for (size_t i = 0; t->plans[g] && i < SOURCE_COUNT; i++)
            free(t->plans[g][i].series);
        free(t->plans[g]);
    }
    free(t);
}

size_t show_tracks_count(const struct show_tracks *t)
{
    return t->count;
}

/* ---- objects ---- */

static void put_text(struct buf *out, const char *text)
{
    json_t *s = json_string(text);
    char *quoted = s ? json_dumps(s, JSON_ENCODE_ANY) : NULL;
    buf_puts(out, quoted ? quoted : "\"?\"");
    out->failed |= !quoted;
    free(quoted);
    json_decref(s);
}

static void put_begin(struct show_tracks *t, struct buf *out, const char *kind, long pid)
{
    buf_printf(out, "%s{\"ph\":\"%s\",\"pid\":%ld,", t->count++ ? ",\n" : "", kind, pid);
}

/* Microseconds with three decimals: whole nanoseconds. */
static void put_ns(struct buf *out, const char *key, int64_t ns)
{
    long long size = ns < 0 ? -(long long)ns : ns;
    buf_printf(out, "\"%s\":%s%lld.%03lld", key, ns < 0 ? "-" : "", size / 1000, size % 1000);
}

static void put_meta(struct show_tracks *t, struct buf *out, const char *what, long pid, int tid,
                     const char *name)
{
    put_begin(t, out, "M", pid);
    buf_printf(out, "\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", tid, what);
    put_text(out, name);
    buf_puts(out, "}}");
}

static void put_process(struct show_tracks *t, struct buf *out, long pid, const char *name,
                        long order)
{
    put_meta(t, out, "process_name", pid, 0, name);
    put_begin(t, out, "M", pid);
    buf_printf(out, "\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%ld}}",
               order);
}

static void put_counter(struct show_tracks *t, struct buf *out, long pid, const char *name,
                        int64_t t_ns, double v)
{
    put_begin(t, out, "C", pid);
    buf_puts(out, "\"name\":");
    put_text(out, name);
    buf_putc(out, ',');
    put_ns(out, "ts", t_ns - t->base_ns);
    buf_printf(out, ",\"args\":{\"value\":%.9g}}", v);
}

/* ---- names ---- */

/* Traces show bare numbers, so the unit stands in the name, in a size that people read. */
static void name_series(struct series *s, enum source_id source)
{
    static const struct {
        enum unit unit;
        double scale;
        const char *text;
    } units[] = {{UNIT_RATIO, 100, "%"},
                 {UNIT_BYTES, 1e-9, "GB"},
                 {UNIT_BYTES_PER_SECOND, 1e-9, "GB/s"},
                 {UNIT_HERTZ, 1e-6, "MHz"},
                 {UNIT_WATTS, 1, "W"},
                 {UNIT_JOULES, 1, "J"},
                 {UNIT_CELSIUS, 1, "°C"},
                 {UNIT_SECONDS, 1e3, "ms"},
                 {UNIT_TOKENS_PER_SECOND, 1, "tokens/s"}};
    const struct metric_info *info = metric_info((enum metric)s->metric);
    const char *unit = "";
    s->scale = 1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].unit == info->unit) {
            s->scale = units[i].scale;
            unit = units[i].text;
        }
    /* beside the counters of pm, those of gpm are a second witness, not the same track */
    snprintf(s->name, sizeof s->name, "%s%s%s%s%s", info->label, unit[0] ? " (" : "", unit,
             unit[0] ? ")" : "", source == SOURCE_GPM ? " [gpm]" : "");
}

/* ---- events ---- */

static enum status take_gpu(struct show_tracks *t, const struct event_gpu *ev, struct buf *out)
{
    char name[200];
    if (ev->gpu >= COLUMN_GPUS_MAX || t->is_named[ev->gpu]) /* every source tells it */
        return OK;
    t->is_named[ev->gpu] = true;
    snprintf(name, sizeof name, "GPU %u %s (smeff)", ev->gpu, ev->name);
    put_process(t, out, GPU_PID + (long)ev->gpu, name, -1000 + (long)ev->gpu);
    return OK;
}

static struct plan *plan_of(struct show_tracks *t, unsigned gpu, enum source_id source)
{
    if (gpu >= COLUMN_GPUS_MAX)
        return NULL;
    if (!t->plans[gpu])
        t->plans[gpu] = calloc(SOURCE_COUNT, sizeof **t->plans);
    return t->plans[gpu] ? &t->plans[gpu][source] : NULL;
}

/* Sums and flags are no curves. */
static bool has_track(int metric)
{
    if (metric == METRIC_NONE)
        return false;
    const struct metric_info *info = metric_info((enum metric)metric);
    return info->kind == KIND_GAUGE && info->unit != UNIT_FLAGS;
}

static enum status take_plan(struct show_tracks *t, const struct event_plan *ev, struct error *err)
{
    if (ev->gpu >= COLUMN_GPUS_MAX)
        return OK;
    struct plan *p = plan_of(t, ev->gpu, ev->source);
    struct series *series = p ? calloc(ev->n + 1, sizeof *series) : NULL;
    if (!series)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->n; i++) {
        series[i].metric = has_track(ev->series[i].metric) ? ev->series[i].metric : METRIC_NONE;
        series[i].last = NAN;
        if (series[i].metric != METRIC_NONE)
            name_series(&series[i], ev->source);
    }
    free(p->series);
    p->series = series;
    p->n = ev->n;
    p->rate_hz = ev->rate_hz;
    return OK;
}

/* Half a period more than one is missing. The driver's readings are moments, with none between. */
static bool is_gap(const struct plan *p, enum source_id source, int64_t t0_ns)
{
    double period_ns = p->rate_hz > 0 ? 1e9 / p->rate_hz : 0;
    return source != SOURCE_NVML && p->end_ns > 0 && period_ns > 0 &&
           (double)(t0_ns - p->end_ns) > 1.5 * period_ns;
}

static void put_gap(struct show_tracks *t, struct plan *p, const struct event_samples *ev,
                    int64_t t0_ns, struct buf *out)
{
    long pid = GPU_PID + (long)ev->gpu;
    int tid = (int)ev->source + 1;
    char name[64];
    snprintf(name, sizeof name, "gaps of %s", source_name(ev->source));
    if (!p->has_gaps)
        put_meta(t, out, "thread_name", pid, tid, name);
    p->has_gaps = true;
    put_begin(t, out, "X", pid);
    buf_printf(out, "\"tid\":%d,\"name\":\"not measured\",", tid);
    put_ns(out, "ts", p->end_ns - t->base_ns);
    buf_putc(out, ',');
    put_ns(out, "dur", t0_ns - p->end_ns);
    buf_putc(out, '}');
    for (size_t i = 0; i < p->n; i++)
        p->series[i].last = NAN;
}

static void take_sample(struct show_tracks *t, struct plan *p, const struct event_samples *ev,
                        size_t i, struct buf *out)
{
    if (is_gap(p, ev->source, ev->t0_ns[i]))
        put_gap(t, p, ev, ev->t0_ns[i], out);
    for (size_t c = 0; c < ev->columns; c++) {
        double v = ev->values[c * ev->stride + i];
        struct series *s = ev->series[c] < p->n ? &p->series[ev->series[c]] : NULL;
        if (!s || s->metric == METRIC_NONE || !isfinite(v) || v == s->last)
            continue;
        put_counter(t, out, GPU_PID + (long)ev->gpu, s->name, ev->t0_ns[i], v * s->scale);
        s->last = v;
    }
    if (ev->t1_ns[i] > p->end_ns)
        p->end_ns = ev->t1_ns[i];
}

static int server_number(struct show_tracks *t, const struct event_server *ev, struct buf *out)
{
    char name[SERVER_URL_SIZE + 240];
    for (size_t i = 0; i < t->n_servers; i++)
        if (strncmp(t->servers[i], ev->url, SERVER_URL_SIZE - 1) == 0)
            return (int)i;
    if (t->n_servers == SERVERS_MAX)
        return -1;
    strncpy(t->servers[t->n_servers], ev->url, SERVER_URL_SIZE - 1);
    snprintf(name, sizeof name, "%s %s %s (smeff)", ev->kind, ev->model, ev->url);
    put_process(t, out, SERVER_PID + (long)t->n_servers, name, -900 + (long)t->n_servers);
    return (int)t->n_servers++;
}

/* A server's figures are means over its window. */
static void take_server(struct show_tracks *t, const struct event_server *ev, struct buf *out)
{
    int k = ev->t1_ns > ev->t0_ns && ev->t0_ns > 0 ? server_number(t, ev, out) : -1;
    if (k < 0)
        return;
    int64_t from_ns =
        ev->t0_ns > t->server_end_ns[k] ? ev->t0_ns : t->server_end_ns[k]; /* windows overlap */
    for (size_t i = 0; i < ev->n; i++) {
        struct series s = {.metric = (int)ev->metrics[i].metric};
        if (ev->metrics[i].state != VALUE_OK || !isfinite(ev->metrics[i].v))
            continue;
        name_series(&s, SOURCE_NONE);
        put_counter(t, out, SERVER_PID + k, s.name, from_ns, ev->metrics[i].v * s.scale);
    }
    t->server_end_ns[k] = ev->t1_ns;
}

enum status show_tracks_take(struct show_tracks *t, const struct event *ev, struct buf *out,
                             struct error *err)
{
    enum status st = OK;
    if (ev->kind == EVENT_GPU)
        st = take_gpu(t, &ev->u.gpu, out);
    else if (ev->kind == EVENT_PLAN)
        st = take_plan(t, &ev->u.plan, err);
    else if (ev->kind == EVENT_SERVER)
        take_server(t, &ev->u.server, out);
    else if (ev->kind == EVENT_SAMPLES && ev->u.samples.gpu < COLUMN_GPUS_MAX &&
             t->plans[ev->u.samples.gpu])
        for (size_t i = 0; i < ev->u.samples.n; i++)
            take_sample(t, &t->plans[ev->u.samples.gpu][ev->u.samples.source], &ev->u.samples, i,
                        out);
    if (!st && out->failed)
        st = fail(err, ERR_NOMEM, 0, "out of memory");
    return st;
}

void show_tracks_end(struct show_tracks *t, struct buf *out)
{
    for (size_t g = 0; g < COLUMN_GPUS_MAX; g++)
        for (size_t k = 0; t->plans[g] && k < SOURCE_COUNT; k++) {
            const struct plan *p = &t->plans[g][k];
            for (size_t i = 0; i < p->n; i++)
                if (!isnan(p->series[i].last))
                    put_counter(t, out, GPU_PID + (long)g, p->series[i].name, p->end_ns,
                                p->series[i].last * p->series[i].scale);
        }
}
