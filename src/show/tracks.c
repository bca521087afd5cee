/* SPDX-License-Identifier: MIT */
#include "show/tracks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "collect/column.h"
#include "collect/snapshot.h"
#include "show/track_text.h"

/* Process numbers of a trace are those of real processes, and of GPUs (PyTorch: 0, 1, …); these are
 * nobody's: Linux has at most 2^22. Threads are there for gaps: of a whole source, of one metric.
 */
enum { GPU_PID = 900000000, SERVER_PID = 910000000, SERVERS_MAX = 64, METRIC_TID = 100 };

/* The driver's readings and a server's windows come seldom: more than this without one is a gap. */
static const double seldom_gap_ns = 12e9;

/* One counter track. */
struct line {
    int metric; /* METRIC_NONE: no track */
    char name[100];
    double scale, last; /* last: the value that stands there now, scaled; NaN = none */
    int64_t end_ns;     /* of its newest value; 0 = none */
    bool has_gaps;      /* the thread of its gaps has its name */
};

struct plan {
    struct line *lines; /* owned */
    size_t n;
    double rate_hz;
    int64_t end_ns; /* of the newest sample; 0 = none */
    bool has_gaps;
};

struct server {
    char url[SERVER_URL_SIZE];
    int64_t end_ns;
    struct line lines[SERVER_METRICS];
};

struct show_tracks {
    struct track_text text;
    bool is_partial;
    int64_t newest_ns;
    bool is_named[COLUMN_GPUS_MAX];
    struct plan *plans[COLUMN_GPUS_MAX]; /* owned, SOURCE_COUNT each; NULL = not seen */
    struct server *servers[SERVERS_MAX]; /* owned; the first n_servers */
    size_t n_servers;
};

enum status show_tracks_create(struct show_tracks **out, int64_t base_ns, struct error *err)
{
    struct show_tracks *t = calloc(1, sizeof *t);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->text.base_ns = base_ns;
    *out = t;
    return OK;
}

void show_tracks_destroy(struct show_tracks *t)
{
    if (!t)
        return;
    for (size_t g = 0; g < COLUMN_GPUS_MAX; g++) {
        for (size_t i = 0; t->plans[g] && i < SOURCE_COUNT; i++)
            free(t->plans[g][i].lines);
        free(t->plans[g]);
    }
    for (size_t i = 0; i < t->n_servers; i++)
        free(t->servers[i]);
    free(t);
}

size_t show_tracks_count(const struct show_tracks *t)
{
    return t->text.count;
}

bool show_tracks_is_partial(const struct show_tracks *t)
{
    return t->is_partial;
}

/* ---- lines ---- */

/* Sums and flags are no curves. */
static bool has_track(int metric)
{
    if (metric == METRIC_NONE)
        return false;
    const struct metric_info *info = metric_info((enum metric)metric);
    return info->kind == KIND_GAUGE && info->unit != UNIT_FLAGS;
}

/* Traces show bare numbers, so the unit stands in the name, in a size that people read. */
static struct line line_of(int metric, enum source_id source, bool is_suspect)
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
                 {UNIT_CELSIUS, 1, "°C"},
                 {UNIT_SECONDS, 1e3, "ms"},
                 {UNIT_TOKENS_PER_SECOND, 1, "tokens/s"}};
    struct line l = {.metric = has_track(metric) ? metric : METRIC_NONE, .scale = 1, .last = NAN};
    if (l.metric == METRIC_NONE)
        return l;
    const struct metric_info *info = metric_info((enum metric)metric);
    const char *unit = "";
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].unit == info->unit) {
            l.scale = units[i].scale;
            unit = units[i].text;
        }
    /* beside the counters of pm, those of gpm are a second witness, not the same track */
    snprintf(l.name, sizeof l.name, "%s%s%s%s%s%s", info->label, unit[0] ? " (" : "", unit,
             unit[0] ? ")" : "", source == SOURCE_GPM ? " [gpm]" : "",
             is_suspect ? " [suspect]" : "");
    return l;
}

/* A counter track has no way to be empty: that one had no value is told beside it. */
static void put_gap(struct show_tracks *t, struct buf *out, long pid, struct line *l, int64_t to_ns)
{
    char name[140];
    int tid = METRIC_TID + l->metric;
    snprintf(name, sizeof name, "gaps of %s", l->name);
    if (!l->has_gaps)
        track_thread(&t->text, out, pid, tid, name);
    l->has_gaps = true;
    track_slice(&t->text, out, pid, tid, "not measured", l->end_ns, to_ns);
    l->last = NAN;
}

static void take_value(struct show_tracks *t, struct buf *out, long pid, struct line *l,
                       int64_t t0_ns, int64_t t1_ns, double value, double gap_ns)
{
    double v = value * l->scale;
    if (l->metric == METRIC_NONE || !isfinite(v))
        return;
    if (l->end_ns && (double)(t0_ns - l->end_ns) > gap_ns)
        put_gap(t, out, pid, l, t0_ns);
    if (!(v >= l->last && v <= l->last)) /* a value that stays is not repeated */
        track_counter(&t->text, out, pid, l->name, t0_ns, v);
    l->last = v;
    l->end_ns = t1_ns > l->end_ns ? t1_ns : l->end_ns;
}

/* Its last value stands until its last sample ended; and from there on nothing was measured, if
 * others go on. */
static void end_line(struct show_tracks *t, struct buf *out, long pid, struct line *l,
                     bool others_told, double gap_ns)
{
    if (l->metric == METRIC_NONE || l->end_ns == 0)
        return;
    if (!isnan(l->last))
        track_counter(&t->text, out, pid, l->name, l->end_ns, l->last);
    if (!others_told && (double)(t->newest_ns - l->end_ns) > gap_ns)
        put_gap(t, out, pid, l, t->newest_ns);
}

/* ---- GPUs ---- */

static void take_gpu(struct show_tracks *t, const struct event_gpu *ev, struct buf *out)
{
    char name[200], clean[120];
    if (ev->gpu >= COLUMN_GPUS_MAX) {
        t->is_partial = true;
        return;
    }
    if (t->is_named[ev->gpu]) /* every source tells it */
        return;
    t->is_named[ev->gpu] = true;
    str_clean(clean, sizeof clean, ev->name, strlen(ev->name));
    snprintf(name, sizeof name, "GPU %u %s (smeff)", ev->gpu, clean);
    track_process(&t->text, out, GPU_PID + (long)ev->gpu, name, -1000 + (long)ev->gpu);
}

static enum status take_plan(struct show_tracks *t, const struct event_plan *ev, struct error *err)
{
    if (ev->gpu >= COLUMN_GPUS_MAX)
        return OK;
    if (!t->plans[ev->gpu])
        t->plans[ev->gpu] = calloc(SOURCE_COUNT, sizeof **t->plans);
    struct plan *p = t->plans[ev->gpu] ? &t->plans[ev->gpu][ev->source] : NULL;
    struct line *lines = p ? calloc(ev->n + 1, sizeof *lines) : NULL;
    if (!lines)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->n; i++) {
        lines[i] = line_of(ev->series[i].metric, ev->source, ev->series[i].state == VALUE_SUSPECT);
        if (i < p->n && strcmp(p->lines[i].name, lines[i].name) == 0)
            lines[i] = p->lines[i]; /* told again: it goes on */
    }
    free(p->lines);
    p->lines = lines;
    p->n = ev->n;
    p->rate_hz = ev->rate_hz;
    return OK;
}

/* More than this between two samples is a gap: half a period more than one. nsys does not tell its
 * period; its samples do. */
static double gap_of(const struct plan *p, enum source_id source, int64_t length_ns)
{
    if (source == SOURCE_NVML)
        return seldom_gap_ns;
    return 1.5 * (p->rate_hz > 0 ? 1e9 / p->rate_hz : length_ns > 0 ? (double)length_ns : 1e9);
}

/* A gap of all of a source is one slice, and none for each of its metrics. */
static void put_source_gap(struct show_tracks *t, struct plan *p, unsigned gpu,
                           enum source_id source, int64_t to_ns, struct buf *out)
{
    char name[64];
    long pid = GPU_PID + (long)gpu;
    int tid = (int)source + 1;
    snprintf(name, sizeof name, "gaps of %s", source_name(source));
    if (!p->has_gaps)
        track_thread(&t->text, out, pid, tid, name);
    p->has_gaps = true;
    track_slice(&t->text, out, pid, tid, "not measured", p->end_ns, to_ns);
    for (size_t i = 0; i < p->n; i++) {
        p->lines[i].last = NAN;
        if (p->lines[i].end_ns >= p->end_ns)
            p->lines[i].end_ns = to_ns;
    }
}

static void take_sample(struct show_tracks *t, struct plan *p, const struct event_samples *ev,
                        size_t i, struct buf *out)
{
    int64_t t0_ns = ev->t0_ns[i], t1_ns = ev->t1_ns[i];
    double gap_ns = gap_of(p, ev->source, t1_ns - t0_ns);
    if (p->end_ns && (double)(t0_ns - p->end_ns) > gap_ns)
        put_source_gap(t, p, ev->gpu, ev->source, t0_ns, out);
    for (size_t c = 0; c < ev->columns; c++)
        if (ev->series[c] < p->n)
            take_value(t, out, GPU_PID + (long)ev->gpu, &p->lines[ev->series[c]], t0_ns, t1_ns,
                       ev->values[c * ev->stride + i], gap_ns);
    p->end_ns = t1_ns > p->end_ns ? t1_ns : p->end_ns;
    t->newest_ns = t1_ns > t->newest_ns ? t1_ns : t->newest_ns;
}

static void take_samples(struct show_tracks *t, const struct event_samples *ev, struct buf *out)
{
    struct plan *plans = ev->gpu < COLUMN_GPUS_MAX ? t->plans[ev->gpu] : NULL;
    t->is_partial |= ev->gpu >= COLUMN_GPUS_MAX;
    for (size_t i = 0; plans && i < ev->n; i++)
        take_sample(t, &plans[ev->source], ev, i, out);
}

/* ---- servers ---- */

static struct server *server_of(struct show_tracks *t, const struct event_server *ev,
                                struct buf *out)
{
    char name[SERVER_URL_SIZE + 240], clean[sizeof name];
    for (size_t i = 0; i < t->n_servers; i++)
        if (strncmp(t->servers[i]->url, ev->url, SERVER_URL_SIZE - 1) == 0)
            return t->servers[i];
    struct server *s = t->n_servers < SERVERS_MAX ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        t->is_partial = true;
        return NULL;
    }
    strncpy(s->url, ev->url, sizeof s->url - 1);
    for (int m = 0; m < SERVER_METRICS; m++)
        s->lines[m] = line_of(SERVER_METRIC_FIRST + m, SOURCE_SERVER, false);
    snprintf(name, sizeof name, "%s %s %s (smeff)", ev->kind, ev->model, ev->url);
    str_clean(clean, sizeof clean, name, strlen(name));
    track_process(&t->text, out, SERVER_PID + (long)t->n_servers, clean, -900 + (long)t->n_servers);
    t->servers[t->n_servers] = s;
    return t->servers[t->n_servers++];
}

static long server_pid(const struct show_tracks *t, const struct server *s)
{
    long i = 0;
    while (t->servers[i] != s)
        i++;
    return SERVER_PID + i;
}

/* A server's figures are means over its window; windows overlap. */
static void take_server(struct show_tracks *t, const struct event_server *ev, struct buf *out)
{
    struct server *s = ev->t1_ns > ev->t0_ns && ev->t0_ns > 0 ? server_of(t, ev, out) : NULL;
    if (!s)
        return;
    int64_t from_ns = ev->t0_ns > s->end_ns ? ev->t0_ns : s->end_ns;
    for (size_t i = 0; i < ev->n; i++)
        if (ev->metrics[i].state == VALUE_OK)
            take_value(t, out, server_pid(t, s),
                       &s->lines[ev->metrics[i].metric - SERVER_METRIC_FIRST], from_ns, ev->t1_ns,
                       ev->metrics[i].v, seldom_gap_ns);
    s->end_ns = ev->t1_ns > s->end_ns ? ev->t1_ns : s->end_ns;
    t->newest_ns = ev->t1_ns > t->newest_ns ? ev->t1_ns : t->newest_ns;
}

/* ---- all ---- */

enum status show_tracks_take(struct show_tracks *t, const struct event *ev, struct buf *out,
                             struct error *err)
{
    enum status st = OK;
    if (ev->kind == EVENT_GPU)
        take_gpu(t, &ev->u.gpu, out);
    else if (ev->kind == EVENT_PLAN)
        st = take_plan(t, &ev->u.plan, err);
    else if (ev->kind == EVENT_SERVER)
        take_server(t, &ev->u.server, out);
    else if (ev->kind == EVENT_SAMPLES)
        take_samples(t, &ev->u.samples, out);
    return !st && out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : st;
}

static void end_plan(struct show_tracks *t, unsigned gpu, enum source_id source, struct buf *out)
{
    struct plan *p = &t->plans[gpu][source];
    double gap_ns = gap_of(p, source, 0);
    bool ended = p->end_ns && (double)(t->newest_ns - p->end_ns) > fmax(gap_ns, 1e9);
    for (size_t i = 0; i < p->n; i++)
        end_line(t, out, GPU_PID + (long)gpu, &p->lines[i],
                 ended && p->lines[i].end_ns >= p->end_ns, fmax(gap_ns, 1e9));
    if (ended)
        put_source_gap(t, p, gpu, source, t->newest_ns, out);
}

void show_tracks_end(struct show_tracks *t, struct buf *out)
{
    for (unsigned g = 0; g < COLUMN_GPUS_MAX; g++)
        for (int k = 0; t->plans[g] && k < SOURCE_COUNT; k++)
            end_plan(t, g, (enum source_id)k, out);
    for (size_t i = 0; i < t->n_servers; i++)
        for (int m = 0; m < SERVER_METRICS; m++)
            end_line(t, out, SERVER_PID + (long)i, &t->servers[i]->lines[m], false, seldom_gap_ns);
}
