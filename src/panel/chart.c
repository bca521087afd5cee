/* SPDX-License-Identifier: MIT */
#include "panel/chart.h"

#include <math.h>

enum { BRAILLE = 0x2800, DOTS = 4, EIGHTHS = 8, FULL = 0x2588, LOWER = 0x2580, DOTTED = 0xB7 };

int chart_columns_per_cell(enum glyphs glyphs)
{
    return glyphs == GLYPHS_BRAILLE ? 2 : 1;
}

/* Steps of height that v reaches; at least one when it is above 0, so that little is not nothing.
 */
static int steps_of(double v, double top, int steps)
{
    if (!(v > 0))
        return 0;
    int n = (int)lround(v / top * steps);
    return n < 1 ? 1 : n > steps ? steps : n;
}

struct heights {
    int body, band; /* steps: solid up to body, shaded up to band */
    bool known;
};

static struct heights heights_of(const struct trace_column *c, double top, int steps)
{
    if (!c->known)
        return (struct heights){0, 0, false};
    return (struct heights){steps_of(c->min, top, steps), steps_of(c->max, top, steps), true};
}

/* ---- braille ---- */

/* The bit of the dot in column 0 or 1, counted from the bottom. */
static unsigned dot(int column, int from_bottom)
{
    static const unsigned char bits[2][DOTS] = {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}};
    return bits[column][from_bottom];
}

/* The dots of one trace column in the cell whose lowest step is base; *solid: it has some body. */
static unsigned dots_of(struct heights h, int column, int base, bool *solid)
{
    unsigned bits = 0;
    for (int i = 0; i < DOTS; i++) {
        int step = base + i;
        bool body = step < h.body;
        /* a chequered band, with its top edge whole */
        bool band = step < h.band && ((step + column) % 2 == 0 || step == h.band - 1);
        if (body || band)
            bits |= dot(column, i);
        *solid |= body;
    }
    if (h.known && h.band == 0 && base == 0)
        bits |= dot(column, 0); /* measured, and 0: a line at the bottom */
    return bits;
}

static void draw_braille(struct area a, enum role role, const struct trace_column *c, int n,
                         double top)
{
    int steps = a.height * DOTS, first = a.width * 2 - n;
    for (int x = 0; x < a.width; x++)
        for (int y = 0; y < a.height; y++) {
            unsigned bits = 0;
            bool solid = false;
            for (int k = 0; k < 2; k++) {
                int i = 2 * x + k - first;
                if (i >= 0 && i < n)
                    bits |= dots_of(heights_of(&c[i], top, steps), k, (a.height - 1 - y) * DOTS,
                                    &solid);
            }
            if (bits)
                area_cell(a, x, y, solid ? role : theme_band(role), BRAILLE + bits);
        }
}

/* ---- block and ASCII ---- */

static void draw_block_cell(struct area a, int x, int y, enum role role, struct heights h)
{
    int base = (a.height - 1 - y) * EIGHTHS, body = h.body - base, band = h.band - base;
    if (!h.known)
        return;
    if (body >= EIGHTHS)
        area_cell(a, x, y, role, FULL);
    else if (body > 0 && (h.band == h.body || body > EIGHTHS / 2))
        area_cell(a, x, y, role, (uint32_t)(LOWER + body));
    else if (band > 0)
        area_cell(a, x, y, theme_band(role), 0x2591); /* light shade */
    else if (base == 0)
        area_cell(a, x, y, theme_band(role), LOWER + 1);
}

/* One row has no heights: the mean as the weight of a character. */
static void draw_ascii_row(struct area a, int x, enum role role, const struct trace_column *c,
                           double top)
{
    static const char ramp[] = "_.:-=+*#";
    if (c->known)
        area_cell(a, x, 0, c->mean > 0 ? role : theme_band(role),
                  (uint32_t)(unsigned char)ramp[steps_of(c->mean, top, (int)sizeof ramp - 2)]);
}

static void draw_ascii_cell(struct area a, int x, int y, enum role role, struct heights h)
{
    int step = a.height - 1 - y;
    if (!h.known)
        return;
    if (step < h.body)
        area_cell(a, x, y, role, '#');
    else if (step < h.band)
        area_cell(a, x, y, theme_band(role), ':');
    else if (step == 0)
        area_cell(a, x, y, theme_band(role), '_');
}

void chart_draw(struct area a, enum glyphs glyphs, enum role role, const struct trace_column *c,
                int n, double top)
{
    if (glyphs == GLYPHS_BRAILLE) {
        draw_braille(a, role, c, n, top);
        return;
    }
    int steps = a.height * (glyphs == GLYPHS_BLOCK ? EIGHTHS : 1), first = a.width - n;
    for (int x = first < 0 ? 0 : first; x < a.width; x++) {
        if (glyphs == GLYPHS_ASCII && a.height == 1) {
            draw_ascii_row(a, x, role, &c[x - first], top);
            continue;
        }
        struct heights h = heights_of(&c[x - first], top, steps);
        for (int y = 0; y < a.height; y++)
            if (glyphs == GLYPHS_BLOCK)
                draw_block_cell(a, x, y, role, h);
            else
                draw_ascii_cell(a, x, y, role, h);
    }
}

/* ---- bars ---- */

void bar_draw(struct area a, int x, int y, int width, enum glyphs glyphs, enum role role,
              double share)
{
    static const uint32_t left_eighths[] = {0x258F, 0x258E, 0x258D, 0x258C, 0x258B, 0x258A, 0x2589};
    bool ascii = glyphs == GLYPHS_ASCII;
    int eighths = steps_of(share < 1 ? share : 1, 1, width * EIGHTHS);
    int full = ascii ? (eighths + EIGHTHS / 2) / EIGHTHS : eighths / EIGHTHS;
    area_fill(a, x, y, full, role, ascii ? '#' : FULL);
    area_fill(a, x + full, y, width - full, ROLE_EMPTY, ascii ? '.' : DOTTED);
    if (!ascii && eighths % EIGHTHS)
        area_cell(a, x + full, y, role, left_eighths[eighths % EIGHTHS - 1]);
    else if (ascii && full == 0 && share > 0)
        area_cell(a, x, y, role, '|');
}
