/* SPDX-License-Identifier: MIT */
/* The judge's findings: finer than the verdict's kinds, since one kind can have several causes. */
#ifndef SMEFF_JUDGE_FINDING_H
#define SMEFF_JUDGE_FINDING_H

#include "judge/use.h"
#include "judge/verdict.h"

/* The order matters: MEMORY to PHASES are units at their limit, BURSTS to GAPS waiting for work. */
enum finding {
    FIND_NOTHING, /* what is there cannot decide */
    FIND_IDLE,
    FIND_LINK,        /* a link is busier than memory and arithmetic */
    FIND_MEMORY,      /* memory */
    FIND_COMPUTE,     /* an arithmetic pipe */
    FIND_ISSUE,       /* the instruction rate */
    FIND_BOTH,        /* memory and arithmetic */
    FIND_PHASES,      /* memory and arithmetic in turn */
    FIND_BURSTS,      /* no work in some samples, much in others */
    FIND_UNEVEN,      /* more work and less work */
    FIND_TRICKLE,     /* hardly any, evenly */
    FIND_GAPS,        /* short pauses everywhere */
    FIND_PARALLELISM, /* always work, but not for all SMs */
    FIND_LATENCY,     /* always work, for all SMs, and no unit near its limit */
    FIND_COUNT
};

enum finding finding_of(const struct gpu_snapshot *g, const struct uses *u);

/* The finding in words. */
void finding_explain(enum finding finding, const struct gpu_snapshot *g, const struct uses *u,
                     struct verdict *v);

/* One more line; what exceeds VERDICT_LINES is left out. */
__attribute__((format(printf, 2, 3))) void verdict_add(struct verdict_lines *l, const char *fmt,
                                                       ...);

#endif
