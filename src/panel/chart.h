/* SPDX-License-Identifier: MIT */
/* Charts and bars. A chart's body is what was never undercut inside a column (solid), above it the
 * band up to the most that was seen (shaded): a burst shorter than a column shows as band. */
#ifndef SMEFF_PANEL_CHART_H
#define SMEFF_PANEL_CHART_H

#include "collect/trace.h"
#include "panel/surface.h"

enum glyphs {
    GLYPHS_BRAILLE, /* two columns and four rows a cell */
    GLYPHS_BLOCK,   /* one column, eight rows */
    GLYPHS_ASCII,   /* one column, one row of '#', ':' and '.' */
};

/* How many trace columns one column of cells shows. */
int chart_columns_per_cell(enum glyphs glyphs);

/* Draws n columns from left to right, so that the last ends at the right edge; top is the value at
 * the upper edge (> 0). Columns that are not known stay blank. A value above 0 is always seen. */
void chart_draw(struct area a, enum glyphs glyphs, enum role role,
                const struct trace_column *columns, int n, double top);

/* A bar of width columns: share 0..1 filled, the rest dotted. Anything above 0 shows. */
void bar_draw(struct area a, int x, int y, int width, enum glyphs glyphs, enum role role,
              double share);

#endif
