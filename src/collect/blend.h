/* SPDX-License-Identifier: MIT */
/* What several sources say of one GPU, as one: whose window it is, and whose number is taken. */
#ifndef SMEFF_COLLECT_BLEND_H
#define SMEFF_COLLECT_BLEND_H

#include "collect/feed.h"

/* Fills window, metrics, past and extras of g from the feeds of GPU g->index; g's metrics must say
 * "no source" (SOURCE_NONE) before. */
enum status blend(const struct feed *feeds, size_t n_feeds, struct gpu_snapshot *g,
                  struct error *err);

#endif
