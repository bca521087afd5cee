/* SPDX-License-Identifier: MIT */
#include "judge/use.h"

#include <math.h>

#include "judge/thresholds.h"

static const struct use unknown = {NAN, NAN, NAN, 0, ""};

static struct use use_of(const struct gpu_snapshot *g, enum metric m)
{
    const struct metric_stats *s = &g->metrics[m];
    if (!value_is_sound(&s->value))
        return unknown;
    return (struct use){s->value.v, s->value.v, s->p95, s->resolution, metric_info(m)->label};
}

static struct use busiest(const struct gpu_snapshot *g, const enum metric *list, size_t n)
{
    struct use best = unknown;
    for (size_t i = 0; i < n; i++) {
        struct use u = use_of(g, list[i]);
        if (use_known(&u) && !(u.share <= best.share))
            best = u;
    }
    return best;
}

static struct use compute_use(const struct gpu_snapshot *g)
{
    static const enum metric list[] = {METRIC_TENSOR_ACTIVE, METRIC_FMA_ACTIVE, METRIC_ALU_ACTIVE,
                                       METRIC_FP64_ACTIVE, METRIC_SM_THROUGHPUT};
    return busiest(g, list, sizeof list / sizeof list[0]);
}

/* Is it the second witness's (GPM), whose samples of up to ten seconds are not those of the others?
 */
static bool is_of_witness(const struct gpu_snapshot *g, enum metric m)
{
    return g->backend == SOURCE_PM && g->metrics[m].value.source != SOURCE_PM;
}

/* DRAM use: NVIDIA's own total where there is one, else reads plus writes (both are shares of the
 * same peak; on an H200 their sum was the total within a point). The 95th percentiles of the two
 * must not be added, since their busiest samples may be others: the larger is a lower bound. */
struct use use_memory(const struct gpu_snapshot *g)
{
    struct use total = use_of(g, METRIC_DRAM_THROUGHPUT);
    struct use r = use_of(g, METRIC_DRAM_READ), w = use_of(g, METRIC_DRAM_WRITE);
    bool has_parts = use_known(&r) && use_known(&w);
    if (use_known(&total) && !(has_parts && is_of_witness(g, METRIC_DRAM_THROUGHPUT)))
        return total;
    if (!has_parts)
        return unknown;
    double sum = r.share + w.share;
    return (struct use){sum, sum, fmax(r.p95, w.p95), r.step + w.step, "DRAM read + write"};
}

/* Over the engine's time. More than the engine's own share is not its doing alone (copy engines).
 */
static void set_active(struct use *u, const struct use *gr)
{
    if (gr->share >= ENGINE_MIN && u->share <= gr->share)
        u->active = u->share / gr->share;
}

static void set_links(const struct gpu_snapshot *g, struct uses *u)
{
    static const enum metric list[USE_LINKS_MAX] = {
        METRIC_PCIE_RX_THROUGHPUT, METRIC_PCIE_TX_THROUGHPUT, METRIC_NVLINK_RX_THROUGHPUT,
        METRIC_NVLINK_TX_THROUGHPUT};
    bool engine_known = use_known(&u->gr) || use_known(&u->sm);
    bool idle = engine_known && !use_above_idle(&u->gr) && !use_above_idle(&u->sm) &&
                !use_above_idle(&u->memory);
    u->link = unknown;
    for (size_t i = 0; i < USE_LINKS_MAX; i++) {
        struct use link = use_of(g, list[i]);
        bool nvlink = i >= 2;
        if (!use_known(&link))
            continue;
        if (nvlink && idle && link.share >= LINK_PHANTOM) {
            u->phantom = true;
            continue;
        }
        u->links[u->n_links++] = link;
        if (!(link.share <= u->link.share)) {
            u->link = link;
            u->link_is_nvlink = nvlink;
        }
    }
}

/* Of the hardware counters that count shares; driver readings are slower. */
static uint64_t most_samples(const struct gpu_snapshot *g)
{
    uint64_t most = 0;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        const struct metric_stats *s = &g->metrics[m];
        if (info->unit == UNIT_RATIO && info->group != GROUP_DRIVER && value_is_sound(&s->value) &&
            s->samples > most)
            most = s->samples;
    }
    return most;
}

void uses_of(const struct gpu_snapshot *g, struct uses *out)
{
    struct uses u = {
        .gr = use_of(g, METRIC_GR_ACTIVE),
        .sm = use_of(g, METRIC_SM_ACTIVE),
        .memory = use_memory(g),
        .tensor = use_of(g, METRIC_TENSOR_ACTIVE),
        .compute = compute_use(g),
        .issue = use_of(g, METRIC_SM_ISSUE),
        .samples = most_samples(g),
        .source = g->metrics[METRIC_GR_ACTIVE].value.source,
    };
    /* a matrix product keeps the tensor pipe busy with few instructions: other pipes do not tell */
    u.pipes_known = use_known(&u.tensor) || value_is_sound(&g->metrics[METRIC_SM_THROUGHPUT].value);
    set_active(&u.memory, &u.gr);
    set_active(&u.tensor, &u.gr);
    set_active(&u.compute, &u.gr);
    set_active(&u.issue, &u.gr);
    set_links(g, &u);
    *out = u;
}

bool use_above_idle(const struct use *u)
{
    return u->share > SNAPSHOT_IDLE_SHARE + u->step + SLACK;
}
