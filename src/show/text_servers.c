/* SPDX-License-Identifier: MIT */
#include "show/text_servers.h"

#include <string.h>

#include "base/str.h"
#include "judge/serving.h"
#include "show/wrap.h"

enum { LABEL_COLUMNS = 20, NUMBER_COLUMNS = 15, CELL = 48 };

static const enum metric shown[] = {METRIC_OUTPUT_TOKENS_PER_SECOND,
                                    METRIC_TPOT,
                                    METRIC_TTFT,
                                    METRIC_RUNNING,
                                    METRIC_WAITING,
                                    METRIC_KV_USAGE,
                                    METRIC_BYTES_PER_OUTPUT_TOKEN,
                                    METRIC_JOULES_PER_OUTPUT_TOKEN,
                                    METRIC_MEASURED_TO_ESTIMATED};
enum { SHOWN = sizeof shown / sizeof shown[0] };

static void pad(struct buf *out, const char *text, int columns)
{
    size_t used = str_columns(text), wanted = (size_t)columns;
    buf_repeat(out, " ", used < wanted ? wanted - used : 0);
}

static void put_number(struct buf *out, const struct metric_info *info, const struct value *v,
                       const struct show_style *style)
{
    char text[CELL];
    unit_format(text, sizeof text, info->unit, v->v, 0);
    buf_printf(out, "  %s", info->label);
    pad(out, info->label, LABEL_COLUMNS);
    pad(out, text, NUMBER_COLUMNS);
    wrap_plain(out, style, text);
    buf_putc(out, '\n');
    if (v->state == VALUE_OK)
        return;
    struct buf why = BUF_INIT;
    buf_printf(&why, "%s: %s", value_state_name(v->state), v->reason);
    wrap_words(out, style, "    ", buf_str(&why));
    out->failed |= why.failed;
    buf_fini(&why);
}

static void put_missing(struct buf *out, const struct value *values, const struct show_style *style)
{
    bool done[SHOWN] = {0};
    for (size_t i = 0; i < SHOWN; i++) {
        struct buf line = BUF_INIT;
        if (done[i] || value_has_number(&values[i]))
            continue;
        for (size_t k = i; k < SHOWN; k++) { /* those of the same reason stand together */
            bool same = !value_has_number(&values[k]) && values[k].state == values[i].state &&
                        strcmp(values[k].reason, values[i].reason) == 0;
            done[k] |= same;
            if (same)
                buf_printf(&line, "%s%s", line.len ? ", " : "", metric_info(shown[k])->label);
        }
        buf_printf(&line, ": %s (%s)", values[i].reason, value_state_name(values[i].state));
        wrap_words(out, style, "  ", buf_str(&line));
        out->failed |= line.failed;
        buf_fini(&line);
    }
}

static void put_identity(struct buf *out, const struct snapshot *s, size_t server,
                         const struct show_style *style)
{
    const struct server_snapshot *x = &s->servers[server];
    const char *dot = style->utf8 ? " · " : ", ";
    struct buf line = BUF_INIT;
    buf_printf(&line, "%s%s%s%s%s", x->url, *x->kind ? dot : "", x->kind, *x->model ? dot : "",
               x->model);
    for (size_t i = 0; i < s->n_gpus; i++)
        if (serving_of(s, server, i) != SERVING_NOT)
            buf_printf(&line, "%sGPU %u", dot, s->gpus[i].index);
    if (server_snapshot_window_s(x) > 0)
        buf_printf(&line, "%s%.2f s", dot, server_snapshot_window_s(x));
    wrap_words(out, style, "Server  ", buf_str(&line));
    buf_clear(&line);
    if (x->state != VALUE_OK) {
        buf_printf(&line, "%s: %s", value_state_name(x->state), x->reason);
        wrap_words(out, style, "  ", buf_str(&line));
    }
    out->failed |= line.failed;
    buf_fini(&line);
}

void text_server(struct buf *out, const struct snapshot *s, size_t server,
                 const struct show_style *style)
{
    const struct server_snapshot *x = &s->servers[server];
    struct value values[SHOWN] = {{0}};
    put_identity(out, s, server, style);
    if (!*x->kind) /* it gave no metrics at all, and the reason was said */
        return;
    for (size_t i = 0; i < SHOWN; i++) {
        const struct metric_info *info = metric_info(shown[i]);
        if (info->scope == SCOPE_DERIVED)
            serving_derive(s, server, shown[i], &values[i]);
        else
            values[i] = server_snapshot_metric(x, shown[i])->value;
        if (value_has_number(&values[i]))
            put_number(out, info, &values[i], style);
    }
    put_missing(out, values, style);
}
