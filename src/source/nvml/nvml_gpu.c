/* SPDX-License-Identifier: MIT */
#include "source/nvml/nvml_gpu.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A reader's number and the metric's place in it; false for what no reader gives. */
static bool find_reader(enum metric m, size_t *reader, size_t *place)
{
    for (*reader = 0; *reader < NVML_READERS; ++*reader)
        for (*place = 0; *place < NVML_READER_METRICS; ++*place)
            if (nvml_readers[*reader].metrics[*place] == (int)m)
                return true;
    return false;
}

/* A call that failed on this GPU: is it for good, for this user, or for now? */
static enum value_state state_of(nvmlReturn_t rc)
{
    switch (nvml_status(rc)) {
    case ERR_UNSUPPORTED:
        return VALUE_UNSUPPORTED;
    case ERR_PERMISSION:
        return VALUE_NO_PERMISSION;
    default:
        return VALUE_FAILED;
    }
}

struct attempt {
    nvmlReturn_t rc;
    size_t way;
    struct nvml_reading reading;
};

static struct attempt try_way(const struct nvml_reader *r, size_t way, const struct nvml_api *api,
                              nvmlDevice_t dev)
{
    struct attempt a = {.way = way};
    a.rc = r->ways[way].read(api, dev, &a.reading);
    return a;
}

static bool is_final(nvmlReturn_t rc)
{
    return rc == NVML_SUCCESS || rc == NVML_ERROR_GPU_IS_LOST;
}

/* The call that worked last time, as long as it fails only for now: another call may give another
 * quantity. Else all of them in order of preference; when none works, the failure that tells most.
 */
static struct attempt try_reader(const struct nvml_reader *r, const struct nvml_outcome *o,
                                 const struct nvml_api *api, nvmlDevice_t dev)
{
    struct attempt best = {.rc = NVML_ERROR_NOT_SUPPORTED};
    if (o->state == VALUE_OK) {
        best = try_way(r, o->way, api, dev);
        if (is_final(best.rc) || state_of(best.rc) != VALUE_UNSUPPORTED)
            return best;
    }
    for (size_t way = 0; way < NVML_READER_WAYS && r->ways[way].call; way++) {
        struct attempt a = try_way(r, way, api, dev);
        if (is_final(a.rc))
            return a;
        if (way == 0 || state_of(best.rc) == VALUE_UNSUPPORTED)
            best = a;
    }
    return best;
}

/* Takes over what an attempt gave; true when the plan is another one now. */
static bool take(struct nvml_outcome *o, const struct nvml_reader *r, const struct attempt *a)
{
    struct nvml_outcome before = *o;
    o->way = a->way;
    o->reason[0] = '\0';
    o->state = a->rc == NVML_SUCCESS ? VALUE_OK : state_of(a->rc);
    if (a->rc == NVML_SUCCESS) {
        memcpy(o->v, a->reading.v, sizeof o->v);
    } else if (a->reading.why) {
        snprintf(o->reason, sizeof o->reason, "%s", a->reading.why);
    } else {
        struct error words = ERROR_INIT;
        nvml_fail(&words, r->ways[a->way].call, a->rc);
        snprintf(o->reason, sizeof o->reason, "%.*s", (int)sizeof o->reason - 1, words.text);
    }
    return o->state != before.state || o->way != before.way || strcmp(o->reason, before.reason);
}

enum status nvml_gpu_read(struct nvml_gpu *g, const struct nvml_api *api, unsigned due,
                          bool *changed, struct error *err)
{
    for (size_t i = 0; i < NVML_READERS; i++) {
        const struct nvml_reader *r = &nvml_readers[i];
        struct nvml_outcome *o = &g->outcomes[i];
        o->v[0] = o->v[1] = NAN;
        if (due != NVML_ALL && (!(r->when & due) || o->state != VALUE_OK))
            continue;
        struct attempt a = try_reader(r, o, api, g->card->dev);
        enum status st = nvml_cards_check(g->card, r->ways[a.way].call, a.rc, err);
        if (st)
            return st;
        if (take(o, r, &a))
            *changed = true;
    }
    return OK;
}

static struct plan_series series_of(const struct nvml_gpu *g, enum metric m)
{
    const struct metric_info *info = metric_info(m);
    struct plan_series s = {.metric = (int)m, .name = info->key, .unit = info->unit, .counter = ""};
    size_t reader = 0, place = 0;
    bool known = find_reader(m, &reader, &place);
    assert(known);
    (void)known;
    const struct nvml_outcome *o = &g->outcomes[reader];
    s.counter = nvml_readers[reader].ways[o->way].counter[place];
    s.resolution = nvml_readers[reader].resolution[place];
    s.state = o->state;
    s.reason = o->reason;
    if (g->asleep) {
        s.state = VALUE_UNSUPPORTED;
        s.reason = NVML_ASLEEP_TEXT;
    } else if (g->card->why.status) {
        s.state = source_state_of(g->card->why.status);
        s.reason = g->card->why.text;
    }
    return s;
}

enum status nvml_gpu_plan(const struct nvml_gpu *g, double rate_hz, const struct event_sink *sink,
                          struct error *err)
{
    struct plan_series series[METRIC_COUNT];
    struct event ev = {
        .kind = EVENT_PLAN,
        .u.plan = {
            .gpu = g->card->index, .source = SOURCE_NVML, .rate_hz = rate_hz, .series = series}};
    for (int m = 0; m < METRIC_COUNT; m++)
        if (metric_info((enum metric)m)->group == GROUP_DRIVER)
            series[ev.u.plan.n++] = series_of(g, (enum metric)m);
    return event_push(sink, &ev, err);
}

enum status nvml_gpu_send(const struct nvml_gpu *g, int64_t t0_ns, int64_t t1_ns,
                          const struct event_sink *sink, bool *sent, struct error *err)
{
    uint32_t columns[METRIC_COUNT], series = 0;
    double values[METRIC_COUNT];
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.gpu = g->card->index,
                                     .source = SOURCE_NVML,
                                     .n = 1,
                                     .t0_ns = &t0_ns,
                                     .t1_ns = &t1_ns,
                                     .series = columns,
                                     .values = values,
                                     .stride = 1}};
    for (int m = 0; m < METRIC_COUNT; m++) {
        size_t reader = 0, place = 0;
        if (metric_info((enum metric)m)->group != GROUP_DRIVER)
            continue;
        bool known = find_reader((enum metric)m, &reader, &place);
        if (known && g->outcomes[reader].state == VALUE_OK) {
            columns[ev.u.samples.columns] = series;
            values[ev.u.samples.columns++] = g->outcomes[reader].v[place];
        }
        series++;
    }
    if (ev.u.samples.columns == 0)
        return OK;
    *sent = true;
    return event_push(sink, &ev, err);
}
