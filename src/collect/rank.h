/* SPDX-License-Identifier: MIT */
/* Whose number is taken when several sources have one: the finer source. */
#ifndef SMEFF_COLLECT_RANK_H
#define SMEFF_COLLECT_RANK_H

#include "metric/value.h"

static inline int source_rank(enum source_id source)
{
    switch (source) {
    case SOURCE_PM:
        return 4;
    case SOURCE_NSYS:
        return 3;
    case SOURCE_GPM:
        return 2;
    default:
        return source == SOURCE_NONE ? 0 : 1;
    }
}

#endif
