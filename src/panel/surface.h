/* SPDX-License-Identifier: MIT */
/* The panel's screen in memory: cells that views draw into, and that one file shows on a terminal.
 * Everything outside an area is clipped, so that a view never looks at the terminal's size twice.
 */
#ifndef SMEFF_PANEL_SURFACE_H
#define SMEFF_PANEL_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "panel/theme.h"

struct cell {
    uint32_t c; /* one code point that is one column wide; 0 = blank */
    uint8_t role;
};

struct surface {
    struct cell *cells; /* owned, row by row */
    int width, height;
    bool ascii; /* other characters become their stand-ins */
};

/* Width and height of 1 to 1000. */
enum status surface_init(struct surface *s, int width, int height, bool ascii, struct error *err);
void surface_fini(struct surface *s); /* accepts a zeroed one */

/* Makes it anew where its size is another; accepts a zeroed one. */
enum status surface_fit(struct surface *s, int width, int height, bool ascii, struct error *err);

void surface_clear(struct surface *s);

/* A rectangle of a surface, in its coordinates; may be empty. */
struct area {
    struct surface *s;
    int x, y, width, height;
};

struct area surface_area(struct surface *s);

/* The part of an area, clipped to it; x and y count from its corner. */
struct area area_part(struct area a, int x, int y, int width, int height);

/* Draws text at a row and column of the area and returns the column behind it. Text that does not
 * fit is clipped; a character that is not one column wide becomes '?'. */
int area_text(struct area a, int x, int y, enum role role, const char *text);
__attribute__((format(printf, 5, 6))) int area_printf(struct area a, int x, int y, enum role role,
                                                      const char *fmt, ...);

/* So that its last character is in column right - 1. Returns the column of its first character. */
int area_right(struct area a, int right, int y, enum role role, const char *text);

/* At most width columns; what is cut ends with an ellipsis. */
int area_fit(struct area a, int x, int y, int width, enum role role, const char *text);

/* Words on lines of the area from row y on, at most rows; the last one says with an ellipsis that
 * there is more. indent: of all lines but the first. Returns the row behind. */
int area_words(struct area a, int x, int y, int indent, int rows, enum role role, const char *text);

/* One cell; c is a code point. */
void area_cell(struct area a, int x, int y, enum role role, uint32_t c);

/* A row of one character. */
void area_fill(struct area a, int x, int y, int width, enum role role, uint32_t c);

/* Gives the cells of a row another role. */
void area_paint(struct area a, int y, enum role role);

/* All rows as text without colours: no blanks at their ends, no empty rows at the end. */
void surface_text(const struct surface *s, struct buf *out);

#endif
