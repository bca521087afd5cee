/* SPDX-License-Identifier: MIT */
#include "source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

bool source_wants(const struct source_request *request, unsigned gpu)
{
    for (size_t i = 0; i < request->n_gpus; i++)
        if (request->gpus[i] == gpu)
            return true;
    return request->n_gpus == 0;
}

enum value_state source_state_of(enum status status)
{
    switch (status) {
    case ERR_BUSY:
        return VALUE_BUSY;
    case ERR_PERMISSION:
        return VALUE_NO_PERMISSION;
    case ERR_UNSUPPORTED:
    case ERR_NO_GPU:
    case ERR_NOT_FOUND:
        return VALUE_UNSUPPORTED;
    default:
        return VALUE_FAILED;
    }
}

enum status source_describe_failure(const struct source_ops *ops, unsigned gpu,
                                    const struct error *why, const struct event_sink *sink,
                                    struct error *err)
{
    struct plan_series series[METRIC_COUNT];
    struct event ev = {.kind = EVENT_PLAN,
                       .u.plan = {.gpu = gpu, .source = ops->id, .series = series}};
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (!ops->covers((enum metric)m))
            continue;
        const struct metric_info *info = metric_info((enum metric)m);
        series[ev.u.plan.n++] = (struct plan_series){.metric = m,
                                                     .name = info->key,
                                                     .unit = info->unit,
                                                     .state = source_state_of(why->status),
                                                     .reason = why->text,
                                                     .counter = ""};
    }
    return event_push(sink, &ev, err);
}

enum status source_beat(const struct event_sink *sink, struct error *err)
{
    return event_push(sink, &(struct event){.kind = EVENT_BEAT}, err);
}

enum status source_wait(int64_t monotonic_ns, const struct event_sink *sink,
                        const struct source_stop *stop, struct error *err)
{
    for (;;) {
        int64_t next = clock_monotonic_ns() + SOURCE_BEAT_NS;
        bool last = next >= monotonic_ns;
        if (!source_sleep_until(last ? monotonic_ns : next, stop) || last)
            return OK;
        enum status st = source_beat(sink, err);
        if (st)
            return st;
    }
}

bool source_sleep_until(int64_t monotonic_ns, const struct source_stop *stop)
{
    const struct timespec t = {(time_t)(monotonic_ns / 1000000000),
                               (long)(monotonic_ns % 1000000000)};
    while (!stop->raised && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
    return !stop->raised;
}
