/* SPDX-License-Identifier: MIT */
/* One timeline as inline SVG: a band from least to most, a line of means, gaps left open. */
#ifndef SMEFF_SHOW_SVG_H
#define SMEFF_SHOW_SVG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "collect/column.h"
#include "metric/unit.h"

struct svg_chart {
    const char *label; /* for screen readers */
    const char *role;  /* its class: "claim", "real", "memory", "link", "board", "server" */
    enum unit unit;
    double top; /* of the scale, in the metric's unit; 0 = what the data has */
    int64_t column_ns;
    const struct trace_column *columns;
    size_t n;
};

/* Appends nothing when no column is known. Colours come from classes: the page's style sheet. */
void svg_timeline(struct buf *out, const struct svg_chart *c);

#endif
