/* SPDX-License-Identifier: MIT */
/* The lanes of a GPU view: one metric each, with its value, a bar, and its history, all against the
 * same scale and the same time, so that GPU-Util and what the hardware did are seen side by side.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "panel/pieces.h"

enum { LABEL = 11, NUMBER = 10, CHART_FROM = 62, ROWS_MAX = 9, LANES_MAX = 16 };

struct lane {
    enum metric metric, or_metric; /* the first with a number; the same twice = only one */
    enum metric peak;  /* share of the peak for the bar, or upper edge; = metric: none */
    const char *label; /* NULL = the metric's own */
    enum role role;
    const char *words;
    int most; /* rows */
};

/* In the order of the screen; where rows are few the last go first. */
static const struct lane lanes[] = {
    {METRIC_GPU_UTIL, METRIC_GPU_UTIL, METRIC_GPU_UTIL, NULL, ROLE_CLAIM,
     "share of time in which a kernel was there", ROWS_MAX},
    {METRIC_GR_ACTIVE, METRIC_GR_ACTIVE, METRIC_GR_ACTIVE, NULL, ROLE_CLAIM,
     "the same, as the hardware counts it", ROWS_MAX},
    {METRIC_SM_ACTIVE, METRIC_SM_ACTIVE, METRIC_SM_ACTIVE, NULL, ROLE_REAL,
     "SMs that held at least one warp", ROWS_MAX},
    {METRIC_SM_THROUGHPUT, METRIC_SM_ISSUE, METRIC_SM_ISSUE, NULL, ROLE_REAL,
     "of the most that the SMs could issue", ROWS_MAX},
    {METRIC_TENSOR_ACTIVE, METRIC_TENSOR_ACTIVE, METRIC_TENSOR_ACTIVE, "Tensor", ROLE_REAL,
     "cycles in which tensor pipes worked", ROWS_MAX},
    {METRIC_DRAM_THROUGHPUT, METRIC_DRAM_READ, METRIC_DRAM_READ, NULL, ROLE_MEMORY,
     "of the memory's peak bandwidth", ROWS_MAX},
    {METRIC_DRAM_WRITE, METRIC_DRAM_WRITE, METRIC_DRAM_WRITE, NULL, ROLE_MEMORY,
     "of the memory's peak bandwidth", 4},
    {METRIC_OCCUPANCY, METRIC_OCCUPANCY, METRIC_OCCUPANCY, NULL, ROLE_REAL,
     "warps held, of the most that fit", 5},
    {METRIC_PCIE_RX, METRIC_PCIE_RX, METRIC_PCIE_RX_THROUGHPUT, NULL, ROLE_LINK, "from the host",
     4},
    {METRIC_PCIE_TX, METRIC_PCIE_TX, METRIC_PCIE_TX_THROUGHPUT, NULL, ROLE_LINK, "to the host", 4},
    {METRIC_NVLINK_RX, METRIC_NVLINK_RX, METRIC_NVLINK_RX_THROUGHPUT, NULL, ROLE_LINK,
     "from other GPUs", 4},
    {METRIC_NVLINK_TX, METRIC_NVLINK_TX, METRIC_NVLINK_TX_THROUGHPUT, NULL, ROLE_LINK,
     "to other GPUs", 4},
    {METRIC_POWER, METRIC_POWER, METRIC_POWER_LIMIT, NULL, ROLE_TEXT, "of the limit", 4},
    {METRIC_GPC_CLOCK, METRIC_CLOCK_SM, METRIC_CLOCK_SM, "SM clock", ROLE_TEXT, "", 3},
};

enum { LANES = sizeof lanes / sizeof lanes[0] };

static struct shown lane_value(const struct model *m, const struct gpu_snapshot *g,
                               const struct lane *l)
{
    struct shown first = model_value(m, g, l->metric);
    if (value_has_number(&first.value) || l->or_metric == l->metric)
        return first;
    return model_value(m, g, l->or_metric);
}

/* A link's second direction that is unknown for the reason of the first says nothing new. */
static bool is_repeated(const struct model *m, const struct gpu_snapshot *g, int i)
{
    if (lanes[i].role != ROLE_LINK || lanes[i - 1].role != ROLE_LINK)
        return false;
    struct shown here = lane_value(m, g, &lanes[i]), above = lane_value(m, g, &lanes[i - 1]);
    return !value_has_number(&here.value) && !value_has_number(&above.value) &&
           strcmp(here.value.reason, above.value.reason) == 0;
}

static int list_lanes(const struct model *m, const struct gpu_snapshot *g, int list[LANES_MAX])
{
    int n = 0;
    for (int i = 0; i < LANES; i++)
        if (!is_repeated(m, g, i))
            list[n++] = i;
    return n;
}

int pane_lanes_count(const struct model *m, const struct gpu_snapshot *g)
{
    int list[LANES_MAX];
    return list_lanes(m, g, list);
}

/* One row each, then one more for those that have fewest and may have more, from the top. */
static int share_rows(const bool *known, const int *list, int n, int rows, int out[LANES_MAX])
{
    n = n < rows ? n : rows;
    for (int i = 0; i < n; i++)
        out[i] = 1;
    for (int left = rows - n, given = 1; left > 0 && given;) {
        given = 0;
        for (int level = 1; level < ROWS_MAX && !given; level++)
            for (int i = 0; i < n && left > 0; i++) {
                /* links and the board's grow at half the pace */
                int wants = lanes[list[i]].most < ROWS_MAX ? 2 * out[i] + 1 : out[i];
                if (wants != level || out[i] >= lanes[list[i]].most || !known[i])
                    continue;
                out[i]++;
                left--;
                given++;
            }
    }
    return n;
}

/* ---- one lane ---- */

struct columns {
    int bar_x, bar_width, chart_x, chart_width;
};

static struct columns columns_of(int width)
{
    struct columns c = {.bar_x = LABEL + NUMBER + 3};
    if (width < CHART_FROM) {
        c.bar_width = width - c.bar_x - 1;
        return c;
    }
    c.bar_width = width / 5 > 40 ? 40 : width / 5;
    c.chart_x = c.bar_x + c.bar_width + 2;
    c.chart_width = width - c.chart_x - 1;
    return c;
}

/* The bar's share: of the peak where one is known; NaN: there is none. */
static double share_of(const struct model *m, const struct gpu_snapshot *g, const struct lane *l,
                       const struct shown *s)
{
    if (metric_info(s->metric)->unit == UNIT_RATIO)
        return s->value.v;
    struct shown peak = model_value(m, g, l->peak);
    if (!value_has_number(&peak.value) || l->peak == s->metric)
        return NAN;
    if (metric_info(l->peak)->unit == UNIT_RATIO)
        return peak.value.v;
    return l->metric == METRIC_POWER && peak.value.v > 0 ? s->value.v / peak.value.v : NAN;
}

/* The second row: how far the samples of the second lay apart, or what is wrong with the value. */
static void draw_spread(struct area a, int y, const struct shown *s, int width)
{
    char low[VALUE_TEXT], high[VALUE_TEXT];
    enum unit unit = metric_info(s->metric)->unit;
    if (!value_is_sound(&s->value)) {
        char text[VALUE_REASON_SIZE + 32];
        snprintf(text, sizeof text, "%s: %s", piece_state(s), s->value.reason);
        area_fit(a, 1, y, width, ROLE_NOTE, text);
        return;
    }
    if (isnan(s->min) || isnan(s->max))
        return;
    unit_format(low, sizeof low, unit, s->min, s->resolution);
    unit_format(high, sizeof high, unit, s->max, s->resolution);
    char text[2 * VALUE_TEXT + 8];
    if (strcmp(low, high) == 0)
        snprintf(text, sizeof text, "steady");
    else
        snprintf(text, sizeof text, "%s – %s", low, high);
    area_fit(a, 1, y, width, ROLE_DIM, text);
}

static double chart_top(const struct model *m, const struct gpu_snapshot *g, const struct lane *l,
                        const struct shown *s)
{
    if (metric_info(s->metric)->unit == UNIT_RATIO)
        return 1;
    struct shown limit = model_value(m, g, METRIC_POWER_LIMIT);
    return l->metric == METRIC_POWER && value_has_number(&limit.value) ? limit.value.v : 0;
}

static double chart_floor(enum unit unit)
{
    switch (unit) {
    case UNIT_BYTES_PER_SECOND:
        return 10e6; /* below that a link has no work */
    case UNIT_HERTZ:
        return 1e9;
    default:
        return 1;
    }
}

static void draw_bar(const struct model *m, struct area a, struct columns c, double share,
                     enum role role, enum unit unit, double top)
{
    char text[64], number[VALUE_TEXT];
    if (!isnan(share)) {
        bar_draw(a, c.bar_x, 0, c.bar_width, m->glyphs, role, share);
        return;
    }
    if (c.chart_width <= 0)
        return;
    unit_format(number, sizeof number, unit, top, 0);
    snprintf(text, sizeof text, "top %s", number);
    area_fit(a, c.bar_x, 0, c.bar_width, ROLE_DIM, text);
}

static void draw_lane(const struct model *m, const struct gpu_snapshot *g, struct area a,
                      const struct lane *l)
{
    struct shown s = lane_value(m, g, l);
    struct columns c = columns_of(a.width);
    char number[VALUE_TEXT];
    enum role strong = l->role == ROLE_CLAIM || l->role == ROLE_TEXT ? l->role : ROLE_STRONG;
    area_fit(a, 1, 0, LABEL, l->role == ROLE_CLAIM ? ROLE_CLAIM : ROLE_TEXT,
             l->label ? l->label : metric_info(s.metric)->label);
    if (!value_has_number(&s.value)) {
        char text[VALUE_REASON_SIZE + 32];
        snprintf(text, sizeof text, "%s: %s", piece_state(&s), s.value.reason);
        area_words(a, LABEL + 3, 0, 0, a.height, ROLE_DIM, text);
        return;
    }
    area_right(a, LABEL + NUMBER + 2, 0, piece_value_role(&s, strong), piece_value(&s, number));
    double top = chart_top(m, g, l, &s);
    if (c.chart_width > 0)
        top = piece_chart(m, area_part(a, c.chart_x, 0, c.chart_width, a.height), g->index,
                          s.metric, l->role, top, chart_floor(metric_info(s.metric)->unit));
    draw_bar(m, a, c, share_of(m, g, l, &s), l->role, metric_info(s.metric)->unit, top);
    int left = c.chart_width > 0 ? c.chart_x - 2 : a.width - 1;
    if (a.height >= 2)
        draw_spread(a, 1, &s, left);
    if (a.height >= 3)
        area_fit(a, 1, 2, left, ROLE_DIM, l->words);
}

void pane_lanes(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    int list[LANES_MAX], rows[LANES_MAX], y = 0;
    bool known[LANES_MAX]; /* a reason needs no room to grow */
    struct columns c = columns_of(a.width);
    if (a.height < 1)
        return;
    int n = list_lanes(m, g, list);
    for (int i = 0; i < n; i++) {
        struct shown s = lane_value(m, g, &lanes[list[i]]);
        known[i] = value_has_number(&s.value);
    }
    if (c.chart_width > 0 && a.height > 1) {
        area_text(a, 1, 0, ROLE_DIM, model_is_past(m) ? "the second before" : "last second");
        piece_ruler(m, a, 0, c.chart_x, c.chart_width);
        y = 1;
    }
    n = share_rows(known, list, n, a.height - y, rows);
    for (int i = 0; i < n; i++) {
        /* where there is room, a row between two charts */
        int gap = rows[i] >= 4 ? 1 : 0;
        draw_lane(m, g, area_part(a, 0, y, a.width, rows[i] - gap), &lanes[list[i]]);
        y += rows[i];
    }
}
