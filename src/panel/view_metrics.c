/* SPDX-License-Identifier: MIT */
/* Every metric of a GPU: its value, source and state, how its samples lay, and its history, or in
 * words why there is no number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "panel/pieces.h"
#include "panel/view.h"

enum { LABEL = 19, NUMBER = 11, QUANTILES_FROM = 76, CHART_FROM = 96, SOURCE = 6 };

static void put_number(struct area a, int right, int y, enum unit unit, double v, double step)
{
    char text[VALUE_TEXT];
    if (!isnan(v))
        area_right(a, right, y, ROLE_TEXT, unit_format(text, sizeof text, unit, v, step));
}

static void put_head(struct area a, int y, bool quantiles)
{
    int x = LABEL + SOURCE;
    area_text(a, 1, y, ROLE_DIM, "metric");
    area_text(a, LABEL + 1, y, ROLE_DIM, "from");
    area_right(a, x += NUMBER, y, ROLE_DIM, "value");
    if (quantiles) {
        area_right(a, x += NUMBER, y, ROLE_DIM, "p50");
        area_right(a, x += NUMBER, y, ROLE_DIM, "p95");
        area_right(a, x += NUMBER, y, ROLE_DIM, "max");
    }
    area_text(a, x + 2, y, ROLE_DIM, "state");
}

/* State and history: what is right of the numbers. */
static void put_rest(const struct model *m, const struct gpu_snapshot *g, struct area a, int x,
                     int y, const struct shown *s)
{
    const struct metric_info *info = metric_info(s->metric);
    if (s->value.state != VALUE_OK) {
        char text[VALUE_REASON_SIZE + 32];
        snprintf(text, sizeof text, "%s: %s", piece_state(s), s->value.reason);
        area_fit(a, x, y, a.width - x - 1, value_has_number(&s->value) ? ROLE_NOTE : ROLE_DIM,
                 text);
        return;
    }
    area_text(a, x, y, ROLE_DIM, "ok");
    int left = x + 4;
    if (a.width < CHART_FROM || info->kind == KIND_COUNTER || info->unit == UNIT_FLAGS)
        return;
    enum role role = s->metric == METRIC_GPU_UTIL  ? ROLE_CLAIM
                     : info->group == GROUP_MEMORY ? ROLE_MEMORY
                     : info->group == GROUP_LINKS  ? ROLE_LINK
                                                   : ROLE_REAL;
    piece_chart(m, area_part(a, left, y, a.width - left - 1, 1), g->index, s->metric, role,
                info->unit == UNIT_RATIO ? 1 : 0, 1e-9);
}

static void draw_metric(const struct model *m, const struct gpu_snapshot *g, struct area a, int y,
                        enum metric metric)
{
    char text[VALUE_TEXT];
    const struct metric_info *info = metric_info(metric);
    const struct metric_stats *stats = &g->metrics[metric];
    struct shown s = model_value(m, g, metric);
    int x = LABEL + SOURCE;
    area_fit(a, 1, y, LABEL - 1, ROLE_TEXT, info->label);
    if (s.value.source != SOURCE_NONE)
        area_fit(a, LABEL + 1, y, SOURCE - 1, ROLE_DIM, source_name(s.value.source));
    if (!value_has_number(&s.value)) { /* the reason has all of the row */
        put_rest(m, g, a, x + 4, y, &s);
        return;
    }
    if (info->unit == UNIT_FLAGS) { /* words, not a number */
        area_fit(a, x + 2, y, a.width - x - 3, piece_value_role(&s, ROLE_STRONG),
                 piece_value(&s, text));
        return;
    }
    area_right(a, x + NUMBER, y, piece_value_role(&s, ROLE_STRONG), piece_value(&s, text));
    x += NUMBER;
    if (a.width >= QUANTILES_FROM && !model_is_past(m) && stats->samples > 1) {
        put_number(a, x + NUMBER, y, info->unit, stats->p50, stats->resolution);
        put_number(a, x + 2 * NUMBER, y, info->unit, stats->p95, stats->resolution);
        put_number(a, x + 3 * NUMBER, y, info->unit, stats->max, stats->resolution);
    }
    x += a.width >= QUANTILES_FROM ? 3 * NUMBER : 0;
    put_rest(m, g, a, x + 2, y, &s);
}

static bool is_shown(const struct model *m, const struct gpu_snapshot *g, enum metric metric)
{
    char text[160];
    const struct metric_info *info = metric_info(metric);
    const struct value *v = &g->metrics[metric].value;
    if (info->scope != SCOPE_GPU)
        return false;
    snprintf(text, sizeof text, "%s %s %s %s %s", info->key, info->label, source_name(v->source),
             value_state_name(v->state), metric_group_title(info->group));
    return filter_matches(&m->filter, text);
}

/* The metrics by groups; a heading is a row with metric -1 - group. */
static int list_rows(const struct model *m, const struct gpu_snapshot *g, int *rows)
{
    int n = 0, group = -1;
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (!is_shown(m, g, (enum metric)i))
            continue;
        int of = (int)metric_info((enum metric)i)->group;
        if (of != group)
            rows[n++] = -1 - of;
        group = of;
        rows[n++] = i;
    }
    return n;
}

void view_metrics(const struct model *m, struct area a)
{
    int rows[METRIC_COUNT + GROUP_COUNT];
    const struct gpu_snapshot *g = model_gpu(m);
    if (!g) {
        area_text(a, 1, 1, ROLE_DIM, "no GPU is known yet");
        return;
    }
    int n = list_rows(m, g, rows), room = a.height - 2;
    int first = m->scroll > n - room ? n - room : m->scroll;
    first = first < 0 ? 0 : first;
    int x = area_printf(a, 1, 0, ROLE_STRONG, "GPU %u  every metric", g->index);
    if (m->filter.text[0])
        x = area_printf(a, x, 0, ROLE_DIM, " · only \"%s\"", m->filter.text);
    if (model_is_past(m))
        x = area_text(a, x, 0, ROLE_DIM, " · p50, p95 and max are those of the present only");
    if (n > room)
        area_printf(a, x, 0, ROLE_DIM, " · rows %d to %d of %d (↑↓)", first + 1,
                    first + room < n ? first + room : n, n);
    put_head(a, 1, a.width >= QUANTILES_FROM);
    for (int i = 0; i < room && first + i < n; i++) {
        int row = rows[first + i];
        if (row < 0)
            area_text(a, 1, 2 + i, ROLE_STRONG, metric_group_title((enum metric_group)(-1 - row)));
        else
            draw_metric(m, g, area_part(a, 1, 0, a.width - 1, a.height), 2 + i, (enum metric)row);
    }
    if (n == 0)
        area_text(a, 1, 2, ROLE_DIM, "no metric, source or state has this in its name (Esc: all)");
}
