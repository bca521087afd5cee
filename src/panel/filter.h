/* SPDX-License-Identifier: MIT */
/* A line that is typed: letters that lists have to hold. */
#ifndef SMEFF_PANEL_FILTER_H
#define SMEFF_PANEL_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum { FILTER_SIZE = 32 };

struct filter {
    char text[FILTER_SIZE];
    bool is_typing;
};

/* Enter keeps it, Esc ends it. */
void filter_type(struct filter *f, uint32_t key);

/* Does a text hold the filter, in any case of letters? An empty filter is held by all. */
bool filter_matches(const struct filter *f, const char *text);

#endif
