/* SPDX-License-Identifier: MIT */
/* Packs counters: which of the catalogue's expressions fit one pass on this chip. Needs CUPTI's
 * host half only, so that it also works where there is no GPU. */
#ifndef SMEFF_SOURCE_PM_PACK_H
#define SMEFF_SOURCE_PM_PACK_H

#include "metric/metric.h"
#include "source/source.h"
#include "vendor/cupti_api.h"

/* What became of one metric. */
struct pm_pick {
    enum metric metric;
    const struct pm_candidate *candidate; /* NULL = left out */
    enum value_state state;
    char reason[160];
};

struct pm_pack {
    struct pm_pick picks[METRIC_COUNT]; /* every metric with candidates, in catalogue order */
    size_t n_picks;
    const char *names[METRIC_COUNT]; /* the chosen expressions; static storage */
    size_t pick_of[METRIC_COUNT];    /* names[i] is that of picks[pick_of[i]] */
    size_t n_names;
    bool heavy;      /* holds a counter of the costly class */
    bool late;       /* some counters of a sample can come later than others */
    uint8_t *config; /* the configuration image; CUPTI keeps pointers into it */
    size_t config_size;
};

/* chip as CUPTI names it; availability NULL = not asked of a GPU (every counter of the chip counts
 * as there). Adds, in this order and each only if the whole set still needs one pass: the core set,
 * what the request adds, and for SET_WIDE the rest within the cost budget.
 * On success release with pm_pack_fini. ERR_UNSUPPORTED: not one metric fits. */
enum status pm_pack_build(const struct cupti_api *cupti, const char *chip,
                          const uint8_t *availability, const struct source_request *request,
                          struct pm_pack *out, struct error *err);
void pm_pack_fini(struct pm_pack *pack); /* accepts a zeroed one */

#endif
