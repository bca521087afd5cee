/* SPDX-License-Identifier: MIT */
/* smeff servers: the report as JSON, one object in one line. */

#include "base/clock.h"
#include "cmd/servers.h"
#include "show/json_out.h"

static const char *or_null(const char *text)
{
    return text && text[0] ? text : NULL;
}

static json_t *quantile_json(const struct quantile *q)
{
    return json_pack("{s:o, s:s}", "value", json_out_number(q->v), "is",
                     quantile_kind_name(q->kind));
}

static json_t *signal_json(const struct signal *s, enum metric m)
{
    const struct value *v = &s->value;
    bool has_number = value_has_number(v);
    json_t *o =
        json_pack("{s:o, s:s, s:s, s:s}", "value", has_number ? json_out_number(v->v) : json_null(),
                  "unit", unit_name(metric_info(m)->unit), "state", value_state_name(v->state),
                  "source", source_name(SOURCE_SERVER));
    if (!o)
        return NULL;
    if (v->reason[0])
        json_object_set_new(o, "reason", json_string(v->reason));
    if (s->series[0])
        json_object_set_new(o, "series", json_string(s->series));
    if (s->series[0])
        json_object_set_new(o, "freshness", json_string(freshness_name(s->fresh)));
    if (has_number && s->note)
        json_object_set_new(o, "note", json_string(s->note));
    if (has_number && s->p50.kind != QUANTILE_NONE)
        json_object_set_new(o, "p50", quantile_json(&s->p50));
    if (has_number && s->p95.kind != QUANTILE_NONE)
        json_object_set_new(o, "p95", quantile_json(&s->p95));
    return o;
}

static json_t *signals_json(const struct watch_view *v)
{
    json_t *o = json_object();
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        enum metric m = (enum metric)(SIGNAL_FIRST + i);
        json_object_set_new(o, metric_info(m)->key, signal_json(&v->signals.list[i], m));
    }
    return o;
}

static json_t *server_json(const struct watch_view *v)
{
    int d = v->signals.dialect;
    return json_pack(
        "{s:s, s:o, s:b, s:s, s:s?, s:s?, s:s?, s:b, s:b, s:o, s:o, s:o, s:o}", "url",
        v->target->shown, "pid", v->pid ? json_integer(v->pid) : json_null(), "named", v->is_named,
        "state", value_state_name(v->state), "reason", or_null(v->reason), "server",
        d == DIALECT_NONE ? NULL : dialect_get((enum dialect_id)d)->name, "model",
        or_null(v->model), "more_models", v->models > 1, "router", v->is_router, "answer_ms",
        v->state == VALUE_OK ? json_out_number(v->answer_seconds * 1e3) : json_null(), "age_ms",
        v->is_known ? json_out_number(v->age_seconds * 1e3) : json_null(), "window_s",
        v->signals.seconds > 0 ? json_out_number(v->signals.seconds) : json_null(), "signals",
        signals_json(v));
}

enum status servers_json(struct buf *out, const struct watch_view *list, size_t n, int64_t unix_ns,
                         struct error *err)
{
    char time[CLOCK_TEXT_SIZE];
    json_t *servers = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(servers, server_json(&list[i]));
    bool whole = json_array_size(servers) == n;
    json_t *o =
        json_pack("{s:i, s:s, s:s, s:o}", "schema", 1, "time", clock_iso8601(time, unix_ns, 3),
                  "tool", "smeff " SMEFF_VERSION, "servers", servers);
    if (o && !whole) {
        json_decref(o);
        o = NULL;
    }
    return json_out_line(out, o, 0, err);
}
