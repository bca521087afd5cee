/* SPDX-License-Identifier: MIT */
#include "source/pm/tell.h"

enum status pm_tell_plan(const struct pm_pack *pack, unsigned gpu, double rate_hz,
                         const struct event_sink *sink, struct error *err)
{
    struct plan_series series[METRIC_COUNT];
    for (size_t i = 0; i < pack->n_picks; i++) {
        const struct pm_pick *pick = &pack->picks[i];
        const struct metric_info *info = metric_info(pick->metric);
        series[i] =
            (struct plan_series){.metric = (int)pick->metric,
                                 .name = info->key,
                                 .unit = info->unit,
                                 .state = pick->state,
                                 .reason = pick->reason,
                                 .counter = pick->candidate ? pick->candidate->expression : ""};
    }
    struct event ev = {.kind = EVENT_PLAN,
                       .u.plan = {.gpu = gpu,
                                  .source = SOURCE_PM,
                                  .rate_hz = rate_hz,
                                  .n = pack->n_picks,
                                  .series = series}};
    return event_push(sink, &ev, err);
}

enum status pm_tell_cupti(const struct cupti_api *cupti, const char *from, size_t counters, int gpu,
                          const struct event_sink *sink, struct error *err)
{
    return event_push_note(sink, NOTE_INFO, gpu, err,
                           "pm: CUPTI interface %u from %s (%s), %zu counters", cupti->version,
                           cupti->lib.path, from, counters);
}
