/* SPDX-License-Identifier: MIT */
/* What self-tests found wrong with the GPUs of a stream, put into its plans. */
#ifndef SMEFF_CMD_DOUBTFUL_H
#define SMEFF_CMD_DOUBTFUL_H

#include "cmd/doubts.h"
#include "event/event.h"
#include "source/source.h"

/* A zeroed one doubts nothing. */
struct doubtful {
    struct doubts *of[SOURCE_GPUS_MAX]; /* owned; NULL = nothing is known */
};

void doubtful_fini(struct doubtful *d);

/* Reads what is remembered of this GPU, anew each time: a sampler names its GPU at each start, and
 * a self-test may have run meanwhile. */
void doubtful_see(struct doubtful *d, const struct event_gpu *ev);

/* The plan, with series that are not to be believed marked; series has METRIC_COUNT and is used by
 * the result. */
struct event_plan doubtful_plan(const struct doubtful *d, const struct event_plan *plan,
                                struct plan_series *series);

#endif
