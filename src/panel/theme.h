/* SPDX-License-Identifier: MIT */
/* What a cell means, and the colour that says so. Views know roles only; the colours are those of
 * Okabe and Ito, which people with any kind of colour vision tell apart. No role is told by its
 * colour alone: text, position or another character always says the same. */
#ifndef SMEFF_PANEL_THEME_H
#define SMEFF_PANEL_THEME_H

#include <stdbool.h>

/* X(NAME, 24-bit, 256-colour index, 16-colour index, bold, dim, reverse). -1 = the terminal's own.
 */
#define ROLES(X)                                                                                   \
    X(TEXT, -1, -1, -1, false, false, false)                                                       \
    X(STRONG, -1, -1, -1, true, false, false)                                                      \
    X(DIM, 0x8A8A8A, 245, -1, false, true, false)                                                  \
    X(FRAME, 0x5F5F5F, 240, -1, false, true, false)                                                \
    X(TITLE, -1, -1, -1, true, false, true)                                                        \
    X(KEY, -1, -1, -1, true, false, false)                                                         \
    X(CLAIM, 0xE69F00, 214, 3, false, false, false) /* what GPU-Util says */                       \
    X(CLAIM_BAND, 0x9A6A00, 136, 3, false, true, false)                                            \
    X(REAL, 0x56B4E9, 74, 6, false, false, false) /* what the hardware did */                      \
    X(REAL_BAND, 0x3A789B, 31, 6, false, true, false)                                              \
    X(MEMORY, 0x009E73, 36, 2, false, false, false)                                                \
    X(MEMORY_BAND, 0x006B4E, 29, 2, false, true, false)                                            \
    X(LINK, 0xCC79A7, 175, 5, false, false, false)                                                 \
    X(LINK_BAND, 0x8A5271, 96, 5, false, true, false)                                              \
    X(EMPTY, 0x444444, 238, -1, false, true, false) /* what a bar does not fill */                 \
    X(NOTE, 0xE69F00, 214, 3, false, false, false)  /* stale, suspect, warnings */                 \
    X(BAD, 0xD55E00, 202, 1, true, false, false)                                                   \
    X(VERDICT, 0xF0E442, 227, 3, true, false, false)                                               \
    X(SELECTED, -1, -1, -1, true, false, true)

enum role {
#define X(name, rgb, c256, c16, bold, dim, reverse) ROLE_##name,
    ROLES(X)
#undef X
        ROLE_COUNT
};

enum colours { COLOURS_NONE, COLOURS_16, COLOURS_256, COLOURS_24BIT };

struct look {
    int colour; /* foreground: 0xRRGGBB, or an index below 256; -1 = the terminal's own */
    bool bold, dim, reverse;
};

/* How a role looks with so many colours. */
struct look theme_look(enum role role, enum colours colours);

/* The role of a band (least to most) beside that of its body. */
enum role theme_band(enum role body);

#endif
