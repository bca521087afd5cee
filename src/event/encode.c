/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/book.h"
#include "event/wire.h"

/* Written by hand and not with jansson: at 10,000 samples a second this is the hot path. */

static void put_string(struct buf *out, const char *s)
{
    buf_putc(out, '"');
    while (*s) {
        size_t plain =
            strcspn(s, "\"\\\n\r\t\b\f\x01\x02\x03\x04\x05\x06\x07\x0b\x0e\x0f\x10\x11\x12"
                       "\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f");
        buf_add(out, s, plain);
        s += plain;
        if (*s == '"' || *s == '\\')
            buf_printf(out, "\\%c", *s++);
        else if (*s)
            buf_printf(out, "\\u%04x", (unsigned)(unsigned char)*s++);
    }
    buf_putc(out, '"');
}

static void put_field(struct buf *out, const char *key, const char *value)
{
    buf_printf(out, ",\"%s\":", key);
    put_string(out, value);
}

static size_t put_digits(char *dst, uint64_t v)
{
    char reversed[24];
    size_t n = 0;
    do
        reversed[n++] = (char)('0' + v % 10);
    while (v /= 10);
    for (size_t i = 0; i < n; i++)
        dst[i] = reversed[n - 1 - i];
    return n;
}

/* 0.8630769, without trailing zeros: what printf needs ten times as long for. */
static void put_ratio(struct buf *out, double v)
{
    char text[40];
    uint64_t scaled = (uint64_t)(v * 1e7 + 0.5);
    size_t n = put_digits(text, scaled / 10000000);
    uint64_t fraction = scaled % 10000000;
    if (fraction) {
        text[n++] = '.';
        for (uint64_t digit = 1000000; fraction; digit /= 10) {
            text[n++] = (char)('0' + fraction / digit);
            fraction %= digit;
        }
    }
    buf_add(out, text, n);
}

static void put_number(struct buf *out, enum unit unit, double v)
{
    char text[NUM_TEXT_SIZE];
    if (!isfinite(v))
        buf_add(out, "null", 4);
    else if (unit == UNIT_RATIO && v >= 0 && v < 1e9)
        put_ratio(out, v);
    else
        buf_add(out, text, num_format_digits(text, v, 12));
}

static void put_time(struct buf *out, int64_t ns)
{
    char text[24];
    size_t sign = ns < 0;
    text[0] = '-';
    size_t n = put_digits(text + sign, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
    buf_add(out, text, n + sign);
}

static void put_times(struct buf *out, const char *key, const int64_t *ns, size_t n)
{
    buf_printf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, ',');
        put_time(out, ns[i]);
    }
    buf_putc(out, ']');
}

static void put_plan(struct buf *out, const struct event_plan *p)
{
    buf_printf(out, "\"plan\",\"gpu\":%u", p->gpu);
    put_field(out, "source", source_name(p->source));
    buf_puts(out, ",\"rate_hz\":");
    put_number(out, UNIT_HERTZ, p->rate_hz);
    buf_puts(out, ",\"series\":[");
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_series *s = &p->series[i];
        buf_puts(out, i ? ",{" : "{");
        buf_puts(out, s->metric == METRIC_NONE ? "\"name\":" : "\"metric\":");
        put_string(out, s->name);
        put_field(out, "unit", unit_name(s->unit));
        put_field(out, "state", value_state_name(s->state));
        if (s->reason[0])
            put_field(out, "reason", s->reason);
        if (s->counter[0])
            put_field(out, "counter", s->counter);
        if (s->resolution > 0) {
            buf_puts(out, ",\"resolution\":");
            put_number(out, UNIT_COUNT, s->resolution);
        }
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_samples(struct buf *out, const struct event_samples *s,
                        const struct book_plan *plan)
{
    buf_printf(out, "\"samples\",\"gpu\":%u", s->gpu);
    put_field(out, "source", source_name(s->source));
    put_times(out, "t0_ns", s->t0_ns, s->n);
    put_times(out, "t1_ns", s->t1_ns, s->n);
    buf_puts(out, ",\"values\":{");
    for (size_t c = 0; c < s->columns; c++) {
        if (c)
            buf_putc(out, ',');
        const struct book_series *series = &plan->series[s->series[c]];
        put_string(out, series->name);
        buf_puts(out, ":[");
        for (size_t i = 0; i < s->n; i++) {
            if (i)
                buf_putc(out, ',');
            put_number(out, series->unit, s->values[c * s->stride + i]);
        }
        buf_putc(out, ']');
    }
    buf_putc(out, '}');
}

static void put_processes(struct buf *out, const struct event_processes *p)
{
    buf_printf(out, "\"processes\",\"gpu\":%u,\"list\":[", p->gpu);
    for (size_t i = 0; i < p->n; i++) {
        buf_printf(out, "%s{\"pid\":%" PRId64, i ? "," : "", p->list[i].pid);
        put_field(out, "name", p->list[i].name);
        buf_puts(out, ",\"gpu_memory\":");
        put_number(out, UNIT_BYTES, p->list[i].gpu_memory_bytes);
        buf_puts(out, ",\"sm_utilization\":");
        put_number(out, UNIT_RATIO, p->list[i].sm_utilization);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_field_or_null(struct buf *out, const char *key, const char *value)
{
    if (*value)
        put_field(out, key, value);
    else
        buf_printf(out, ",\"%s\":null", key);
}

static void put_state(struct buf *out, enum value_state state, const char *reason)
{
    put_field(out, "state", value_state_name(state));
    if (*reason)
        put_field(out, "reason", reason);
}

static void put_server_metric(struct buf *out, const struct event_server_metric *m)
{
    const struct metric_info *info = metric_info(m->metric);
    struct value shown = {.state = m->state};
    put_string(out, info->key);
    buf_puts(out, ":{\"value\":");
    put_number(out, info->unit, value_has_number(&shown) ? m->v : NAN);
    put_state(out, m->state, m->reason);
    if (*m->series)
        put_field(out, "series", m->series);
    if (*m->freshness)
        put_field(out, "freshness", m->freshness);
    buf_putc(out, '}');
}

static void put_server(struct buf *out, const struct event_server *s)
{
    buf_puts(out, "\"server\"");
    put_field(out, "url", s->url);
    put_field_or_null(out, "kind", s->kind);
    put_field_or_null(out, "model", s->model);
    if (s->pid > 0)
        buf_printf(out, ",\"pid\":%" PRId64, s->pid);
    else
        buf_puts(out, ",\"pid\":null");
    buf_printf(out, ",\"local\":%s,\"gpu_pids\":[", s->is_local ? "true" : "false");
    for (size_t i = 0; i < s->n_gpu_pids; i++)
        buf_printf(out, "%s%" PRId64, i ? "," : "", s->gpu_pids[i]);
    buf_putc(out, ']');
    put_state(out, s->state, s->reason);
    if (s->is_gone)
        buf_puts(out, ",\"gone\":true");
    buf_puts(out, ",\"t0_ns\":");
    put_time(out, s->t0_ns);
    buf_puts(out, ",\"t1_ns\":");
    put_time(out, s->t1_ns);
    buf_puts(out, ",\"metrics\":{");
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            buf_putc(out, ',');
        put_server_metric(out, &s->metrics[i]);
    }
    buf_putc(out, '}');
}

struct event_encoder {
    struct book book;
};

enum status event_encoder_create(struct event_encoder **out, struct error *err)
{
    struct event_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = e;
    return OK;
}

void event_encoder_destroy(struct event_encoder *e)
{
    if (!e)
        return;
    book_fini(&e->book);
    free(e);
}

static enum status samples_plan(const struct event_encoder *e, const struct event_samples *s,
                                const struct book_plan **out, struct error *err)
{
    const struct book_plan *plan = book_find(&e->book, s->gpu, s->source);
    for (size_t c = 0; plan && c < s->columns; c++)
        if (s->series[c] >= plan->n)
            plan = NULL;
    if (!plan)
        return fail(err, ERR_BAD_INPUT, 0, "samples of GPU %u without a plan", s->gpu);
    *out = plan;
    return OK;
}

static void put_gpu(struct buf *out, const struct event_gpu *g)
{
    buf_printf(out, "\"gpu\",\"gpu\":%u", g->gpu);
    put_field(out, "name", g->name);
    put_field(out, "uuid", g->uuid);
    put_field(out, "chip", g->chip);
    put_field(out, "pci_bus", g->pci_bus);
}

static void put_note(struct buf *out, const struct event_note *n)
{
    buf_puts(out, "\"note\"");
    put_field(out, "level", note_level_name(n->level));
    if (n->gpu >= 0)
        buf_printf(out, ",\"gpu\":%d", n->gpu);
    put_field(out, "text", n->text);
}

static void put_end(struct buf *out, const struct event_end *e)
{
    buf_puts(out, "\"end\"");
    put_field(out, "status", status_name(e->status));
    put_field(out, "reason", e->reason);
}

enum status event_encode(struct event_encoder *e, struct buf *out, const struct event *ev,
                         struct error *err)
{
    const struct book_plan *plan = NULL;
    enum status st = OK;
    if (ev->kind == EVENT_PLAN)
        st = book_remember(&e->book, &ev->u.plan, err);
    else if (ev->kind == EVENT_SAMPLES)
        st = samples_plan(e, &ev->u.samples, &plan, err);
    if (st)
        return st;
    buf_puts(out, "{\"event\":");
    switch (ev->kind) {
    case EVENT_HELLO:
        buf_printf(out, "\"hello\",\"schema\":%d", ev->u.hello.schema);
        put_field(out, "tool", ev->u.hello.tool);
        put_field(out, "host", ev->u.hello.host);
        if (ev->u.hello.is_replay)
            buf_puts(out, ",\"replay\":true");
        break;
    case EVENT_GPU:
        put_gpu(out, &ev->u.gpu);
        break;
    case EVENT_PLAN:
        put_plan(out, &ev->u.plan);
        break;
    case EVENT_SAMPLES:
        put_samples(out, &ev->u.samples, plan);
        break;
    case EVENT_PROCESSES:
        put_processes(out, &ev->u.processes);
        break;
    case EVENT_SERVER:
        put_server(out, &ev->u.server);
        break;
    case EVENT_NOTE:
        put_note(out, &ev->u.note);
        break;
    case EVENT_BEAT:
        buf_puts(out, "\"beat\"");
        break;
    case EVENT_END:
        put_end(out, &ev->u.end);
        break;
    }
    buf_puts(out, "}\n");
    return out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : OK;
}
