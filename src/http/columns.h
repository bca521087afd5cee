/* SPDX-License-Identifier: MIT */
/* The last minutes of a GPU as columns for charts (/history.json). */
#ifndef SMEFF_HTTP_COLUMNS_H
#define SMEFF_HTTP_COLUMNS_H

#include <stdbool.h>

#include "base/buf.h"
#include "collect/trace.h"

enum { COLUMNS_MAX = 600 };

/* Appends one JSON object in one line: the last `seconds` (1 to TRACE_SECONDS) as n columns (1 to
 * COLUMNS_MAX), every metric that has at least one. Columns are a quarter of a second at least, so
 * that there may be fewer than n. false: no such GPU was seen, nothing is appended. */
bool columns_json(struct buf *out, const struct trace *t, unsigned gpu, double seconds, size_t n);

#endif
