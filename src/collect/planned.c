/* SPDX-License-Identifier: MIT */
#include "collect/planned.h"

#include <stdlib.h>

enum status planned_set(struct planned *p, const struct event_plan *ev,
                        bool (*wanted)(const struct plan_series *s), struct error *err)
{
    int *metric = calloc(ev->n + 1, sizeof *metric);
    if (!metric)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < ev->n; i++)
        metric[i] = wanted(&ev->series[i]) ? ev->series[i].metric : METRIC_NONE;
    free(p->metric);
    *p = (struct planned){metric, ev->n, ev->rate_hz};
    return OK;
}

void planned_fini(struct planned *p)
{
    free(p->metric);
    *p = (struct planned){0};
}

bool planned_is_curve(const struct plan_series *s)
{
    if (s->metric == METRIC_NONE)
        return false;
    const struct metric_info *info = metric_info((enum metric)s->metric);
    return info->scope == SCOPE_GPU && info->kind == KIND_GAUGE && info->unit != UNIT_FLAGS;
}
