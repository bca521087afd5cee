/* SPDX-License-Identifier: MIT */
#include "show/csv_columns.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char *const fixed[] = {"file", "gpu",      "uuid",   "source",
                                    "time", "start_ns", "end_ns", "suspect"};

static bool is_own_column(const char *name)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(name, fixed[i]) == 0)
            return true;
    return metric_by_key(name) != METRIC_NONE;
}

/* The column of a source's own metric, the caller's to free: its name, and only where that is the
 * name of one of our columns with the source in front, "nsys:sm_active". A name that looks like
 * that already gets one more, so that no two become one. */
static char *extra_name(const char *name, enum source_id source)
{
    char *copy = str_clean_copy(name);
    const char *prefix = source_name(source), *bare = copy;
    size_t len = strlen(prefix);
    while (bare && str_starts_with(bare, prefix) && bare[len] == ':')
        bare += len + 1;
    if (!bare || !is_own_column(bare))
        return copy;
    size_t size = strlen(copy) + len + sizeof ":";
    char *longer = malloc(size);
    if (longer)
        snprintf(longer, size, "%s:%s", prefix, copy);
    free(copy);
    return longer;
}

/* The slot of this name, or the free one where it belongs (there always is one). */
static uint32_t *find_slot(const struct csv_columns *c, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    size_t i = (size_t)(hash ^ hash >> 32) & (c->n_slots - 1);
    while (c->slots[i] && strcmp(c->extras[c->slots[i] - 1], name) != 0)
        i = (i + 1) & (c->n_slots - 1);
    return &c->slots[i];
}

/* Makes room for one more extra. */
static bool grow_extras(struct csv_columns *c)
{
    if (2 * (c->n_extras + 1) <= c->n_slots)
        return true;
    size_t n_slots = c->n_slots ? 2 * c->n_slots : 64;
    char **extras = realloc(c->extras, n_slots / 2 * sizeof *extras);
    if (extras)
        c->extras = extras;
    uint32_t *slots = extras ? calloc(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(c->slots);
    c->slots = slots;
    c->n_slots = n_slots;
    for (size_t i = 0; i < c->n_extras; i++)
        *find_slot(c, c->extras[i]) = (uint32_t)i + 1;
    return true;
}

/* The column of an extra of this name, new or old. */
static int extra_column(struct csv_columns *c, const char *name, enum source_id source)
{
    char *copy = grow_extras(c) ? extra_name(name, source) : NULL;
    if (!copy)
        return CSV_NO_MEMORY;
    uint32_t *slot = find_slot(c, copy);
    if (*slot || c->fixed) {
        free(copy);
        return *slot ? METRIC_COUNT + (int)*slot - 1 : CSV_NO_COLUMN;
    }
    c->extras[c->n_extras++] = copy;
    *slot = (uint32_t)c->n_extras;
    return METRIC_COUNT + (int)*slot - 1;
}

int csv_columns_add(struct csv_columns *c, int metric, const char *name, enum source_id source)
{
    if (metric == METRIC_NONE)
        return extra_column(c, name, source);
    if (!c->fixed)
        c->used[metric] = true;
    return c->used[metric] ? metric : CSV_NO_COLUMN;
}

const char *csv_columns_fixed(size_t i)
{
    return i < sizeof fixed / sizeof fixed[0] ? fixed[i] : NULL;
}

size_t csv_columns_width(const struct csv_columns *c)
{
    return METRIC_COUNT + c->n_extras;
}

bool csv_columns_shown(const struct csv_columns *c, size_t column)
{
    return column >= METRIC_COUNT || c->used[column];
}

const char *csv_columns_name(const struct csv_columns *c, size_t column)
{
    return column < METRIC_COUNT ? metric_info((enum metric)column)->key
                                 : c->extras[column - METRIC_COUNT];
}

bool csv_columns_is(const struct csv_columns *c, int column, const char *name,
                    enum source_id source)
{
    char *own = extra_name(name, source);
    bool same = own && strcmp(own, csv_columns_name(c, (size_t)column)) == 0;
    free(own);
    return same;
}

void csv_columns_fini(struct csv_columns *c)
{
    for (size_t i = 0; i < c->n_extras; i++)
        free(c->extras[i]);
    free(c->extras);
    free(c->slots);
    *c = (struct csv_columns){0};
}
