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
    char text[160];
    if (g->backend == SOURCE_NONE || g->backend == SOURCE_NVML)
        snprintf(text, sizeof text, "no hardware counters: the driver's readings only");
    else if (g->samples == 0)
        snprintf(text, sizeof text, "%s: no sample yet", source_name(g->backend));
    else
        snprintf(text, sizeof text, "%s %.3g Hz · %.3g %% covered", source_name(g->backend),
                 g->rate_hz, g->coverage * 100);
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
    int begin = piece_rule(a, y, title);
    int used = draw(m, g, area_part(a, 0, begin, a.width, rows));
    return used ? begin + used : y;
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

/* Narrow ones: below. What each pane may take goes by the rows that there are. */
static void draw_below(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    int verdict = a.height >= 36   ? 8
                  : a.height >= 22 ? 5
                  : a.height >= 18 ? 4
                  : a.height >= 12 ? 2
                                   : 1;
    int board = a.height >= 18 ? 2 : a.height >= 14 ? 1 : 0;
    int servers = m->now->n_servers == 0 ? 0 : a.height >= 30 ? 6 : a.height >= 18 ? 3 : 0;
    int processes = a.height >= 30 ? 4 : a.height >= 22 ? 1 : 0;
    int rule = a.height >= 12 ? 1 : 0, more_rules = a.height >= 30 ? 1 : 0;
    int below = rule + verdict + board + (servers ? servers + more_rules : 0) +
                (processes ? processes + more_rules : 0) + more_rules;
    int lanes = a.height - below, most = 1 + 6 * pane_lanes_count(m, g);
    lanes = lanes > most ? most : lanes;
    pane_lanes(m, g, area_part(a, 0, 0, a.width, lanes));
    int y = lanes;
    if (rule)
        y = piece_rule(a, y, more_rules ? "Verdict" : "");
    y += pane_verdict(m, g, area_part(a, 0, y, a.width, verdict));
    if (more_rules && board)
        y = piece_rule(a, y, "Board");
    y += pane_board(m, g, area_part(a, 0, y, a.width, board));
    if (servers && more_rules)
        y = piece_rule(a, y, "Servers");
    y += pane_servers(m, g, area_part(a, 0, y, a.width, servers));
    if (processes && more_rules)
        y = piece_rule(a, y, "Processes");
    y += pane_processes(m, g, area_part(a, 0, y, a.width, processes));
    pane_doubts(m, g, area_part(a, 0, y, a.width, a.height - y));
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
