/* SPDX-License-Identifier: MIT */
#include "show/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/html.h"
#include "show/svg.h"

/* A timeline of the page: the better of two metrics, by default the first. */
struct drawn {
    enum metric metric, or_metric;
    const char *label; /* NULL = the metric's own */
    const char *role;
};

static const struct drawn drawn[] = {
    {METRIC_GPU_UTIL, METRIC_GPU_UTIL, NULL, "claim"},
    {METRIC_GR_ACTIVE, METRIC_GR_ACTIVE, NULL, "claim"},
    {METRIC_SM_ACTIVE, METRIC_SM_ACTIVE, NULL, "real"},
    {METRIC_SM_THROUGHPUT, METRIC_SM_ISSUE, NULL, "real"},
    {METRIC_TENSOR_ACTIVE, METRIC_TENSOR_ACTIVE, NULL, "real"},
    {METRIC_DRAM_THROUGHPUT, METRIC_DRAM_READ, NULL, "memory"},
    {METRIC_DRAM_WRITE, METRIC_DRAM_WRITE, NULL, "memory"},
    {METRIC_OCCUPANCY, METRIC_OCCUPANCY, NULL, "real"},
    {METRIC_PCIE_RX, METRIC_PCIE_RX_THROUGHPUT, NULL, "link"},
    {METRIC_PCIE_TX, METRIC_PCIE_TX_THROUGHPUT, NULL, "link"},
    {METRIC_NVLINK_RX, METRIC_NVLINK_RX_THROUGHPUT, NULL, "link"},
    {METRIC_NVLINK_TX, METRIC_NVLINK_TX_THROUGHPUT, NULL, "link"},
    {METRIC_POWER, METRIC_POWER, NULL, "board"},
    {METRIC_GPC_CLOCK, METRIC_CLOCK_SM, NULL, "board"},
    {METRIC_TEMPERATURE, METRIC_TEMPERATURE, NULL, "board"},
};

static const enum metric server_drawn[] = {METRIC_OUTPUT_TOKENS_PER_SECOND, METRIC_TPOT,
                                           METRIC_RUNNING, METRIC_WAITING, METRIC_KV_USAGE};

/* A second witness beside the counters (GPM, once in ten seconds) has the same mean, but steps
 * where the counters have a curve. */
static enum metric metric_of(const struct gpu_snapshot *g, const struct drawn *d)
{
    const struct value *first = &g->metrics[d->metric].value,
                       *other = &g->metrics[d->or_metric].value;
    bool other_is_finer =
        value_has_number(other) && other->source == g->backend && first->source != g->backend;
    return value_has_number(first) && !other_is_finer ? d->metric : d->or_metric;
}

/* A number that is not sound never stands alone. */
static void put_doubt(struct buf *out, const struct value *v)
{
    if (!value_is_sound(v))
        buf_printf(out, " <em class=\"note\">%s</em>", value_state_name(v->state));
}

static void put_numbers(struct buf *out, enum unit unit, const struct metric_stats *s)
{
    const struct {
        const char *name;
        double v;
    } list[] = {{"mean", s->value.v}, {"p50", s->p50}, {"p95", s->p95}, {"max", s->max}};
    buf_puts(out, "<span>");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char text[48];
        if (isnan(list[i].v))
            continue;
        unit_format(text, sizeof text, unit, list[i].v, s->resolution);
        buf_printf(out, "%s%s ", i ? " · " : "", list[i].name);
        html_text(out, text);
    }
    put_doubt(out, &s->value);
    buf_puts(out, "</span>");
}

static void put_figure(struct buf *out, const struct svg_chart *c, const struct metric_stats *s)
{
    struct buf svg = BUF_INIT;
    svg_timeline(&svg, c);
    if (svg.len) {
        buf_puts(out, "<figure><figcaption><strong>");
        html_text(out, c->label);
        buf_puts(out, "</strong>");
        if (s)
            put_numbers(out, c->unit, s);
        buf_puts(out, "</figcaption>");
        buf_add(out, svg.data, svg.len);
        buf_puts(out, "</figure>\n");
    }
    out->failed |= svg.failed;
    buf_fini(&svg);
}

static double greatest(const struct trace_column *columns, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (columns[i].known && columns[i].max > most)
            most = columns[i].max;
    return most;
}

void report_gpu_charts(struct buf *out, const struct gpu_snapshot *g, const struct timeline *t)
{
    struct trace_column *columns = calloc(TIMELINE_COLUMNS, sizeof *columns);
    out->failed |= !columns;
    for (size_t i = 0; columns && i < sizeof drawn / sizeof drawn[0]; i++) {
        enum metric m = metric_of(g, &drawn[i]);
        const struct metric_info *info = metric_info(m);
        const struct metric_stats *limit = &g->metrics[METRIC_POWER_LIMIT];
        struct svg_chart c = {.label = drawn[i].label ? drawn[i].label : info->label,
                              .role = drawn[i].role,
                              .unit = info->unit,
                              .top = info->unit == UNIT_RATIO ? 1 : 0,
                              .column_ns = timeline_column_ns(t),
                              .columns = columns};
        if (m == METRIC_POWER && value_has_number(&limit->value))
            c.top = limit->value.v;
        c.n = timeline_gpu(t, g->index, m, columns);
        if (c.top > 0)
            c.top = fmax(c.top, greatest(columns, c.n)); /* what is above a limit is seen, too */
        if (value_has_number(&g->metrics[m].value))
            put_figure(out, &c, &g->metrics[m]);
    }
    free(columns);
}

void report_server_charts(struct buf *out, const struct server_snapshot *x,
                          const struct timeline *t)
{
    struct trace_column *columns = calloc(TIMELINE_COLUMNS, sizeof *columns);
    out->failed |= !columns;
    for (size_t i = 0; columns && i < sizeof server_drawn / sizeof server_drawn[0]; i++) {
        const struct metric_info *info = metric_info(server_drawn[i]);
        struct svg_chart c = {.label = info->label,
                              .role = "server",
                              .unit = info->unit,
                              .top = info->unit == UNIT_RATIO ? 1 : 0,
                              .column_ns = timeline_column_ns(t),
                              .columns = columns};
        c.n = timeline_server(t, x->url, server_drawn[i], columns);
        put_figure(out, &c, NULL);
    }
    free(columns);
}

/* ---- the gap ---- */

static void put_bar(struct buf *out, const char *label, const char *role,
                    const struct metric_stats *s)
{
    char text[48];
    double share = fmin(fmax(s->value.v, 0), 1);
    unit_format(text, sizeof text, UNIT_RATIO, s->value.v, s->resolution);
    buf_puts(out, "<span>");
    html_text(out, label);
    put_doubt(out, &s->value);
    buf_puts(out, "</span><b>");
    html_text(out, text);
    buf_printf(out,
               "</b><svg class=\"%s\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
               "aria-hidden=\"true\"><rect class=\"rest\" width=\"1000\" height=\"10\"/>"
               "<rect class=\"bar\" width=\"%.1f\" height=\"10\"/></svg>\n",
               role, 1000 * share);
}

void report_gap(struct buf *out, const struct gpu_snapshot *g)
{
    const struct value *util = &g->metrics[METRIC_GPU_UTIL].value;
    if (!value_has_number(util)) {
        buf_printf(out, "<p class=\"dim\">GPU-Util is not known here (%s): ",
                   value_state_name(util->state));
        html_text(out, util->reason);
        buf_puts(out, "</p>\n");
    }
    buf_puts(out, "<div class=\"gap\">\n");
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        enum metric m = metric_of(g, &drawn[i]);
        const struct metric_info *info = metric_info(m);
        if (info->unit == UNIT_RATIO && value_has_number(&g->metrics[m].value))
            put_bar(out, drawn[i].label ? drawn[i].label : info->label, drawn[i].role,
                    &g->metrics[m]);
    }
    buf_puts(out, "</div>\n");
}
