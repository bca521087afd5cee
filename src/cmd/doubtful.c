/* SPDX-License-Identifier: MIT */
#include "cmd/doubtful.h"

#include <stdlib.h>

void doubtful_fini(struct doubtful *d)
{
    for (size_t i = 0; i < SOURCE_GPUS_MAX; i++)
        free(d->of[i]);
    *d = (struct doubtful){0};
}

void doubtful_see(struct doubtful *d, const struct event_gpu *ev)
{
    if (ev->gpu >= SOURCE_GPUS_MAX || !ev->uuid[0])
        return;
    if (!d->of[ev->gpu])
        d->of[ev->gpu] = calloc(1, sizeof *d->of[0]);
    if (d->of[ev->gpu])
        doubts_load(d->of[ev->gpu], ev->uuid);
}

struct event_plan doubtful_plan(const struct doubtful *d, const struct event_plan *plan,
                                struct plan_series *series)
{
    const struct doubts *of = plan->gpu < SOURCE_GPUS_MAX ? d->of[plan->gpu] : NULL;
    return of ? doubts_apply(of, plan, series) : *plan;
}
