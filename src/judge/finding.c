/* SPDX-License-Identifier: MIT */
/* The rules: from shares to a finding. Each asks only for the numbers that it uses; a comparison
 * with an unknown share (NaN) is false. */
#include "judge/finding.h"

#include "judge/thresholds.h"

/* The larger of two, of which either may be unknown. */
static double larger(double a, double b)
{
    return a >= b || isnan(b) ? a : b;
}

/* Nothing moved. Without GR active and SM active the pipes and the memory must be known: a kernel
 * that computes nothing would pass for idle, which is said among the limits. */
static bool is_idle(const struct uses *u)
{
    if (use_above_idle(&u->gr) || use_above_idle(&u->sm) || use_above_idle(&u->memory) ||
        use_above_idle(&u->link))
        return false;
    if (use_known(&u->gr) || use_known(&u->sm))
        return true;
    return use_known(&u->memory) && use_known(&u->compute) && !use_above_idle(&u->compute) &&
           !use_above_idle(&u->issue);
}

/* Memory or arithmetic at its limit, over the whole window or over the engine's time. */
static enum finding at_limit(const struct uses *u, bool while_active)
{
    double memory = while_active ? u->memory.active : u->memory.share;
    double compute = while_active ? u->compute.active : u->compute.share;
    double issue = while_active ? u->issue.active : u->issue.share;
    bool by_issue = issue >= AT_LIMIT && !(compute >= issue);
    double arithmetic = by_issue ? issue : compute;
    if (memory >= AT_LIMIT && arithmetic >= AT_LIMIT && fabs(memory - arithmetic) <= CLOSE + SLACK)
        return FIND_BOTH;
    if (memory >= AT_LIMIT && !(arithmetic > memory))
        return FIND_MEMORY;
    if (arithmetic >= AT_LIMIT)
        return by_issue ? FIND_ISSUE : FIND_COMPUTE;
    return FIND_NOTHING;
}

/* A unit that is not quite at its limit, but far ahead of all others, which must be known. */
static enum finding in_the_lead(const struct uses *u)
{
    double memory = u->memory.active, compute = u->compute.active;
    double beside_memory = larger(larger(compute, u->issue.active), u->link.share);
    double beside_compute = larger(memory, u->link.share);
    if (u->pipes_known && memory >= NEAR_LIMIT && memory >= LEAD * beside_memory)
        return FIND_MEMORY;
    if (use_known(&u->memory) && compute >= NEAR_LIMIT && compute >= LEAD * beside_compute)
        return FIND_COMPUTE;
    return FIND_NOTHING;
}

/* A link works whether the engine does or not, so it is compared by shares of the whole window. */
static bool is_link(const struct uses *u)
{
    if (!(u->link.share >= LINK_LIMIT) || u->link.share <= u->memory.share ||
        u->link.share <= u->compute.share)
        return false;
    /* perhaps inactive NVLinks that read 100 %: what is known to be at its limit explains more */
    return !(u->link_is_nvlink && u->link.share >= LINK_PHANTOM &&
             at_limit(u, true) != FIND_NOTHING);
}

/* Memory and arithmetic each reach their limit in some samples, neither in the mean. */
static bool has_phases(const struct uses *u)
{
    return u->samples >= QUANTILE_SAMPLES_MIN && u->memory.p95 >= AT_LIMIT &&
           u->compute.p95 >= AT_LIMIT && u->memory.active < AT_LIMIT &&
           u->compute.active < AT_LIMIT;
}

static bool comes_in_bursts(const struct metric_stats *engine)
{
    return engine->idle_share >= PAUSES - SLACK && engine->p95 >= BURST;
}

static bool is_uneven(const struct metric_stats *engine)
{
    return engine->samples >= QUANTILE_SAMPLES_MIN && engine->p95 - engine->p05 >= SPREAD - SLACK;
}

/* Always work, as far as can be seen, and no unit at its limit. */
static enum finding busy_without_limit(const struct uses *u)
{
    /* SMs without a warp half of the time may be gaps or small kernels: only GR active tells */
    bool busy = use_known(&u->gr) ? u->gr.share >= BUSY : u->sm.share >= BUSY;
    if (!busy || !use_known(&u->memory) || !u->pipes_known)
        return FIND_NOTHING;
    return u->sm.share < PARALLEL ? FIND_PARALLELISM : FIND_LATENCY;
}

/* In the order of what costs most: no work for more than half of the time outweighs what limits the
 * rest, and a unit that is at its limit over the whole window outweighs the gaps. */
enum finding finding_of(const struct gpu_snapshot *g, const struct uses *u)
{
    bool gr_known = use_known(&u->gr);
    const struct metric_stats *engine = &g->metrics[gr_known ? METRIC_GR_ACTIVE : METRIC_SM_ACTIVE];
    bool engine_known = gr_known || use_known(&u->sm);
    enum finding found = FIND_NOTHING;
    if (is_idle(u))
        return FIND_IDLE;
    if (is_link(u))
        return FIND_LINK;
    if ((found = at_limit(u, false)))
        return found;
    if (engine_known && comes_in_bursts(engine))
        return FIND_BURSTS;
    if (u->gr.share < MOSTLY)
        return is_uneven(engine) ? FIND_UNEVEN : u->gr.share < TRICKLE ? FIND_TRICKLE : FIND_GAPS;
    if ((found = at_limit(u, true)))
        return found;
    if (has_phases(u))
        return FIND_PHASES;
    if ((found = in_the_lead(u)))
        return found;
    if (u->gr.share < BUSY)
        return is_uneven(engine) ? FIND_UNEVEN : FIND_GAPS;
    return busy_without_limit(u);
}
