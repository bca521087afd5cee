/* SPDX-License-Identifier: MIT */
#include "source/gpm/gpm_gpu.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* The first one or two readings may be empty; a metric that goes on failing is not there. */
enum { FAILURES_MAX = 3 };

/* Two clocks that disagree more than this about a sample's length: the UNIX one was set. */
#define CLOCK_STEP_NS INT64_C(10000000)

#define NO_GPM "GPM needs a Hopper or newer data-centre GPU, or GeForce/RTX Blackwell"

size_t gpm_gpu_metrics(enum metric list[GPM_SERIES_MAX])
{
    size_t n = 0;
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (metric_info((enum metric)m)->gpm_id == 0)
            continue;
        assert(n < GPM_SERIES_MAX);
        list[n++] = (enum metric)m;
    }
    return n;
}

static bool set(struct gpm_series *s, enum value_state state, const char *reason)
{
    bool same = s->state == state && strcmp(s->reason, reason) == 0;
    s->state = state;
    snprintf(s->reason, sizeof s->reason, "%.*s", (int)sizeof s->reason - 1, reason);
    return !same;
}

void gpm_gpu_set_all(struct gpm_gpu *g, enum value_state state, const char *reason)
{
    for (size_t i = 0; i < GPM_SERIES_MAX; i++)
        set(&g->series[i], state, reason);
}

static enum value_state state_of(nvmlReturn_t rc)
{
    return nvml_status(rc) == ERR_PERMISSION ? VALUE_NO_PERMISSION : VALUE_FAILED;
}

/* Has the GPU GPM? If not, *why is for people, or NULL when the code of *call tells it. */
static nvmlReturn_t query(const struct gpm_gpu *g, const struct nvml_api *api, const char **call,
                          const char **why)
{
    if (!api->nvmlGpmQueryDeviceSupport || !api->nvmlGpmSampleAlloc || !api->nvmlGpmSampleFree ||
        !api->nvmlGpmSampleGet || !api->nvmlGpmMetricsGet) {
        *why = "this driver has no GPM: it came with R520";
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    }
    unsigned mig = 0, pending = 0;
    *call = "nvmlDeviceGetMigMode";
    nvmlReturn_t rc =
        api->nvmlDeviceGetMigMode ? api->nvmlDeviceGetMigMode(g->card->dev, &mig, &pending) : 0;
    if (rc == NVML_SUCCESS && mig) {
        *why = "MIG is on: GPM then counts only for each instance";
        return NVML_ERROR_NOT_SUPPORTED;
    }
    if (rc == NVML_ERROR_GPU_IS_LOST)
        return rc;
    struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
    *call = "nvmlGpmQueryDeviceSupport";
    rc = api->nvmlGpmQueryDeviceSupport(g->card->dev, &support);
    if (nvml_status(rc) == ERR_UNSUPPORTED || (rc == NVML_SUCCESS && !support.isSupportedDevice)) {
        *why = NO_GPM;
        return NVML_ERROR_NOT_SUPPORTED;
    }
    return rc;
}

static nvmlReturn_t allocate(struct gpm_gpu *g, const struct nvml_api *api, const char **call)
{
    nvmlReturn_t rc = NVML_SUCCESS;
    *call = "nvmlGpmSampleAlloc";
    if (!g->older)
        rc = api->nvmlGpmSampleAlloc(&g->older);
    if (rc == NVML_SUCCESS && !g->newer)
        rc = api->nvmlGpmSampleAlloc(&g->newer);
    return rc;
}

/* GPM reads 0 for links that are not there, and unknown is never 0. Blackwell has 18 links, as has
 * Hopper; NVML refuses numbers beyond the last. */
static bool has_nvlink(const struct gpm_gpu *g, const struct nvml_api *api)
{
    enum { LINKS_MAX = 36 };
    unsigned active = 0;
    if (!api->nvmlDeviceGetNvLinkState)
        return true; /* cannot be told */
    for (unsigned link = 0; link < LINKS_MAX; link++)
        if (api->nvmlDeviceGetNvLinkState(g->card->dev, link, &active) == NVML_SUCCESS && active)
            return true;
    return false;
}

static void mark_absent(struct gpm_gpu *g, const struct nvml_api *api)
{
    enum metric list[GPM_SERIES_MAX];
    size_t n = gpm_gpu_metrics(list);
    bool nvlink = has_nvlink(g, api);
    for (size_t i = 0; i < n; i++) {
        g->series[i].absent =
            !nvlink && (list[i] == METRIC_NVLINK_RX || list[i] == METRIC_NVLINK_TX);
        if (g->series[i].absent)
            set(&g->series[i], VALUE_UNSUPPORTED, "no NVLink of this GPU is active");
    }
}

enum status gpm_gpu_prepare(struct gpm_gpu *g, const struct nvml_api *api, struct error *err)
{
    const char *call = "", *why = NULL;
    struct error words = ERROR_INIT;
    nvmlReturn_t rc = query(g, api, &call, &why);
    if (rc == NVML_SUCCESS)
        rc = allocate(g, api, &call);
    enum status st = nvml_cards_check(g->card, call, rc, err);
    if (st)
        return st;
    g->ready = rc == NVML_SUCCESS;
    g->has_older = false;
    if (g->ready) {
        gpm_gpu_set_all(g, VALUE_WARMING, "GPM needs two samples, one interval apart");
        mark_absent(g, api);
    } else if (why) {
        gpm_gpu_set_all(g, VALUE_UNSUPPORTED, why);
    } else {
        nvml_fail(&words, call, rc);
        gpm_gpu_set_all(g, state_of(rc), words.text);
    }
    return OK;
}

/* Takes one metric over; true when the plan is another one now. */
static bool take(struct gpm_series *s, const struct nvml_gpm_metric *m, double scale, double *value)
{
    *value = NAN;
    if (s->absent)
        return false;
    bool sane = m->nvmlReturn == NVML_SUCCESS && isfinite(m->value) && m->value >= 0;
    if (sane) {
        *value = m->value * scale;
        s->failures = 0;
        s->seen = true;
        return set(s, VALUE_OK, "");
    }
    if (s->failures < FAILURES_MAX)
        s->failures++;
    if (s->failures < FAILURES_MAX)
        return false;
    struct error words = ERROR_INIT;
    if (m->nvmlReturn == NVML_SUCCESS)
        fail(&words, ERR_VENDOR, 0, "GPM %u: the driver gives no possible number", m->metricId);
    else
        nvml_fail(&words, "nvmlGpmMetricsGet", m->nvmlReturn);
    enum value_state state = state_of(m->nvmlReturn);
    return set(s, s->seen || state == VALUE_NO_PERMISSION ? state : VALUE_UNSUPPORTED, words.text);
}

/* Asks for all metrics between both samples. A failure of the whole call is one of each metric. */
static enum status measure(struct gpm_gpu *g, const struct nvml_api *api, bool *changed,
                           struct error *err)
{
    enum metric list[GPM_SERIES_MAX];
    struct nvml_gpm_metrics m = {.version = NVML_GPM_VERSION,
                                 .numMetrics = (unsigned)gpm_gpu_metrics(list),
                                 .sample1 = g->older,
                                 .sample2 = g->newer};
    for (unsigned i = 0; i < m.numMetrics; i++) {
        m.metrics[i].metricId = (unsigned)metric_info(list[i])->gpm_id;
        m.metrics[i].nvmlReturn = NVML_ERROR_NO_DATA; /* if the driver leaves it alone */
    }
    nvmlReturn_t rc = api->nvmlGpmMetricsGet(&m);
    enum status st = nvml_cards_check(g->card, "nvmlGpmMetricsGet", rc, err);
    for (unsigned i = 0; !st && i < m.numMetrics; i++) {
        if (rc)
            m.metrics[i].nvmlReturn = rc;
        if (take(&g->series[i], &m.metrics[i], metric_info(list[i])->gpm_scale, &g->values[i]))
            *changed = true;
    }
    return st;
}

/* A sample could not be taken: the next interval begins anew. */
static enum status lose_sample(struct gpm_gpu *g, nvmlReturn_t rc, bool *changed, struct error *err)
{
    struct error words = ERROR_INIT;
    enum status st = nvml_cards_check(g->card, "nvmlGpmSampleGet", rc, err);
    if (st)
        return st;
    nvml_fail(&words, "nvmlGpmSampleGet", rc);
    g->has_older = false;
    for (size_t i = 0; i < GPM_SERIES_MAX; i++)
        if (g->series[i].state != VALUE_UNSUPPORTED && set(&g->series[i], state_of(rc), words.text))
            *changed = true;
    return OK;
}

enum status gpm_gpu_step(struct gpm_gpu *g, const struct nvml_api *api, int64_t *t0_ns,
                         int64_t *t1_ns, bool *measured, bool *changed, struct error *err)
{
    static const struct source_stop never = {0};
    *measured = false;
    if (g->has_older)
        source_sleep_until(g->ready_ns, &never);
    int64_t before_ns = clock_unix_ns(), monotonic_ns = clock_monotonic_ns();
    nvmlReturn_t rc = api->nvmlGpmSampleGet(g->card->dev, g->newer);
    if (rc)
        return lose_sample(g, rc, changed, err);
    int64_t done_ns = clock_monotonic_ns(), taken_ns = (done_ns - monotonic_ns) / 2;
    enum status st = OK;
    if (g->has_older) {
        int64_t length_ns = monotonic_ns + taken_ns - g->monotonic_ns;
        int64_t step_ns = before_ns + taken_ns - g->unix_ns - length_ns;
        *t1_ns = before_ns + taken_ns;
        *t0_ns = llabs(step_ns) < CLOCK_STEP_NS ? g->unix_ns : *t1_ns - length_ns;
        *measured = true;
        st = measure(g, api, changed, err);
    }
    nvmlGpmSample_t spare = g->older;
    g->older = g->newer;
    g->newer = spare;
    g->has_older = true;
    g->unix_ns = before_ns + taken_ns;
    g->monotonic_ns = monotonic_ns + taken_ns;
    g->ready_ns = done_ns + GPM_FLOOR_NS; /* it was taken when the call ended, at the latest */
    return st;
}

enum status gpm_gpu_plan(const struct gpm_gpu *g, double rate_hz, const struct event_sink *sink,
                         struct error *err)
{
    enum metric list[GPM_SERIES_MAX];
    struct plan_series series[GPM_SERIES_MAX];
    char counters[GPM_SERIES_MAX][32];
    struct event ev = {.kind = EVENT_PLAN,
                       .u.plan = {.gpu = g->card->index,
                                  .source = SOURCE_GPM,
                                  .rate_hz = rate_hz,
                                  .n = gpm_gpu_metrics(list),
                                  .series = series}};
    const struct error *why = &g->card->why;
    for (size_t i = 0; i < ev.u.plan.n; i++) {
        const struct metric_info *info = metric_info(list[i]);
        snprintf(counters[i], sizeof counters[i], "NVML GPM %d", info->gpm_id);
        series[i] = (struct plan_series){.metric = (int)list[i],
                                         .name = info->key,
                                         .unit = info->unit,
                                         .state = g->series[i].state,
                                         .reason = g->series[i].reason,
                                         .counter = counters[i]};
        if (g->asleep) {
            series[i].state = VALUE_UNSUPPORTED;
            series[i].reason = NVML_ASLEEP_TEXT;
        } else if (why->status) {
            series[i].state = source_state_of(why->status);
            series[i].reason = why->text;
        }
    }
    return event_push(sink, &ev, err);
}

enum status gpm_gpu_send(const struct gpm_gpu *g, int64_t t0_ns, int64_t t1_ns,
                         const struct event_sink *sink, bool *sent, struct error *err)
{
    enum metric list[GPM_SERIES_MAX];
    size_t n = gpm_gpu_metrics(list);
    uint32_t columns[GPM_SERIES_MAX];
    double values[GPM_SERIES_MAX];
    struct event ev = {.kind = EVENT_SAMPLES,
                       .u.samples = {.gpu = g->card->index,
                                     .source = SOURCE_GPM,
                                     .n = 1,
                                     .t0_ns = &t0_ns,
                                     .t1_ns = &t1_ns,
                                     .series = columns,
                                     .values = values,
                                     .stride = 1}};
    for (uint32_t i = 0; i < n; i++) {
        if (g->series[i].state != VALUE_OK)
            continue;
        columns[ev.u.samples.columns] = i;
        values[ev.u.samples.columns++] = g->values[i];
    }
    if (ev.u.samples.columns == 0)
        return OK;
    *sent = true;
    return event_push(sink, &ev, err);
}

void gpm_gpu_fini(struct gpm_gpu *g, const struct nvml_api *api)
{
    if (g->older)
        api->nvmlGpmSampleFree(g->older);
    if (g->newer)
        api->nvmlGpmSampleFree(g->newer);
    *g = (struct gpm_gpu){0};
}
