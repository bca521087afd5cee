/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "judge/serving.h"
#include "metric/throttle.h"
#include "show/text_servers.h"
#include "show/wrap.h"

enum { LABEL_COLUMNS = 20, NUMBER_COLUMNS = 10, BAR_COLUMNS = 20, CELL = 32 };

static const char *const bold = "\033[1m", *const dim = "\033[2m", *const yellow = "\033[33m",
                         *const cyan = "\033[36m", *const off = "\033[0m";

static void put(struct buf *out, const struct show_style *style, const char *colour,
                const char *text)
{
    if (style->colour)
        buf_puts(out, colour);
    wrap_plain(out, style, text);
    if (style->colour)
        buf_puts(out, off);
}

/* Left-aligned when columns > 0, right-aligned when < 0; counts columns, not bytes. */
static void put_cell(struct buf *out, const char *text, int columns)
{
    size_t width = (size_t)(columns < 0 ? -columns : columns), have = str_columns(text);
    size_t pad = have < width ? width - have : 0;
    if (columns < 0)
        buf_repeat(out, " ", pad);
    buf_puts(out, text);
    if (columns > 0)
        buf_repeat(out, " ", pad);
}

static void put_wrapped_in(struct buf *out, const struct show_style *style, const char *colour,
                           const char *lead, const char *text)
{
    if (style->colour)
        buf_puts(out, colour);
    wrap_words(out, style, lead, text);
    if (style->colour)
        buf_puts(out, off);
}

/* Which of the table's columns fit. */
struct layout {
    bool min_max, quantiles, bar;
};

static struct layout layout_of(const struct show_style *style)
{
    int left = style->columns - 2 - LABEL_COLUMNS - NUMBER_COLUMNS;
    struct layout l = {0};
    if ((l.min_max = left >= 2 * NUMBER_COLUMNS))
        left -= 2 * NUMBER_COLUMNS;
    if ((l.quantiles = left >= 2 * NUMBER_COLUMNS))
        left -= 2 * NUMBER_COLUMNS;
    l.bar = left >= BAR_COLUMNS + 2;
    return l;
}

static void put_number(struct buf *out, const struct show_style *style, enum unit unit, double v,
                       double resolution)
{
    char text[CELL];
    struct buf plain = BUF_INIT;
    wrap_plain(&plain, style, unit_format(text, sizeof text, unit, v, resolution));
    put_cell(out, buf_str(&plain), -NUMBER_COLUMNS);
    out->failed |= plain.failed;
    buf_fini(&plain);
}

static void put_bar(struct buf *out, const struct show_style *style, double share)
{
    double clipped = share < 0 ? 0 : share > 1 ? 1 : share;
    size_t full = (size_t)(clipped * (double)BAR_COLUMNS + 0.5);
    buf_puts(out, "  ");
    if (style->colour)
        buf_puts(out, cyan);
    buf_repeat(out, style->utf8 ? "█" : "#", full);
    if (style->colour)
        buf_puts(out, dim);
    buf_repeat(out, style->utf8 ? "·" : ".", BAR_COLUMNS - full);
    if (style->colour)
        buf_puts(out, off);
}

static void put_row(struct buf *out, const struct show_style *style, const char *label,
                    enum unit unit, const struct metric_stats *s)
{
    struct layout l = layout_of(style);
    /* a mean of many samples carries one digit more than a sample, unless all are the same: then
     * nothing is known of what lies between two steps */
    bool finer = s->samples >= 10 && s->min < s->max;
    double mean_step = finer ? s->resolution / 10 : s->resolution;
    buf_puts(out, "  ");
    put_cell(out, label, LABEL_COLUMNS);
    if (unit == UNIT_FLAGS) { /* the only flags are what holds the clocks down */
        char words[THROTTLE_TEXT_SIZE];
        throttle_words((uint64_t)s->value.v, words, sizeof words);
        wrap_words(out, style, "  ", words);
        return;
    }
    put_number(out, style, unit, s->value.v, mean_step);
    if (l.min_max)
        put_number(out, style, unit, s->min, s->resolution);
    if (l.quantiles) {
        put_number(out, style, unit, s->p50, s->resolution);
        put_number(out, style, unit, s->p95, s->resolution);
    }
    if (l.min_max)
        put_number(out, style, unit, s->max, s->resolution);
    if (l.bar && unit == UNIT_RATIO)
        put_bar(out, style, s->value.v);
    buf_putc(out, '\n');
    if (s->value.state != VALUE_OK) {
        char lead[LABEL_COLUMNS + 8];
        snprintf(lead, sizeof lead, "    %s: ", value_state_name(s->value.state));
        put_wrapped_in(out, style, yellow, lead, s->value.reason);
    }
}

static void put_head(struct buf *out, const struct show_style *style)
{
    struct layout l = layout_of(style);
    struct buf line = BUF_INIT;
    put_cell(&line, "", 2 + LABEL_COLUMNS);
    put_cell(&line, "mean", -NUMBER_COLUMNS);
    if (l.min_max)
        put_cell(&line, "min", -NUMBER_COLUMNS);
    if (l.quantiles) {
        put_cell(&line, "p50", -NUMBER_COLUMNS);
        put_cell(&line, "p95", -NUMBER_COLUMNS);
    }
    if (l.min_max)
        put_cell(&line, "max", -NUMBER_COLUMNS);
    put(out, style, dim, buf_str(&line));
    buf_putc(out, '\n');
    out->failed |= line.failed;
    buf_fini(&line);
}

static void put_table(struct buf *out, const struct show_style *style, const struct gpu_snapshot *g)
{
    put_head(out, style);
    int group = -1;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if (info->scope != SCOPE_GPU || !value_has_number(&g->metrics[m].value))
            continue;
        if ((int)info->group != group) {
            group = (int)info->group;
            put(out, style, bold, metric_group_title(info->group));
            buf_putc(out, '\n');
        }
        put_row(out, style, info->label, info->unit, &g->metrics[m]);
    }
}

/* A hardware counter without a number. */
static bool is_missing(const struct gpu_snapshot *g, int m)
{
    const struct metric_info *info = metric_info((enum metric)m);
    return info->scope == SCOPE_GPU && info->group != GROUP_DRIVER &&
           !value_has_number(&g->metrics[m].value);
}

/* Labels of all metrics from m on that lack a number for the same reason as m. */
static void put_same_reason(struct buf *line, const struct gpu_snapshot *g, int m, bool *done)
{
    const struct value *v = &g->metrics[m].value;
    for (int k = m; k < METRIC_COUNT; k++) {
        const struct value *w = &g->metrics[k].value;
        if (!is_missing(g, k) || w->state != v->state || strcmp(w->reason, v->reason) != 0)
            continue;
        done[k] = true;
        buf_printf(line, "%s%s", line->len ? ", " : "", metric_info((enum metric)k)->label);
    }
    buf_printf(line, ": %s (%s)", v->reason, value_state_name(v->state));
}

static void put_missing(struct buf *out, const struct show_style *style,
                        const struct gpu_snapshot *g)
{
    bool done[METRIC_COUNT] = {0}, any = false;
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (done[m] || !is_missing(g, m))
            continue;
        if (!any) {
            put(out, style, bold, "No number");
            buf_putc(out, '\n');
        }
        any = true;
        struct buf line = BUF_INIT;
        put_same_reason(&line, g, m, done);
        wrap_words(out, style, "  ", buf_str(&line));
        out->failed |= line.failed;
        buf_fini(&line);
    }
}

static void put_extras(struct buf *out, const struct show_style *style,
                       const struct gpu_snapshot *g)
{
    if (g->n_extras == 0)
        return;
    put_wrapped_in(out, style, bold, "", "Other metrics of the source: mean, min, max, as named");
    for (size_t i = 0; i < g->n_extras; i++) {
        const struct metric_stats *s = &g->extras[i].stats;
        struct buf line = BUF_INIT;
        buf_printf(&line, "%s:", g->extras[i].name);
        if (value_has_number(&s->value))
            buf_printf(&line, " %.6g, %.6g, %.6g", s->value.v, s->min, s->max);
        if (s->value.state != VALUE_OK)
            buf_printf(&line, " %s: %s", value_state_name(s->value.state), s->value.reason);
        wrap_words(out, style, "  ", buf_str(&line));
        out->failed |= line.failed;
        buf_fini(&line);
    }
}

static void put_lines(struct buf *out, const struct show_style *style, const char *lead,
                      const struct verdict_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        wrap_words(out, style, lead, lines->line[i]);
}

static void put_verdict(struct buf *out, const struct show_style *style, const struct snapshot *s,
                        size_t gpu)
{
    struct verdict v;
    serving_verdict(s, gpu, &v);
    struct buf line = BUF_INIT;
    buf_printf(&line, "%s – %s", verdict_name(v.kind), verdict_text(v.kind));
    put_wrapped_in(out, style, bold, "Verdict: ", buf_str(&line));
    put_lines(out, style, "  because     ", &v.evidence);
    put_lines(out, style, "  not proven  ", &v.limits);
    put_lines(out, style, "  try         ", &v.advice);
    out->failed |= line.failed;
    buf_fini(&line);
}

static void put_identity(struct buf *out, const struct show_style *style, const struct snapshot *s,
                         const struct gpu_snapshot *g)
{
    char rate[32];
    const char *dot = style->utf8 ? " · " : ", ";
    struct buf line = BUF_INIT;
    char lead[32];
    snprintf(lead, sizeof lead, "GPU %u  ", g->index);
    buf_printf(&line, "%s%s%s", g->name, g->name[0] && g->chip[0] ? dot : "", g->chip);
    put_wrapped_in(out, style, bold, lead, buf_str(&line));
    buf_clear(&line);
    buf_puts(&line, s->tool);
    if (g->rate_hz > 0)
        buf_printf(&line, "%s%s", dot, unit_rate(rate, sizeof rate, g->rate_hz));
    buf_printf(&line, "%s%llu samples in %.2f s", dot, (unsigned long long)g->samples,
               gpu_snapshot_window_s(g));
    if (!isnan(g->coverage))
        buf_printf(&line, "%scoverage %.1f %%", dot, 100 * g->coverage);
    if (g->gaps)
        buf_printf(&line, "%s%llu gaps, longest %.3g s", dot, (unsigned long long)g->gaps,
                   g->longest_gap_s);
    wrap_words(out, style, "", buf_str(&line));
    out->failed |= line.failed;
    buf_fini(&line);
}

void show_text(struct buf *out, const struct snapshot *s, const char *title,
               const struct show_style *style)
{
    if (title[0]) {
        char clean[4096];
        str_clean(clean, sizeof clean, title, strlen(title));
        put(out, style, dim, clean);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct gpu_snapshot *g = &s->gpus[i];
        if (i)
            buf_putc(out, '\n');
        put_identity(out, style, s, g);
        buf_putc(out, '\n');
        put_table(out, style, g);
        put_extras(out, style, g);
        put_missing(out, style, g);
        buf_putc(out, '\n');
        put_verdict(out, style, s, i);
    }
    for (size_t i = 0; i < s->n_servers; i++) {
        buf_putc(out, '\n');
        text_server(out, s, i, style);
    }
}
