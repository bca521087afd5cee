/* SPDX-License-Identifier: MIT */
/* What several views are put together from. */
#ifndef SMEFF_PANEL_PIECES_H
#define SMEFF_PANEL_PIECES_H

#include "panel/model.h"
#include "panel/surface.h"

enum { VALUE_TEXT = 40 };

/* The word for a value without a number. */
const char *piece_state(const struct shown *s);

/* A value in words: "92.9 %", "92.9 %?" (suspect), "~92.9 %" (stale), or its state ("busy"). */
const char *piece_value(const struct shown *s, char dst[VALUE_TEXT]);

/* Its role: a number that is not sound, or none, is not like others. */
enum role piece_value_role(const struct shown *s, enum role sound);

/* A rule with a title: "── Verdict ─────". Returns the row behind. */
int piece_rule(struct area a, int y, const char *title);

/* A row of the chart's time: from its left to its right edge, columns cells wide. */
void piece_ruler(const struct model *m, struct area a, int y, int x, int width);

/* The chart of a metric in an area; returns its upper edge. top 0: the most that is to be seen, at
 * least floor. */
double piece_chart(const struct model *m, struct area a, unsigned gpu, enum metric metric,
                   enum role role, double top, double floor);

/* Panes: each draws what fits from row 0 of its area on and returns how many rows it took. */
int pane_verdict(const struct model *m, const struct gpu_snapshot *g, struct area a);
int pane_board(const struct model *m, const struct gpu_snapshot *g, struct area a);
int pane_servers(const struct model *m, const struct gpu_snapshot *g, struct area a);
int pane_processes(const struct model *m, const struct gpu_snapshot *g, struct area a);
int pane_doubts(const struct model *m, const struct gpu_snapshot *g, struct area a);

/* The lanes of a GPU: a row or more each, with value, bar and chart, in an area of any size. */
void pane_lanes(const struct model *m, const struct gpu_snapshot *g, struct area a);

/* How many lanes there are to show. */
int pane_lanes_count(const struct model *m, const struct gpu_snapshot *g);

/* One server in a line or two; with_url: which one it is. Returns the rows taken. */
int piece_server(const struct model *m, size_t server, struct area a, int y);

#endif
