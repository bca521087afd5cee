/* SPDX-License-Identifier: MIT */
#include "panel/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t s1 = INT64_C(1000000000);

int64_t model_column_ns(const struct model *m)
{
    static const int64_t ms[MODEL_SCALES] = {250, 500, 1000, 2500, 5000};
    int scale = m->scale < 0 ? 0 : m->scale >= MODEL_SCALES ? MODEL_SCALES - 1 : m->scale;
    return ms[scale] * 1000000;
}

int64_t model_at_ns(const struct model *m)
{
    return m->is_frozen ? m->at_ns : m->edge_ns;
}

bool model_is_past(const struct model *m)
{
    return m->is_frozen && m->at_ns < m->froze_ns;
}

const struct gpu_snapshot *model_gpu(const struct model *m)
{
    for (size_t i = 0; m->now && i < m->now->n_gpus; i++)
        if (m->now->gpus[i].index == m->gpu)
            return &m->now->gpus[i];
    return m->now && m->now->n_gpus ? &m->now->gpus[0] : NULL;
}

/* ---- values ---- */

static void of_trace(const struct model *m, const struct gpu_snapshot *g, struct shown *out)
{
    struct trace_column c = trace_span(m->trace, g->index, out->metric, m->at_ns - s1, m->at_ns);
    enum source_id source = out->value.source;
    if (c.known)
        value_set(&out->value, source, m->at_ns, c.mean);
    else if (value_has_number(&out->value)) {
        value_set_state(&out->value, source, VALUE_UNSUPPORTED, "nothing is kept of that moment");
        out->is_not_kept = true;
    }
    out->min = c.min;
    out->max = c.max;
}

struct shown model_value(const struct model *m, const struct gpu_snapshot *g, enum metric metric)
{
    const struct metric_stats *s = &g->metrics[metric];
    struct shown out = {metric, s->value, s->min, s->max, s->resolution, false, false};
    if (s->samples < 2)
        out.min = out.max = NAN;
    /* what never changes, such as the size of the memory, is true of the past, too */
    bool is_constant = metric == METRIC_MEM_TOTAL || metric == METRIC_POWER_LIMIT;
    if (model_is_past(m) && m->trace && !is_constant)
        of_trace(m, g, &out);
    return out;
}

/* What the memory did: its total, else reads and writes together, which are shares of the same peak
 * (judge/use.c); the metric is then the larger part. False: not known. */
static bool memory_use(const struct model *m, const struct gpu_snapshot *g, struct shown *out)
{
    struct shown all = model_value(m, g, METRIC_DRAM_THROUGHPUT);
    struct shown read = model_value(m, g, METRIC_DRAM_READ);
    struct shown write = model_value(m, g, METRIC_DRAM_WRITE);
    bool has_parts = value_is_sound(&read.value) && value_is_sound(&write.value);
    bool is_other = has_parts && all.value.source != read.value.source; /* the second witness's */
    *out = all;
    if (value_is_sound(&all.value) && !is_other)
        return true;
    if (!has_parts)
        return false;
    *out = read.value.v >= write.value.v ? read : write;
    out->value.v = read.value.v + write.value.v;
    out->is_sum = true;
    return true;
}

bool model_busiest(const struct model *m, const struct gpu_snapshot *g, struct shown *out)
{
    static const enum metric units[] = {
        METRIC_SM_ISSUE,           METRIC_TENSOR_ACTIVE,        METRIC_FMA_ACTIVE,
        METRIC_ALU_ACTIVE,         METRIC_FP64_ACTIVE,          METRIC_PCIE_RX_THROUGHPUT,
        METRIC_PCIE_TX_THROUGHPUT, METRIC_NVLINK_RX_THROUGHPUT, METRIC_NVLINK_TX_THROUGHPUT};
    bool any = memory_use(m, g, out);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct shown s = model_value(m, g, units[i]);
        if (!value_is_sound(&s.value) || (any && s.value.v <= out->value.v))
            continue;
        *out = s;
        any = true;
    }
    return any;
}

double model_gap(const struct model *m, const struct gpu_snapshot *g)
{
    struct shown busiest, util = model_value(m, g, METRIC_GPU_UTIL);
    if (!value_has_number(&util.value) || !model_busiest(m, g, &busiest))
        return NAN;
    return util.value.v - busiest.value.v;
}

/* ---- lists ---- */

static bool gpu_matches(const struct model *m, const struct gpu_snapshot *g)
{
    char text[160];
    const struct verdict_entry *e =
        m->verdicts ? verdicts_at(m->verdicts, g->index, model_at_ns(m), NULL) : NULL;
    snprintf(text, sizeof text, "%u %s %s", g->index, g->name,
             e ? verdict_name(e->verdict.kind) : "");
    if (filter_matches(&m->filter, text))
        return true;
    for (size_t i = 0; i < g->n_processes; i++)
        if (filter_matches(&m->filter, g->processes[i].name))
            return true;
    return false;
}

/* What a GPU is sorted by, largest first; without a number it comes last. */
static double sort_key(const struct model *m, const struct gpu_snapshot *g)
{
    struct shown s;
    switch (m->sort) {
    case SORT_UTIL:
        s = model_value(m, g, METRIC_GPU_UTIL);
        break;
    case SORT_POWER:
        s = model_value(m, g, METRIC_POWER);
        break;
    case SORT_MEMORY:
        s = model_value(m, g, METRIC_MEM_USED);
        break;
    case SORT_GAP: {
        double gap = model_gap(m, g);
        return isnan(gap) ? -INFINITY : gap;
    }
    default:
        return -(double)g->index;
    }
    return value_has_number(&s.value) ? s.value.v : -INFINITY;
}

size_t model_gpus(const struct model *m, const struct gpu_snapshot **out, size_t max)
{
    double keys[TRACE_GPUS_MAX];
    size_t n = 0;
    max = max < TRACE_GPUS_MAX ? max : TRACE_GPUS_MAX;
    for (size_t i = 0; m->now && i < m->now->n_gpus && n < max; i++) {
        const struct gpu_snapshot *g = &m->now->gpus[i];
        if (!gpu_matches(m, g))
            continue;
        double key = sort_key(m, g);
        size_t at = n++;
        for (; at > 0 && keys[at - 1] < key; at--) {
            keys[at] = keys[at - 1];
            out[at] = out[at - 1];
        }
        keys[at] = key;
        out[at] = g;
    }
    return n;
}

const char *model_clock(const struct model *m, int64_t t_ns, bool tenths, char *dst, size_t size)
{
    int64_t s = t_ns / s1 + m->utc_offset_s;
    int day_s = (int)((s % 86400 + 86400) % 86400);
    int n = snprintf(dst, size, "%02d:%02d:%02d", day_s / 3600, day_s / 60 % 60, day_s % 60);
    if (tenths && n > 0 && (size_t)n < size)
        snprintf(dst + n, size - (size_t)n, ".%d", (int)(t_ns / 100000000 % 10));
    return dst;
}

const char *sort_title(enum sort sort)
{
    static const char *const titles[] = {
#define X(name, title) title,
        SORTS(X)
#undef X
    };
    return titles[sort];
}
