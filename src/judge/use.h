/* SPDX-License-Identifier: MIT */
/* How much of its units a GPU used: what the judge reads off a snapshot. Sound numbers only. */
#ifndef SMEFF_JUDGE_USE_H
#define SMEFF_JUDGE_USE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "collect/snapshot.h"

/* A unit's share of its peak; all NaN when there is no sound number. */
struct use {
    double share;  /* mean over the window */
    double active; /* the same over the time in which the engine had work */
    double p95;    /* of single samples */
    double step;   /* resolution of single samples, 0 = fine */
    const char *label;
};

enum { USE_LINKS_MAX = 4 };

struct uses {
    struct use gr, sm;
    struct use memory;  /* DRAM: the total, or reads and writes added */
    struct use tensor;  /* the tensor pipe alone */
    struct use compute; /* the busiest arithmetic pipe, tensor among them */
    struct use issue;   /* instruction rate: no arithmetic unit */
    struct use links[USE_LINKS_MAX];
    size_t n_links;
    struct use link;       /* the busiest of them */
    bool link_is_nvlink;   /* the busiest */
    bool phantom;          /* NVLinks were left out that read 100 % on an idle GPU */
    bool pipes_known;      /* is it known whether arithmetic is the limit? */
    uint64_t samples;      /* of the counter that has most */
    enum source_id source; /* of the engine's share */
};

/* DRAM: its total, or reads and writes added. */
struct use use_memory(const struct gpu_snapshot *g);

void uses_of(const struct gpu_snapshot *g, struct uses *out);

static inline bool use_known(const struct use *u)
{
    return !isnan(u->share);
}

/* Above what a source shows on an idle GPU: false when not known. */
bool use_above_idle(const struct use *u);

#endif
