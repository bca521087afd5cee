/* SPDX-License-Identifier: MIT */
#include "show/report_parts.h"

#include <math.h>
#include <string.h>

#include "judge/serving.h"
#include "metric/throttle.h"
#include "show/html.h"

static void put_cell(struct buf *out, const char *text)
{
    buf_puts(out, "<td>");
    html_text(out, text);
    buf_puts(out, "</td>");
}

static void put_number(struct buf *out, enum unit unit, double v, double resolution)
{
    char text[48];
    buf_puts(out, "<td class=\"n\">");
    if (!isnan(v))
        html_text(out, unit_format(text, sizeof text, unit, v, resolution));
    buf_puts(out, "</td>");
}

/* State and reason, where there is more to say than "ok". */
static void put_state(struct buf *out, const struct value *v)
{
    buf_puts(out, v->state == VALUE_OK ? "<td>" : "<td class=\"note\">");
    html_text(out, value_state_name(v->state));
    if (v->reason[0]) {
        buf_puts(out, ": ");
        html_text(out, v->reason);
    }
    buf_puts(out, "</td>");
}

void report_fact(struct buf *out, const char *label, const char *text)
{
    if (!text[0])
        return;
    buf_puts(out, "<tr><th scope=\"row\">");
    html_text(out, label);
    buf_puts(out, "</th>");
    put_cell(out, text);
    buf_puts(out, "</tr>\n");
}

/* ---- metrics of a GPU ---- */

static void put_metric(struct buf *out, const struct metric_info *info,
                       const struct metric_stats *s)
{
    bool known = value_has_number(&s->value);
    buf_puts(out, "<tr>");
    put_cell(out, info->label);
    if (known && info->unit == UNIT_FLAGS) {
        char words[THROTTLE_TEXT_SIZE];
        throttle_words((uint64_t)s->value.v, words, sizeof words);
        buf_puts(out, "<td colspan=\"5\">");
        html_text(out, words);
        buf_puts(out, "</td>");
    } else if (known) {
        const double list[] = {s->value.v, s->min, s->p50, s->p95, s->max};
        for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
            put_number(out, info->unit, list[i], s->resolution);
    } else {
        buf_puts(out, "<td class=\"n dim\" colspan=\"5\">no number</td>");
    }
    put_state(out, &s->value);
    put_cell(out, s->value.source == SOURCE_NONE ? "" : source_name(s->value.source));
    buf_puts(out, "<td><code>");
    html_text(out, s->counter);
    buf_puts(out, "</code></td></tr>\n");
}

void report_metrics(struct buf *out, const struct gpu_snapshot *g)
{
    int group = -1;
    buf_puts(out, "<div class=\"wide\"><table><thead><tr><th>Metric</th><th class=\"n\">mean</th>"
                  "<th class=\"n\">min</th><th class=\"n\">p50</th><th class=\"n\">p95</th>"
                  "<th class=\"n\">max</th><th>State</th><th>Source</th><th>Counter</th></tr>"
                  "</thead><tbody>\n");
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if (info->scope != SCOPE_GPU)
            continue;
        if ((int)info->group != group) {
            group = (int)info->group;
            buf_printf(out, "<tr class=\"group\"><th colspan=\"9\" scope=\"rowgroup\">%s</th></tr>",
                       metric_group_title(info->group));
        }
        put_metric(out, info, &g->metrics[m]);
    }
    buf_puts(out, "</tbody></table></div>\n");
}

void report_processes(struct buf *out, const struct gpu_snapshot *g)
{
    if (!g->processes_known || g->n_processes == 0) {
        buf_printf(out, "<p class=\"dim\">%s</p>\n",
                   g->processes_known ? "None."
                                      : "Not known: nobody asked, or the driver does not "
                                        "tell.");
        return;
    }
    buf_puts(out, "<div class=\"wide\"><table><thead><tr><th>PID</th><th>Name</th>"
                  "<th class=\"n\">GPU memory</th><th class=\"n\">SM share, by the driver</th>"
                  "</tr></thead><tbody>\n");
    for (size_t i = 0; i < g->n_processes; i++) {
        const struct snapshot_process *p = &g->processes[i];
        buf_printf(out, "<tr><td>%lld</td>", (long long)p->pid);
        put_cell(out, p->name);
        put_number(out, UNIT_BYTES, p->gpu_memory_bytes, 0);
        put_number(out, UNIT_RATIO, p->sm_utilization, 0.01);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

/* ---- servers ---- */

static void put_server_metric(struct buf *out, const struct metric_info *info,
                              const struct value *v, const char *series)
{
    buf_puts(out, "<tr>");
    put_cell(out, info->label);
    put_number(out, info->unit, value_has_number(v) ? v->v : NAN, 0);
    put_state(out, v);
    buf_puts(out, "<td><code>");
    html_text(out, series);
    buf_puts(out, "</code></td></tr>\n");
}

void report_server(struct buf *out, const struct snapshot *s, size_t server)
{
    const struct server_snapshot *x = &s->servers[server];
    if (x->state != VALUE_OK) {
        buf_printf(out, "<p class=\"note\">%s: ", value_state_name(x->state));
        html_text(out, x->reason);
        buf_puts(out, "</p>\n");
    }
    buf_puts(out, "<div class=\"wide\"><table><thead><tr><th>Metric</th><th class=\"n\">value</th>"
                  "<th>State</th><th>Series</th></tr></thead><tbody>\n");
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        struct value derived;
        if (info->scope == SCOPE_DERIVED) {
            serving_derive(s, server, (enum metric)m, &derived);
            put_server_metric(out, info, &derived, "");
        } else if (info->scope == SCOPE_SERVER) {
            const struct server_metric *v = server_snapshot_metric(x, (enum metric)m);
            put_server_metric(out, info, &v->value, v->series);
        }
    }
    buf_puts(out, "</tbody></table></div>\n");
}
