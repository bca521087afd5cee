/* SPDX-License-Identifier: MIT */
#include "panel/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "metric/throttle.h"

enum { COLUMNS_MAX = 2000 };

const char *piece_state(const struct shown *s)
{
    return s->is_not_kept ? "not kept" : value_state_name(s->value.state);
}

const char *piece_value(const struct shown *s, char dst[VALUE_TEXT])
{
    char number[VALUE_TEXT - 4];
    if (!value_has_number(&s->value)) {
        snprintf(dst, VALUE_TEXT, "%s", piece_state(s));
        return dst;
    }
    if (metric_info(s->metric)->unit == UNIT_FLAGS) {
        char words[THROTTLE_TEXT_SIZE];
        str_shorten(dst, VALUE_TEXT, throttle_words((uint64_t)s->value.v, words, sizeof words));
        return dst;
    }
    unit_format(number, sizeof number, metric_info(s->metric)->unit, s->value.v, s->resolution);
    snprintf(dst, VALUE_TEXT, "%s%s%s", s->value.state == VALUE_STALE ? "~" : "", number,
             s->value.state == VALUE_SUSPECT ? "?" : "");
    return dst;
}

enum role piece_value_role(const struct shown *s, enum role sound)
{
    if (!value_has_number(&s->value))
        return ROLE_DIM;
    return value_is_sound(&s->value) ? sound : ROLE_NOTE;
}

int piece_rule(struct area a, int y, const char *title)
{
    area_fill(a, 0, y, a.width, ROLE_FRAME, 0x2500);
    if (*title) {
        area_cell(a, 1, y, ROLE_FRAME, ' ');
        int x = area_text(a, 2, y, ROLE_STRONG, title);
        area_cell(a, x, y, ROLE_FRAME, ' ');
    }
    return y + 1;
}

/* ---- the axis of time ---- */

static void seconds_text(double s, char *dst, size_t size)
{
    if (s >= 120)
        snprintf(dst, size, "%.3g min ago", s / 60);
    else
        snprintf(dst, size, "%.3g s ago", s);
}

static void edge_text(const struct model *m, double back_s, char *dst, size_t size)
{
    if (m->is_frozen)
        model_clock(m, model_at_ns(m) - (int64_t)(back_s * 1e9), true, dst, size);
    else if (back_s > 0)
        seconds_text(back_s, dst, size);
    else
        snprintf(dst, size, "now");
}

void piece_ruler(const struct model *m, struct area a, int y, int x, int width)
{
    char text[32];
    int per_cell = chart_columns_per_cell(m->glyphs);
    double cell_s = (double)model_column_ns(m) * 1e-9 * per_cell;
    area_fill(a, x, y, width, ROLE_FRAME, 0x2500);
    edge_text(m, width * cell_s, text, sizeof text);
    int left = area_text(a, x, y, ROLE_DIM, text);
    area_cell(a, left, y, ROLE_FRAME, ' ');
    edge_text(m, 0, text, sizeof text);
    int right = area_right(a, x + width, y, ROLE_DIM, text);
    area_cell(a, right - 1, y, ROLE_FRAME, ' ');
    edge_text(m, width / 2 * cell_s, text, sizeof text);
    int half = (int)str_columns(text), at = x + width - width / 2 - half / 2;
    if (at < left + 3 || at + half + 3 > right)
        return;
    area_cell(a, at - 1, y, ROLE_FRAME, ' ');
    area_text(a, at, y, ROLE_DIM, text);
    area_cell(a, at + half, y, ROLE_FRAME, ' ');
}

double piece_chart(const struct model *m, struct area a, unsigned gpu, enum metric metric,
                   enum role role, double top, double floor)
{
    static struct trace_column columns[COLUMNS_MAX]; /* scratch: 64 KB are too much for a stack */
    int per_cell = chart_columns_per_cell(m->glyphs), n = a.width * per_cell;
    int64_t width_ns = model_column_ns(m), cell_ns = width_ns * per_cell;
    if (n <= 0 || a.height <= 0 || !m->trace || model_at_ns(m) <= 0)
        return top;
    if (n > COLUMNS_MAX)
        n = COLUMNS_MAX;
    /* cells begin at whole multiples of their width, so that a chart moves without flickering */
    int64_t end_ns = (model_at_ns(m) + cell_ns - 1) / cell_ns * cell_ns;
    trace_columns(m->trace, gpu, metric, end_ns - n * width_ns, width_ns, (size_t)n, columns);
    for (int i = 0; i < n; i++) { /* what lies behind the edge is not of this moment */
        int64_t from_ns = end_ns - (n - i) * width_ns;
        if (from_ns >= model_at_ns(m))
            columns[i].known = false;
    }
    if (top <= 0) {
        top = floor;
        for (int i = 0; i < n; i++)
            if (columns[i].known && columns[i].max > top)
                top = columns[i].max;
    }
    chart_draw(a, m->glyphs, role, columns, n, top);
    return top;
}
