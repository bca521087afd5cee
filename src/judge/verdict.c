/* SPDX-License-Identifier: MIT */
#include "judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Thresholds, as shares of the time or of the peak.
 *
 * BOUND: from 60 % of its peak on, a unit is what Nsight Compute's "Speed Of Light" section calls
 * well used, and below it a kernel is called latency bound
 * (https://docs.nvidia.com/nsight-compute/ProfilingGuide/, "GPU Speed Of Light Throughput").
 * CLOSE: two units within 10 points of each other limit together (same section).
 * BUSY: below 80 % engine time, waiting for work costs more than any unit can give back.
 * NOTHING: an idle card. nsys shows any trace of activity as 1 %, so one step is allowed for. */
static const double BOUND = 0.60, CLOSE = 0.10, BUSY = 0.80, NOTHING = 0.02;

/* Fewer samples than this are an anecdote. */
enum { SAMPLES_MIN = 5 };

static const struct {
    const char *name, *text;
} kinds[] = {
#define X(name, json, text) {json, text},
    VERDICTS(X)
#undef X
};

const char *verdict_name(enum verdict_kind kind)
{
    return (unsigned)kind < VERDICT_COUNT ? kinds[kind].name : "?";
}

const char *verdict_text(enum verdict_kind kind)
{
    return (unsigned)kind < VERDICT_COUNT ? kinds[kind].text : "?";
}

__attribute__((format(printf, 2, 3))) static void add(struct verdict_lines *l, const char *fmt, ...)
{
    if (l->n == VERDICT_LINES)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->line[l->n++], VERDICT_LINE_SIZE, fmt, ap);
    va_end(ap);
}

/* A unit of the GPU that can be the limit; share is NaN when there is no sound number. */
struct unit_use {
    double share, peak; /* mean and highest sample */
    const char *label;
};

static double mean_of(const struct gpu_snapshot *g, enum metric m)
{
    return value_is_sound(&g->metrics[m].value) ? g->metrics[m].value.v : NAN;
}

static struct unit_use use_of(const struct gpu_snapshot *g, enum metric m)
{
    double mean = mean_of(g, m);
    return (struct unit_use){mean, isnan(mean) ? NAN : g->metrics[m].max, metric_info(m)->label};
}

static struct unit_use busiest(const struct gpu_snapshot *g, const enum metric *list, size_t n)
{
    struct unit_use best = {NAN, NAN, ""};
    for (size_t i = 0; i < n; i++) {
        struct unit_use u = use_of(g, list[i]);
        if (!isnan(u.share) && (isnan(best.share) || u.share > best.share))
            best = u;
    }
    return best;
}

static struct unit_use compute_use(const struct gpu_snapshot *g)
{
    static const enum metric list[] = {METRIC_TENSOR_ACTIVE, METRIC_SM_THROUGHPUT,
                                       METRIC_SM_ISSUE,      METRIC_FMA_ACTIVE,
                                       METRIC_ALU_ACTIVE,    METRIC_FP64_ACTIVE};
    return busiest(g, list, sizeof list / sizeof list[0]);
}

static struct unit_use link_use(const struct gpu_snapshot *g)
{
    static const enum metric list[] = {METRIC_PCIE_RX_THROUGHPUT, METRIC_PCIE_TX_THROUGHPUT,
                                       METRIC_NVLINK_RX_THROUGHPUT, METRIC_NVLINK_TX_THROUGHPUT};
    return busiest(g, list, sizeof list / sizeof list[0]);
}

/* DRAM use: NVIDIA's own total where there is one, else reads plus writes (both are shares of the
 * same peak; on an H200 their sum was the total within a point). */
static struct unit_use memory_use(const struct gpu_snapshot *g)
{
    struct unit_use total = use_of(g, METRIC_DRAM_THROUGHPUT);
    if (!isnan(total.share))
        return total;
    struct unit_use r = use_of(g, METRIC_DRAM_READ), w = use_of(g, METRIC_DRAM_WRITE);
    return (struct unit_use){r.share + w.share, r.peak + w.peak, "DRAM read + write"};
}

static void add_share(struct verdict_lines *l, const char *label, double share, const char *what)
{
    if (!isnan(share))
        add(l, "%s %.0f %%: %s", label, 100 * share, what);
}

static void judge_idle(const struct gpu_snapshot *g, struct verdict *v)
{
    v->kind = VERDICT_IDLE;
    double step = g->metrics[METRIC_GR_ACTIVE].resolution;
    if (step > 0)
        add(&v->evidence, "%s shows any trace of activity as %.0f %%", source_name(g->backend),
            100 * step);
    add(&v->limits, "Work shorter than one sample may be hidden in the mean.");
    add(&v->advice, "Send work: nothing on the card limits it now.");
}

/* Engine often without work: in long breaks (starved) or between all kernels (launch bound). */
static void judge_waiting(const struct gpu_snapshot *g, struct verdict *v)
{
    const struct metric_stats *gr = &g->metrics[METRIC_GR_ACTIVE];
    if (gr->min <= NOTHING && gr->max >= BUSY) {
        v->kind = VERDICT_STARVED;
        add(&v->evidence, "samples run from %.0f %% to %.0f %%: work came in bursts", 100 * gr->min,
            100 * gr->max);
        add(&v->limits, "It does not show who is late: clients, tokenizer, scheduler or disk.");
        add(&v->advice, "Look at the server's queue: if nothing waits, the clients are the limit.");
        add(&v->advice, "Raise concurrency, or use fewer GPUs for this load.");
        return;
    }
    if (gr->value.v < 0.5 && gr->max < BUSY) {
        v->kind = VERDICT_STARVED;
        add(&v->limits, "Short breaks between many small kernels look the same at this rate.");
        add(&v->advice, "Raise concurrency or batch size; check that the host keeps up.");
        return;
    }
    v->kind = VERDICT_LAUNCH_BOUND;
    add(&v->limits, "Many short pauses of the clients look the same at this sampling rate.");
    add(&v->advice, "Use CUDA graphs or fuse kernels, so that the host launches less.");
    add(&v->advice, "Check the CPU core that drives this GPU.");
}

static void judge_memory(const struct gpu_snapshot *g, struct verdict *v)
{
    v->kind = VERDICT_MEMORY_BOUND;
    add(&v->limits, "It does not show which traffic is needed: weights, KV cache or spills.");
    if (!isnan(mean_of(g, METRIC_GR_ACTIVE)))
        add(&v->limits, "A high GPU-Util here says only that a kernel was there, not that the "
                        "card was full.");
    add(&v->advice, "Raise the batch size: weights are read once a step, whatever the batch.");
    add(&v->advice, "Use smaller weights or KV cache (FP8, INT4), or speculative decoding.");
}

static void judge_compute(struct verdict *v)
{
    v->kind = VERDICT_COMPUTE_BOUND;
    add(&v->limits, "It does not show whether the arithmetic is useful (padding, recomputation).");
    add(&v->advice, "Use a smaller number format (FP8, FP4) if tensor pipes are the limit.");
    add(&v->advice, "A larger batch will not help; a faster or a second GPU will.");
}

static void judge_mixed(struct verdict *v, const char *why)
{
    v->kind = VERDICT_MIXED;
    add(&v->evidence, "%s", why);
    add(&v->limits, "A mean over phases (prefill and decode, say) cannot tell them apart.");
    add(&v->advice, "Look at the samples over time, or measure each phase alone.");
}

static void judge_links(struct verdict *v)
{
    v->kind = VERDICT_COMM_BOUND;
    add(&v->limits, "It does not show whether transfers could overlap with computing.");
    add(&v->advice, "Keep data on the GPU, overlap copies, or change the parallel layout.");
}

/* The engine is busy, but no unit is near its limit. */
static void judge_latency(double sm, struct verdict *v)
{
    if (sm < 0.5) {
        v->kind = VERDICT_LAUNCH_BOUND;
        add(&v->limits, "Large kernels with few blocks look the same as many small kernels.");
        add(&v->advice, "Give kernels more blocks (batch size, split-K), or use CUDA graphs.");
        return;
    }
    v->kind = VERDICT_LATENCY_BOUND;
    add(&v->limits, "It does not show what the warps wait for: that takes a kernel profiler.");
    add(&v->advice, "Raise occupancy or the work in flight per warp; profile the longest kernel.");
}

static void judge_busy(const struct gpu_snapshot *g, double sm, struct unit_use memory,
                       struct unit_use compute, struct verdict *v)
{
    bool memory_high = memory.share >= BOUND, compute_high = compute.share >= BOUND;
    if (memory_high && compute_high && fabs(memory.share - compute.share) < CLOSE)
        judge_mixed(v, "memory and arithmetic are equally close to their limits");
    else if (memory_high && !(compute.share > memory.share))
        judge_memory(g, v);
    else if (compute_high)
        judge_compute(v);
    else if (memory.peak >= BOUND && compute.peak >= BOUND)
        judge_mixed(v, "memory and arithmetic each reach their limit in some samples");
    else
        judge_latency(sm, v);
}

static bool enough(const struct gpu_snapshot *g, double gr, double sm, struct unit_use memory,
                   struct unit_use compute, struct verdict *v)
{
    if (g->samples < SAMPLES_MIN)
        add(&v->evidence, "only %llu samples; %d are needed", (unsigned long long)g->samples,
            SAMPLES_MIN);
    if (isnan(gr))
        add(&v->evidence, "GR active is not known");
    if (isnan(sm))
        add(&v->evidence, "SM active is not known");
    if (isnan(memory.share))
        add(&v->evidence, "DRAM use is not known");
    if (isnan(compute.share))
        add(&v->evidence, "the use of the arithmetic pipes is not known");
    return v->evidence.n == 0;
}

void verdict_of(const struct gpu_snapshot *g, struct verdict *out)
{
    struct verdict v = {.kind = VERDICT_UNKNOWN};
    double gr = mean_of(g, METRIC_GR_ACTIVE), sm = mean_of(g, METRIC_SM_ACTIVE);
    struct unit_use memory = memory_use(g), compute = compute_use(g), links = link_use(g);
    if (enough(g, gr, sm, memory, compute, &v)) {
        add_share(&v.evidence, "GR active", gr, "share of time in which the engine had work");
        add_share(&v.evidence, "SM active", sm, "share of SM time with at least one warp");
        add_share(&v.evidence, memory.label, memory.share, "of the memory's peak bandwidth");
        add_share(&v.evidence, compute.label, compute.share, "the busiest arithmetic unit");
        bool near_limit = memory.share >= BOUND || compute.share >= BOUND;
        /* copy engines move data without the graphics and compute engine: look at the links, too */
        if (gr <= NOTHING && sm <= NOTHING && memory.share <= 2 * NOTHING &&
            !(links.share > 2 * NOTHING))
            judge_idle(g, &v);
        else if (links.share >= BOUND && !near_limit)
            judge_links(&v);
        else if (gr < BUSY && !near_limit)
            judge_waiting(g, &v);
        else
            judge_busy(g, sm, memory, compute, &v);
        if (links.share >= BOUND)
            add_share(&v.evidence, links.label, links.share, "of the link's peak");
    }
    if (!isnan(g->coverage) && g->coverage < 0.9)
        add(&v.limits, "Only %.0f %% of the time was measured.", 100 * g->coverage);
    *out = v;
}
