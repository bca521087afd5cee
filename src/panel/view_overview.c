/* SPDX-License-Identifier: MIT */
/* All GPUs: what GPU-Util says of each, above what its busiest unit did, so that the gap between
 * both is seen without reading a number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/serving.h"
#include "panel/pieces.h"
#include "panel/view.h"

enum { LABEL = 13, NUMBER = 8, FACTS = 20, NARROW = 62, CHART_MIN = 20, FACTS_FROM = 76 };

struct row {
    const char *label;
    struct shown value;
    bool known; /* false: no number, the reason instead */
    enum role role;
};

/* The rows of a GPU, the most telling first: GPU-Util, the busiest unit, SM active. */
static void make_rows(const struct model *m, const struct gpu_snapshot *g, struct row out[3])
{
    struct shown util = model_value(m, g, METRIC_GPU_UTIL), busiest;
    struct shown active = model_value(m, g, METRIC_SM_ACTIVE);
    bool any = model_busiest(m, g, &busiest);
    if (!any)
        busiest = model_value(m, g, METRIC_SM_ISSUE);
    bool memory = busiest.metric == METRIC_DRAM_THROUGHPUT || busiest.metric == METRIC_DRAM_READ ||
                  busiest.metric == METRIC_DRAM_WRITE;
    out[0] = (struct row){"GPU-Util", util, value_has_number(&util.value), ROLE_CLAIM};
    out[1] = (struct row){busiest.is_sum ? "DRAM" : metric_info(busiest.metric)->label, busiest,
                          any, memory ? ROLE_MEMORY : ROLE_REAL};
    out[2] = (struct row){"SM active", active, value_has_number(&active.value), ROLE_REAL};
}

/* Columns of number and name; where there is no room for a name, of the number alone. */
static int name_columns(struct area a)
{
    return a.width >= FACTS_FROM ? 25 : a.width >= NARROW ? 20 : 4;
}

/* Bar and, where there is room, chart share what the words leave. */
static void share_width(struct area a, int *bar, int *chart)
{
    int left = a.width - name_columns(a) - LABEL - NUMBER - 3;
    left -= a.width >= FACTS_FROM ? FACTS : 0;
    *chart = left * 2 / 3 - 2;
    if (*chart < CHART_MIN)
        *chart = 0;
    *bar = *chart ? left - *chart - 2 : left;
}

static void draw_row(const struct model *m, const struct gpu_snapshot *g, struct area a, int y,
                     int height, const struct row *r)
{
    char text[VALUE_REASON_SIZE + 32];
    int x = name_columns(a), facts = a.width >= FACTS_FROM ? FACTS : 0;
    int bar, chart;
    share_width(a, &bar, &chart);
    area_fit(a, x, y, LABEL, r->role == ROLE_CLAIM ? ROLE_CLAIM : ROLE_TEXT, r->label);
    x += LABEL;
    if (!r->known) {
        snprintf(text, sizeof text, "%s: %s", piece_state(&r->value), r->value.value.reason);
        area_fit(a, x + 1, y, a.width - facts - x - 2, ROLE_DIM, text);
        return;
    }
    area_right(a, x + NUMBER, y, piece_value_role(&r->value, ROLE_STRONG),
               piece_value(&r->value, text));
    x += NUMBER + 1;
    bar_draw(a, x, y, bar, m->glyphs, r->role, r->value.value.v);
    if (chart)
        piece_chart(m, area_part(a, x + bar + 2, y, chart, height), g->index, r->value.metric,
                    r->role, 1, 1);
}

static void put_fact(const struct model *m, const struct gpu_snapshot *g, struct area a, int y,
                     const char *label, enum metric metric)
{
    char text[VALUE_TEXT];
    struct shown s = model_value(m, g, metric);
    if (a.width < FACTS_FROM)
        return;
    area_text(a, a.width - FACTS + 2, y, ROLE_DIM, label);
    area_right(a, a.width - 1, y, piece_value_role(&s, ROLE_TEXT), piece_value(&s, text));
}

/* Padded, so that it covers what is below it. */
static const char *verdict_cell(const char *verdict, char *dst, size_t size)
{
    snprintf(dst, size, " %-60s", verdict);
    return dst;
}

/* rows: how many of the values; each has a chart of so many rows. */
static void draw_gpu(const struct model *m, const struct gpu_snapshot *g, struct area a, int rows,
                     int height)
{
    struct row row[3];
    bool selected = g->index == m->gpu;
    const struct verdict_entry *e =
        m->verdicts ? verdicts_at(m->verdicts, g->index, model_at_ns(m), NULL) : NULL;
    char name[128];
    int columns = name_columns(a);
    bool narrow = a.width < NARROW;
    snprintf(name, sizeof name, narrow ? "%u" : "%u %s", g->index,
             g->name[0] ? g->name : "(not known)");
    area_text(a, 0, 0, ROLE_STRONG, selected ? "▸" : " ");
    area_fit(a, 1, 0, columns - 2, selected ? ROLE_SELECTED : ROLE_STRONG, name);
    make_rows(m, g, row);
    const char *verdict = e ? verdict_name(e->verdict.kind) : "no verdict yet";
    draw_row(m, g, a, 0, height, &row[0]);
    put_fact(m, g, a, 0, "Power", METRIC_POWER);
    if (rows < 2 && narrow) /* worth more than a bar */
        area_fit(area_part(a, columns + LABEL + NUMBER, 0, a.width, 1), 0, 0, a.width,
                 e ? ROLE_VERDICT : ROLE_DIM, verdict_cell(verdict, name, sizeof name));
    if (rows < 2)
        return;
    int last = narrow ? 1 : rows - 1;
    area_fit(a, narrow ? columns : 3, narrow ? 2 : 1, narrow ? a.width - columns : columns - 4,
             e ? ROLE_VERDICT : ROLE_DIM, verdict);
    if (last == 2)
        draw_row(m, g, a, height, height, &row[2]);
    draw_row(m, g, a, last * height, height, &row[1]);
    put_fact(m, g, a, 1, "Temp", METRIC_TEMPERATURE);
    if (rows >= 3)
        put_fact(m, g, a, 2, "Mem", METRIC_MEM_USED);
}

static void put_head(const struct model *m, size_t shown, struct area a)
{
    size_t all = m->now->n_gpus;
    int x = area_printf(a, 1, 0, ROLE_STRONG, "%zu GPU%s", all, all == 1 ? "" : "s");
    if (shown < all)
        x = area_printf(a, x, 0, ROLE_NOTE, ", %zu shown", shown);
    x = area_printf(a, x, 0, ROLE_DIM, " · sorted by %s", sort_title(m->sort));
    if (m->filter.text[0])
        x = area_printf(a, x, 0, ROLE_DIM, " · only \"%s\"", m->filter.text);
    int bar, chart, from = name_columns(a) + LABEL + NUMBER + 3;
    share_width(a, &bar, &chart);
    if (chart && x + 2 < from + bar)
        piece_ruler(m, a, 0, from + bar, chart);
}

/* Servers that fit below; each says which GPUs it uses. */
static void draw_servers(const struct model *m, struct area a)
{
    if (m->now->n_servers == 0 || a.height < 3)
        return;
    int y = piece_rule(a, 0, "Servers");
    if (model_is_past(m)) {
        area_text(a, 1, y, ROLE_DIM, "servers are shown for the present only");
        return;
    }
    for (size_t i = 0; i < m->now->n_servers && y + 1 < a.height; i++) {
        char gpus[64] = "";
        size_t used = 0;
        for (size_t k = 0; k < m->now->n_gpus && used + 8 < sizeof gpus; k++)
            if (serving_of(m->now, i, k) != SERVING_NOT)
                used +=
                    (size_t)snprintf(gpus + used, sizeof gpus - used, " %u", m->now->gpus[k].index);
        int next = piece_server(m, i, a, y);
        char text[96];
        snprintf(text, sizeof text, used ? " on GPU%s" : " on no GPU that is known%s", gpus);
        area_right(a, a.width - 1, y, ROLE_DIM, text);
        y = next;
    }
}

void view_overview(const struct model *m, struct area a)
{
    const struct gpu_snapshot *list[TRACE_GPUS_MAX];
    if (!m->now || m->now->n_gpus == 0) {
        area_text(a, 1, 1, ROLE_DIM, "no GPU is known yet");
        return;
    }
    size_t n = model_gpus(m, list, TRACE_GPUS_MAX);
    put_head(m, n, a);
    if (n == 0) {
        area_text(a, 1, 2, ROLE_DIM, "no GPU, verdict or process has this in its name (Esc: all)");
        return;
    }
    int room = a.height - 1, rows = 3;
    while (rows > 1 && (int)n * rows > room)
        rows--;
    int gap = (int)n * (rows + 1) <= room ? 1 : 0, height = 1, bar, chart;
    share_width(a, &bar, &chart);
    while (chart && rows == 3 && height < 4 && (int)n * (rows * (height + 1) + gap) <= room)
        height++; /* servers get what is left: nothing on a small screen */
    if (m->now->n_servers && height > 1)
        height--;
    rows *= height;
    int fit = room / (rows + gap) > 0 ? room / (rows + gap) : 1;
    size_t first = 0; /* the selected one is always seen */
    for (size_t i = 0; i < n; i++)
        if (list[i]->index == m->gpu && (int)i >= fit)
            first = i - (size_t)fit + 1;
    int y = 1 + gap;
    for (size_t i = first; i < n && y < a.height; i++, y += rows + gap)
        draw_gpu(m, list[i], area_part(a, 0, y, a.width, rows), rows / height, height);
    draw_servers(m, area_part(a, 0, y, a.width, a.height - y));
}
