/* SPDX-License-Identifier: MIT */
/* The same numbers under the names of NVIDIA's DCGM exporter, so that dashboards made for it work,
 * also on GeForce. Only what is measured: a field that is not is left out. Pure.
 *
 * Sources: https://github.com/NVIDIA/dcgm-exporter (default-counters.csv, render_metrics.go, notes
 * of release 4.9.0) and dcgm_fields.h of https://github.com/NVIDIA/DCGM. */
#ifndef SMEFF_SHOW_DCGM_H
#define SMEFF_SHOW_DCGM_H

#include "base/buf.h"
#include "collect/snapshot.h"
#include "collect/totals.h"

enum dcgm_names {
    DCGM_LEGACY,  /* up to 4.8: percent, MHz, MiB, mJ */
    DCGM_CURRENT, /* since 4.9.0: base units */
    DCGM_BOTH,
};

/* s NULL = nothing is known: nothing is written. hostname "" = not known. */
void show_dcgm(struct buf *out, const struct snapshot *s, const struct totals *totals,
               enum dcgm_names names, const char *hostname);

#endif
