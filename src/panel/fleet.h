/* SPDX-License-Identifier: MIT */
/* The page of a fleet: one line a GPU of all hosts, by default those first that waste most. */
#ifndef SMEFF_PANEL_FLEET_H
#define SMEFF_PANEL_FLEET_H

#include "fleet/fleet.h"
#include "panel/chart.h"
#include "panel/filter.h"
#include "panel/keys.h"

/* X(NAME, title) */
#define FLEET_SORTS(X)                                                                             \
    X(WASTE, "waste")                                                                              \
    X(HOST, "host")                                                                                \
    X(UTIL, "GPU-Util")                                                                            \
    X(BUSIEST, "busiest unit")                                                                     \
    X(POWER, "power")

enum fleet_sort {
#define X(name, title) FLEET_BY_##name,
    FLEET_SORTS(X)
#undef X
        FLEET_SORT_COUNT
};

struct fleet_model {
    const struct fleet *fleet; /* borrowed; NULL = nothing came yet */
    const char *from;          /* whose data it is: the server's URL */
    char message[320];         /* what is wrong; "" = nothing */
    int64_t age_s;             /* of the newest answers; -1 = none */
    enum fleet_sort sort;
    struct filter filter;
    int scroll, rows; /* rows: of the last page drawn, for a page up or down */
    bool is_frozen, is_help, is_once;
    enum glyphs glyphs;
};

/* Returns PANEL_QUIT, PANEL_REDRAW or PANEL_NOTHING. */
enum panel_action fleet_press(struct fleet_model *m, uint32_t key);

/* Draws all of the surface. */
void fleet_draw(struct fleet_model *m, struct surface *s);

#endif
