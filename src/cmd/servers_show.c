/* SPDX-License-Identifier: MIT */
/* smeff servers: the report as text. */
#include <stdio.h>

#include "base/str.h"
#include "cmd/servers.h"
#include "show/wrap.h"

enum { LABEL_COLUMNS = 18, VALUE_COLUMNS = 15, TEXT_SIZE = 400 };

static void pad(struct buf *out, const char *text, int columns)
{
    size_t used = str_columns(text), wanted = (size_t)columns;
    buf_repeat(out, " ", used < wanted ? wanted - used : 0);
}

/* "412 ms (p50 < 300 ms, p95 1.2 s)" needs the bound's sign. */
static void add_quantile(struct buf *out, const char *name, const struct quantile *q,
                         enum unit unit)
{
    static const char *const signs[] = {[QUANTILE_BELOW] = "<= ",
                                        [QUANTILE_ABOVE] = "> ",
                                        [QUANTILE_BETWEEN] = "",
                                        [QUANTILE_NONE] = ""};
    char text[64];
    if (q->kind != QUANTILE_NONE)
        buf_printf(out, "%s %s%s; ", name, signs[q->kind],
                   unit_format(text, sizeof text, unit, q->v, 0));
}

/* Quantiles, state with reason, series, freshness: what stands behind the number. */
static void add_details(struct buf *out, const struct signal *s, enum unit unit)
{
    if (value_has_number(&s->value)) {
        add_quantile(out, "p50", &s->p50, unit);
        add_quantile(out, "p95", &s->p95, unit);
    }
    if (s->value.state != VALUE_OK)
        buf_printf(out, "%s: %s%s", value_state_name(s->value.state), s->value.reason,
                   s->series[0] ? "; " : "");
    buf_puts(out, s->series);
    if (s->series[0] && s->fresh != FRESH_LIVE && value_has_number(&s->value))
        buf_printf(out, ", %s", freshness_text(s->fresh));
    if (s->note && value_has_number(&s->value))
        buf_printf(out, "; %s", s->note);
}

static void show_signal(struct buf *out, const struct signal *s, enum metric m,
                        const struct show_style *style)
{
    const struct metric_info *info = metric_info(m);
    struct buf lead = BUF_INIT, details = BUF_INIT;
    char number[64] = "–";
    if (value_has_number(&s->value))
        unit_format(number, sizeof number, info->unit, s->value.v, 0);
    buf_printf(&lead, "  %s", info->label);
    pad(&lead, info->label, LABEL_COLUMNS);
    pad(&lead, number, VALUE_COLUMNS);
    wrap_plain(&lead, style, number);
    buf_puts(&lead, "  ");
    add_details(&details, s, info->unit);
    wrap_words(out, style, buf_str(&lead), buf_str(&details));
    buf_fini(&lead);
    buf_fini(&details);
}

static void show_server(struct buf *out, const struct watch_view *v, const struct show_style *style)
{
    char text[TEXT_SIZE + TARGET_URL_SIZE];
    int d = v->signals.dialect;
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", v->target->shown, d == DIALECT_NONE ? "" : "  ",
             d == DIALECT_NONE ? "" : dialect_get((enum dialect_id)d)->title,
             v->is_router ? ", a router in front of other servers" : "", *v->model ? ", " : "",
             v->model, v->models > 1 ? " and more" : "");
    wrap_plain(out, style, text);
    if (v->pid)
        buf_printf(out, "  (process %d)", v->pid);
    buf_putc(out, '\n');
    if (v->state != VALUE_OK) {
        snprintf(text, sizeof text, "%s: %s", value_state_name(v->state), v->reason);
        wrap_words(out, style, "  ", text);
    }
    for (int i = 0; v->is_known && i < SIGNAL_COUNT; i++)
        show_signal(out, &v->signals.list[i], (enum metric)(SIGNAL_FIRST + i), style);
}

void servers_text(struct buf *out, const struct watch_view *list, size_t n,
                  const struct show_style *style)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, '\n');
        show_server(out, &list[i], style);
    }
    if (n == 0)
        wrap_words(
            out, style, "",
            "No inference server was found on this machine: none of the processes that hold "
            "a GPU, and nobody at the usual ports, shows metrics that smeff knows. Name one: "
            "smeff servers URL");
}
