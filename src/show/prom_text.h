/* SPDX-License-Identifier: MIT */
/* The Prometheus text format 0.0.4, as all our exporters write it: families whose head comes once,
 * with their first sample, labels that are escaped, numbers that no locale touches.
 * https://prometheus.io/docs/instrumenting/exposition_formats/ */
#ifndef SMEFF_SHOW_PROM_TEXT_H
#define SMEFF_SHOW_PROM_TEXT_H

#include <stdbool.h>

#include "base/buf.h"

/* A family of samples under one name. A family without samples leaves no trace. */
struct prom_family {
    struct buf *out;
    const char *name, *type, *help; /* type: "gauge" or "counter" */
    bool begun;
};

struct prom_label {
    const char *key, *value; /* any bytes but 0; a value of "" is no label */
};

enum { PROM_LABELS_MAX = 8 };

/* One sample; labels end with a NULL key (at most PROM_LABELS_MAX), NULL = none. What is not finite
 * is left out: unknown is no number. */
void prom_sample(struct prom_family *f, const struct prom_label *labels, double v);

#endif
