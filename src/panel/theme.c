/* SPDX-License-Identifier: MIT */
#include "panel/theme.h"

static const struct {
    int rgb, c256, c16;
    bool bold, dim, reverse;
} table[ROLE_COUNT] = {
#define X(name, rgb, c256, c16, bold, dim, reverse) {rgb, c256, c16, bold, dim, reverse},
    ROLES(X)
#undef X
};

struct look theme_look(enum role role, enum colours colours)
{
    int colour = colours == COLOURS_24BIT ? table[role].rgb
                 : colours == COLOURS_256 ? table[role].c256
                 : colours == COLOURS_16  ? table[role].c16
                                          : -1;
    /* where a colour is fine enough to be darker, dim would make it too dark */
    bool dim = table[role].dim && colour == -1;
    if (colours == COLOURS_16)
        dim = table[role].dim;
    return (struct look){colour, table[role].bold, dim, table[role].reverse};
}

enum role theme_band(enum role body)
{
    switch (body) {
    case ROLE_CLAIM:
        return ROLE_CLAIM_BAND;
    case ROLE_REAL:
        return ROLE_REAL_BAND;
    case ROLE_MEMORY:
        return ROLE_MEMORY_BAND;
    case ROLE_LINK:
        return ROLE_LINK_BAND;
    default:
        return ROLE_DIM;
    }
}
