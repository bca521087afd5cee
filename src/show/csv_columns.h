/* SPDX-License-Identifier: MIT */
/* The columns of a CSV. They are numbered: the catalogue's metrics first, then the sources' own
 * names. Only used ones are printed, so that the header does not depend on the order of the
 * streams. */
#ifndef SMEFF_SHOW_CSV_COLUMNS_H
#define SMEFF_SHOW_CSV_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "metric/metric.h"

enum { CSV_NO_COLUMN = -1, CSV_NO_MEMORY = -2 };

struct csv_columns {
    bool used[METRIC_COUNT];
    char **extras; /* owned names */
    size_t n_extras;
    uint32_t *slots; /* owned hash table: index in extras + 1, 0 = free */
    size_t n_slots;  /* a power of two, at least 2 * n_extras; or 0 */
    bool fixed;      /* the header is printed: no column can be added */
};

void csv_columns_fini(struct csv_columns *c); /* accepts a zeroed one */

/* The column of a metric (or, METRIC_NONE, of a source's own name), new or old. CSV_NO_COLUMN: it
 * has none, and it is too late for one. CSV_NO_MEMORY. */
int csv_columns_add(struct csv_columns *c, int metric, const char *name, enum source_id source);

/* Is this the column of a source's own name? */
bool csv_columns_is(const struct csv_columns *c, int column, const char *name,
                    enum source_id source);

/* The columns before those of the metrics, NULL after the last. */
const char *csv_columns_fixed(size_t i);

size_t csv_columns_width(const struct csv_columns *c); /* shown or not */
bool csv_columns_shown(const struct csv_columns *c, size_t column);
const char *csv_columns_name(const struct csv_columns *c, size_t column);

#endif
