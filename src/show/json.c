/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "judge/serving.h"
#include "metric/throttle.h"
#include "show/json_out.h"

static json_t *text_or_null(const char *s)
{
    return s[0] ? json_string(s) : json_null();
}

/* A path, or what a user typed, may be any bytes but 0; JSON is UTF-8. NULL = none. */
static json_t *path_or_null(const char *path)
{
    char *clean = path ? str_clean_copy(path) : NULL;
    json_t *text = clean ? json_string(clean) : NULL;
    free(clean);
    return path ? text : json_null();
}

static json_t *time_or_null(int64_t unix_ns)
{
    char text[CLOCK_TEXT_SIZE];
    if (unix_ns < CLOCK_WALL_MIN_NS)
        return json_null();
    return json_string(clock_iso8601(text, unix_ns, 3));
}

static json_t *stats_json(const struct metric_stats *s, const char *unit)
{
    const struct value *v = &s->value;
    json_t *o = json_pack("{s:o, s:s, s:s, s:s}", "value",
                          value_has_number(v) ? json_out_number(v->v) : json_null(), "unit", unit,
                          "state", value_state_name(v->state), "source", source_name(v->source));
    if (!o)
        return NULL;
    if (v->reason[0])
        json_object_set_new(o, "reason", json_string(v->reason));
    if (!value_has_number(v))
        return o;
    json_object_set_new(o, "min", json_out_number(s->min));
    json_object_set_new(o, "p05", json_out_number(s->p05));
    json_object_set_new(o, "p50", json_out_number(s->p50));
    json_object_set_new(o, "p95", json_out_number(s->p95));
    json_object_set_new(o, "max", json_out_number(s->max));
    json_object_set_new(o, "samples", json_integer((json_int_t)s->samples));
    if (s->resolution > 0)
        json_object_set_new(o, "resolution", json_out_number(s->resolution));
    if (s->counter[0])
        json_object_set_new(o, "counter", json_string(s->counter));
    return o;
}

static json_t *lines_json(const struct verdict_lines *l)
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < l->n; i++)
        json_array_append_new(a, json_string(l->line[i]));
    return a;
}

static json_t *verdict_json(const struct snapshot *s, size_t gpu)
{
    struct verdict v;
    serving_verdict(s, gpu, &v);
    return json_pack("{s:s, s:s, s:[], s:o, s:o, s:o}", "kind", verdict_name(v.kind), "text",
                     verdict_text(v.kind), "modifiers", "evidence", lines_json(&v.evidence),
                     "limits", lines_json(&v.limits), "advice", lines_json(&v.advice));
}

/* "[Throughput %]" of a source's own name, without the brackets. */
static const char *named_unit(const char *name, char *dst, size_t size)
{
    const char *open = strrchr(name, '[');
    str_clean(dst, size, open ? open + 1 : "", open ? strcspn(open + 1, "]") : 0);
    return dst;
}

static json_t *metrics_json(const struct gpu_snapshot *g)
{
    json_t *o = json_object();
    for (int m = 0; o && m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if (info->scope != SCOPE_GPU)
            continue;
        json_t *stats = stats_json(&g->metrics[m], unit_name(info->unit));
        if (info->unit == UNIT_FLAGS && value_has_number(&g->metrics[m].value)) {
            char words[THROTTLE_TEXT_SIZE];
            throttle_words((uint64_t)g->metrics[m].value.v, words, sizeof words);
            json_object_set_new(stats, "words", json_string(words));
        }
        json_object_set_new(o, info->key, stats);
    }
    return o;
}

static json_t *extras_json(const struct gpu_snapshot *g)
{
    json_t *o = json_object();
    for (size_t i = 0; o && i < g->n_extras; i++) {
        char unit[64];
        const struct extra_stats *x = &g->extras[i];
        json_object_set_new(o, x->name,
                            stats_json(&x->stats, named_unit(x->name, unit, sizeof unit)));
    }
    return o;
}

static json_t *processes_json(const struct gpu_snapshot *g)
{
    if (!g->processes_known)
        return json_null();
    json_t *a = json_array();
    for (size_t i = 0; a && i < g->n_processes; i++) {
        const struct snapshot_process *p = &g->processes[i];
        json_array_append_new(a, json_pack("{s:I, s:o, s:o, s:o}", "pid", (json_int_t)p->pid,
                                           "name", text_or_null(p->name), "gpu_memory",
                                           json_out_number(p->gpu_memory_bytes), "sm_utilization",
                                           json_out_number(p->sm_utilization)));
    }
    return a;
}

/* Of the present: how old the newest sample is. A clock that was set back gives no age. */
static json_t *age_json(const struct snapshot *s, const struct gpu_snapshot *g)
{
    int64_t age_ns = s->taken_ns - g->t1_ns;
    if (!s->taken_ns || !g->samples || age_ns < 0)
        return json_null();
    return json_out_number((double)(age_ns / 1000000));
}

static json_t *gpu_json(const struct snapshot *s, size_t gpu)
{
    const struct gpu_snapshot *g = &s->gpus[gpu];
    json_t *source = json_pack(
        "{s:s, s:o, s:o, s:o, s:I, s:I, s:f}", "backend", source_name(g->backend), "rate_hz",
        g->rate_hz > 0 ? json_out_number(g->rate_hz) : json_null(), "coverage",
        json_out_number(g->coverage), "age_ms", age_json(s, g), "samples", (json_int_t)g->samples,
        "gaps", (json_int_t)g->gaps, "longest_gap_s", g->longest_gap_s);
    json_t *o = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o}", "index", (int)g->index,
                          "name", text_or_null(g->name), "uuid", text_or_null(g->uuid), "chip",
                          text_or_null(g->chip), "pci_bus", text_or_null(g->pci_bus), "source",
                          source, "start", time_or_null(g->t0_ns), "window_s",
                          gpu_snapshot_window_s(g), "metrics", metrics_json(g));
    if (!o)
        return NULL;
    if (g->n_extras)
        json_object_set_new(o, "other_metrics", extras_json(g));
    json_object_set_new(o, "verdict", verdict_json(s, gpu));
    json_object_set_new(o, "processes", processes_json(g));
    return o;
}

static json_t *notes_json(const struct snapshot *s)
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < s->n_notes; i++) {
        const struct snapshot_note *n = &s->notes[i];
        json_array_append_new(a,
                              json_pack("{s:s, s:o, s:o, s:s}", "level", note_level_name(n->level),
                                        "gpu", n->gpu < 0 ? json_null() : json_integer(n->gpu),
                                        "time", time_or_null(n->t_ns), "text", n->text));
    }
    return a;
}

/* A value without statistics. */
static json_t *value_json(const struct value *v, enum metric m)
{
    json_t *o = json_pack("{s:o, s:s, s:s}", "value",
                          value_has_number(v) ? json_out_number(v->v) : json_null(), "unit",
                          unit_name(metric_info(m)->unit), "state", value_state_name(v->state));
    if (o && v->reason[0])
        json_object_set_new(o, "reason", json_string(v->reason));
    return o;
}

/* ---- servers ---- */

enum { OF_SNAPSHOT = -1 };

static json_t *derived_json(const struct snapshot *s, int server)
{
    json_t *o = json_object();
    for (int i = 0; o && i < METRIC_COUNT; i++) {
        enum metric m = (enum metric)i;
        struct value v = {0};
        if (metric_info(m)->scope != SCOPE_DERIVED)
            continue;
        if (server == OF_SNAPSHOT)
            serving_derive_only(s, m, &v);
        else
            serving_derive(s, (size_t)server, m, &v);
        json_object_set_new(o, metric_info(m)->key, value_json(&v, m));
    }
    return o;
}

static json_t *server_metrics_json(const struct server_snapshot *x)
{
    json_t *o = json_object();
    for (int i = 0; o && i < SERVER_METRICS; i++) {
        enum metric m = (enum metric)(SERVER_METRIC_FIRST + i);
        json_t *value = value_json(&x->metrics[i].value, m);
        if (value && x->metrics[i].series[0])
            json_object_set_new(value, "series", json_string(x->metrics[i].series));
        if (value && x->metrics[i].freshness[0])
            json_object_set_new(value, "freshness", json_string(x->metrics[i].freshness));
        json_object_set_new(o, metric_info(m)->key, value);
    }
    return o;
}

static json_t *server_gpus_json(const struct snapshot *s, size_t server)
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < s->n_gpus; i++)
        if (serving_of(s, server, i) != SERVING_NOT)
            json_array_append_new(a, json_integer(s->gpus[i].index));
    return a;
}

static json_t *server_json(const struct snapshot *s, size_t server)
{
    const struct server_snapshot *x = &s->servers[server];
    double window_s = server_snapshot_window_s(x);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "url", x->url, "kind",
                     text_or_null(x->kind), "model", text_or_null(x->model), "pid",
                     x->pid > 0 ? json_integer((json_int_t)x->pid) : json_null(), "gpus",
                     server_gpus_json(s, server), "state", value_state_name(x->state), "reason",
                     text_or_null(x->reason), "window_s",
                     window_s > 0 ? json_out_number(window_s) : json_null(), "metrics",
                     server_metrics_json(x), "derived", derived_json(s, (int)server));
}

static json_t *servers_json(const struct snapshot *s)
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < s->n_servers; i++)
        json_array_append_new(a, server_json(s, i));
    return a;
}

/* o with one more member; NULL, and both are gone, when either of them could not be made. */
static json_t *with(json_t *o, const char *key, json_t *value)
{
    if (o && value && json_object_set_new(o, key, value) == 0)
        return o;
    if (!o)
        json_decref(value);
    json_decref(o);
    return NULL;
}

static json_t *snapshot_json(const struct snapshot *s, const char *file)
{
    json_t *gpus = json_array();
    for (size_t i = 0; gpus && i < s->n_gpus; i++)
        json_array_append_new(gpus, gpu_json(s, i));
    json_t *o = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SNAPSHOT_SCHEMA,
                          "time", time_or_null(s->time_ns), "host", text_or_null(s->host), "tool",
                          text_or_null(s->tool), "gpus", gpus, "servers", servers_json(s),
                          "derived", derived_json(s, OF_SNAPSHOT), "notes", notes_json(s));
    if (s->is_replay) /* nothing of it happens now */
        o = with(o, "replay", json_true());
    return file ? with(o, "file", path_or_null(file)) : o;
}

static json_t *daemon_json(const struct show_daemon *d)
{
    return json_pack("{s:I, s:s, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:{s:f, s:I, s:I}, s:f, s:o}",
                     "pid", (json_int_t)d->pid, "version", SMEFF_VERSION, "start",
                     time_or_null(d->started_ns), "state", d->is_paused ? "paused" : "running",
                     "reason", path_or_null(*d->reason ? d->reason : NULL), "run_dir",
                     path_or_null(d->run_dir), "replay", path_or_null(d->replay), "viewers",
                     (json_int_t)d->viewers, "viewers_dropped", (json_int_t)d->dropped, "history",
                     "seconds", d->history_s, "bytes", (json_int_t)d->history_bytes, "limit_bytes",
                     (json_int_t)d->history_limit_bytes, "cpu_seconds", d->cpu_s, "memory_bytes",
                     json_out_number(d->memory_bytes));
}

/* 15 digits carry every whole percent and byte count without "0.30000000000000004" */
enum { FLAGS = JSON_REAL_PRECISION(15) };

enum status show_json(struct buf *out, const struct snapshot *s, const char *file,
                      struct error *err)
{
    return json_out_line(out, snapshot_json(s, file), FLAGS, err);
}

enum status show_status_json(struct buf *out, const struct snapshot *s, const struct show_daemon *d,
                             struct error *err)
{
    return json_out_line(out, with(snapshot_json(s, NULL), "daemon", daemon_json(d)), FLAGS, err);
}
