/* SPDX-License-Identifier: MIT */
/* One GPU: lanes above, and below them (beside them where the screen is wide) verdict, board,
 * servers and processes. */
#include <stdio.h>

#include "base/str.h"
#include "panel/pieces.h"
#include "panel/view.h"

enum { WIDE = 150, NARROW = 62, SIDE_MIN = 56, SIDE_MAX = 84 };

/* Whose counters these are, how many a second, and how much of the time they cover. */
static void put_source(const struct gpu_snapshot *g, struct area a, int x)
{
    char text[160], rate[32];
    bool has_none = g->backend == SOURCE_NONE || g->backend == SOURCE_NVML;
    if (has_none && g->metrics[METRIC_SM_ACTIVE].value.state == VALUE_WARMING)
        snprintf(text, sizeof text, "hardware counters: no whole second yet");
    else if (has_none)
        snprintf(text, sizeof text, "no hardware counters so far: the driver's readings only");
    else if (g->samples == 0)
        snprintf(text, sizeof text, "%s: no sample yet", source_name(g->backend));
    else
        snprintf(text, sizeof text, "%s %s · %.3g %% covered", source_name(g->backend),
                 unit_rate(rate, sizeof rate, g->rate_hz), g->coverage * 100);
    struct area right = area_part(a, x + 2, 0, a.width - x - 3, 1);
    if ((int)str_columns(text) <= right.width)
        area_right(right, right.width, 0, g->samples ? ROLE_DIM : ROLE_NOTE, text);
}

static void put_identity(const struct gpu_snapshot *g, struct area a)
{
    int x = area_printf(a, 1, 0, ROLE_STRONG, "GPU %u  %s", g->index,
                        g->name[0] ? g->name : "(name not known)");
    if (g->chip[0] && a.width >= NARROW)
        x = area_printf(a, x, 0, ROLE_DIM, " · %s", g->chip);
    put_source(g, a, x);
}

/* A pane under a rule with a title. Returns the row behind. */
typedef int pane(const struct model *m, const struct gpu_snapshot *g, struct area a);

static int put_pane(const struct model *m, const struct gpu_snapshot *g, struct area a, int y,
                    int rows, const char *title, pane *draw)
{
    if (y + 2 > a.height || rows < 1)
        return y;
    int used = draw(m, g, area_part(a, 0, y + 1, a.width, rows));
    return used ? piece_rule(a, y, title) + used : y;
}

/* Wide screens: everything else beside the lanes. */
static void draw_side(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    int y = put_pane(m, g, a, 0, a.height * 2 / 5, "Verdict", pane_verdict) + 1;
    y = put_pane(m, g, a, y, 4, "Board", pane_board) + 1;
    if (m->now->n_servers)
        y = put_pane(m, g, a, y, 8, "Servers", pane_servers) + 1;
    y = put_pane(m, g, a, y, 8, "Processes", pane_processes) + 1;
    pane_doubts(m, g, area_part(a, 0, y, a.width, a.height - y));
}

/* What each pane below the lanes may take at most, by the rows that there are. */
struct shares {
    int verdict, board, servers, processes, doubts;
    bool titles;
};

static struct shares shares_of(const struct model *m, int rows)
{
    struct shares s = {.verdict = rows >= 36   ? 8
                                  : rows >= 21 ? 5
                                  : rows >= 18 ? 4
                                  : rows >= 12 ? 2
                                               : 1,
                       .board = rows >= 18   ? 2
                                : rows >= 14 ? 1
                                             : 0,
                       .processes = rows >= 30   ? 4
                                    : rows >= 24 ? 1
                                                 : 0,
                       .doubts = rows >= 30   ? 3
                                 : rows >= 18 ? 1
                                              : 0,
                       .titles = rows >= 30};
    if (m->now->n_servers)
        s.servers = rows >= 30 ? 6 : rows >= 18 ? 3 : 0;
    return s;
}

static int draw_lower(const struct model *m, const struct gpu_snapshot *g, struct area a,
                      struct shares s)
{
    struct {
        pane *draw;
        const char *title;
        int rows;
    } panes[] = {{pane_verdict, "Verdict", s.verdict},
                 {pane_board, "Board", s.board},
                 {pane_servers, "Servers", s.servers},
                 {pane_processes, "Processes", s.processes},
                 {pane_doubts, "Doubts", s.doubts}};
    int y = 0;
    for (size_t i = 0; i < sizeof panes / sizeof panes[0]; i++)
        if (s.titles)
            y = put_pane(m, g, a, y, panes[i].rows, panes[i].title, panes[i].draw);
        else
            y += panes[i].draw(m, g, area_part(a, 0, y, a.width, panes[i].rows));
    return y;
}

/* Narrow screens: below. Drawn once to see how many rows it takes, so that the lanes get the rest.
 */
static void draw_below(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    struct shares s = shares_of(m, a.height);
    int rule = a.height >= 12 && !s.titles ? 1 : 0;
    int used = draw_lower(m, g, a, s) + rule, most = 1 + 6 * pane_lanes_count(m, g);
    for (int y = 0; y < a.height; y++)
        area_fill(a, 0, y, a.width, ROLE_TEXT, ' ');
    int lanes = a.height - used > most ? most : a.height - used;
    pane_lanes(m, g, area_part(a, 0, 0, a.width, lanes));
    if (rule)
        piece_rule(a, lanes, "");
    draw_lower(m, g, area_part(a, 0, lanes + rule, a.width, a.height - lanes - rule), s);
}

void view_gpu(const struct model *m, struct area a)
{
    const struct gpu_snapshot *g = model_gpu(m);
    if (!g) {
        area_text(a, 1, 1, ROLE_DIM, "no GPU is known yet");
        return;
    }
    put_identity(g, a);
    if (a.width >= WIDE) {
        int side = a.width * 2 / 5;
        side = side < SIDE_MIN ? SIDE_MIN : side > SIDE_MAX ? SIDE_MAX : side;
        struct area left = area_part(a, 0, 2, a.width - side - 1, a.height - 2);
        pane_lanes(m, g, left);
        draw_side(m, g, area_part(a, a.width - side, 2, side, a.height - 2));
        return;
    }
    draw_below(m, g, area_part(a, 0, 1, a.width, a.height - 1));
}
