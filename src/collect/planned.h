/* SPDX-License-Identifier: MIT */
/* What the series of a source's plan are, for who takes its samples. */
#ifndef SMEFF_COLLECT_PLANNED_H
#define SMEFF_COLLECT_PLANNED_H

#include <stdbool.h>

#include "base/error.h"
#include "event/event.h"

struct planned {
    int *metric; /* owned; of each series, METRIC_NONE for what is not wanted */
    size_t n;
    double rate_hz;
};

/* Takes over a plan, in place of the one before. wanted: which of its series. */
enum status planned_set(struct planned *p, const struct event_plan *ev,
                        bool (*wanted)(const struct plan_series *s), struct error *err);
void planned_fini(struct planned *p); /* accepts a zeroed one */

/* The metric of a series of a batch; METRIC_NONE when it is not wanted or not in the plan. */
static inline int planned_metric(const struct planned *p, uint32_t series)
{
    return series < p->n ? p->metric[series] : METRIC_NONE;
}

/* Of a GPU, and a curve: neither a counter nor flags. */
bool planned_is_curve(const struct plan_series *s);

#endif
