/* SPDX-License-Identifier: MIT */
/* A finding in words: the numbers that led there, what they do not prove, what to try. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "judge/finding.h"
#include "judge/thresholds.h"

enum { TEXTS = 2 };

static const struct {
    enum verdict_kind kind;
    const char *limits[TEXTS], *advice[TEXTS];
} words[FIND_COUNT] = {
    [FIND_NOTHING] = {VERDICT_UNKNOWN, {NULL}, {NULL}},
    [FIND_IDLE] = {VERDICT_IDLE,
                   {"Work shorter than one sample may be hidden in the mean."},
                   {"Send work: nothing on the card limits it now."}},
    [FIND_LINK] = {VERDICT_COMM_BOUND,
                   {"It does not show whether transfers could overlap with computing.",
                    "Waiting for other GPUs in collectives looks the same."},
                   {"Keep data on the GPU, overlap copies, or change the parallel layout."}},
    [FIND_MEMORY] = {VERDICT_MEMORY_BOUND,
                     {"It does not show which traffic is needed: weights, KV cache or spills."},
                     {"Raise the batch size: weights are read once a step, whatever the batch.",
                      "Use smaller weights or KV cache (FP8, INT4), or speculative decoding."}},
    [FIND_COMPUTE] =
        {VERDICT_COMPUTE_BOUND,
         {"It does not show whether the arithmetic is useful (padding, recomputation)."},
         {"Use a smaller number format (FP8, FP4) if tensor pipes are the limit.",
          "A larger batch will not help; a faster or a second GPU will."}},
    [FIND_ISSUE] =
        {VERDICT_COMPUTE_BOUND,
         {"It does not show which instructions: arithmetic, addresses or waiting loops."},
         {"Issue fewer instructions: tensor cores, vector loads, less index arithmetic."}},
    [FIND_BOTH] = {VERDICT_MIXED,
                   {"A mean over phases (prefill and decode, say) cannot tell them apart."},
                   {"Look at the samples over time, or measure each phase alone."}},
    [FIND_PHASES] = {VERDICT_MIXED,
                     {"It does not show how long each phase lasts, nor which costs more."},
                     {"Look at the samples over time, or measure each phase alone."}},
    [FIND_BURSTS] = {VERDICT_STARVED,
                     {"It does not show who is late: clients, tokenizer, scheduler or disk."},
                     {"Look at the server's queue: if nothing waits, the clients are the limit.",
                      "Raise concurrency, or use fewer GPUs for this load."}},
    [FIND_UNEVEN] = {VERDICT_STARVED,
                     {"It does not show who is late: clients, tokenizer, scheduler or disk."},
                     {"Look at the server's queue: if nothing waits, the clients are the limit.",
                      "Raise concurrency or batch size; check that the host keeps up."}},
    [FIND_TRICKLE] = {VERDICT_STARVED,
                      {"It does not show who is late: clients, tokenizer, scheduler or disk."},
                      {"Raise concurrency, or use fewer GPUs for this load."}},
    [FIND_GAPS] = {VERDICT_LAUNCH_BOUND,
                   {"Many short pauses of the clients look the same at this sampling rate."},
                   {"Use CUDA graphs or fuse kernels, so that the host launches less.",
                    "Check the CPU core that drives this GPU; raise concurrency."}},
    [FIND_PARALLELISM] =
        {VERDICT_LATENCY_BOUND,
         {"Kernels with few blocks, many small kernels and collectives that wait look the same."},
         {"Give kernels more blocks (batch size, split-K), or let them overlap (streams).",
          "With several GPUs: look whether this one waits for the others."}},
    [FIND_LATENCY] =
        {VERDICT_LATENCY_BOUND,
         {"It does not show what the warps wait for: that takes a kernel profiler."},
         {"Raise occupancy or the work in flight per warp; profile the longest kernel."}},
};

void verdict_add(struct verdict_lines *l, const char *fmt, ...)
{
    char text[2 * VERDICT_LINE_SIZE];
    if (l->n == VERDICT_LINES)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    /* a name that was cut inside a character would be no UTF-8 any more */
    str_clean(l->line[l->n++], VERDICT_LINE_SIZE, text, strlen(text));
}

/* A little is not nothing: 0.2 % must not read 0 %. */
static const char *share_text(char dst[16], double share)
{
    if (share > 0 && share < 0.005)
        return "below 1 %";
    snprintf(dst, 16, "%.0f %%", 100 * share);
    return dst;
}

static void add_share(struct verdict_lines *l, const struct use *u, bool with_active,
                      const char *what)
{
    char text[16];
    if (!use_known(u))
        return;
    const char *share = share_text(text, u->share);
    if (with_active && u->active - u->share >= 0.05)
        verdict_add(l, "%s %s: %s; %.0f %% while there was work", u->label, share, what,
                    100 * u->active);
    else
        verdict_add(l, "%s %s: %s", u->label, share, what);
}

static void add_shares(struct verdict_lines *l, enum finding finding, const struct uses *u)
{
    /* what copies do to the memory is not the engine's doing */
    bool active = finding != FIND_LINK && finding != FIND_IDLE;
    add_share(l, &u->gr, false, "share of time in which the engine had work");
    add_share(l, &u->sm, false, "share of SM time with at least one warp");
    add_share(l, &u->memory, active, "of the memory's peak bandwidth");
    add_share(l, &u->tensor, active, "of the tensor pipe's cycles");
    if (u->compute.label != u->tensor.label)
        add_share(l, &u->compute, active, "the busiest arithmetic pipe");
    add_share(l, &u->issue, active, "share of the peak instruction rate");
    for (size_t i = 0; i < u->n_links; i++)
        if (u->links[i].share >= LINK_SHOWN)
            add_share(l, &u->links[i], false, "share of what the link can carry");
}

/* The unit that comes nearest to its limit, and how near. */
static void add_nearest(struct verdict_lines *l, const struct uses *u)
{
    const struct use *candidates[] = {&u->memory, &u->compute, &u->issue, &u->link};
    const struct use *best = candidates[0];
    for (size_t i = 1; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i]->active > best->active)
            best = candidates[i];
    verdict_add(l, "nearest to its limit: %s, %.0f %% (a limit shows from %.0f %% on)", best->label,
                100 * best->active, 100 * AT_LIMIT);
}

/* A unit at its limit: how it stands out, and the gaps beside it, which are the next to look at. */
static void explain_unit(const struct uses *u, const struct use *unit, struct verdict *v)
{
    if (unit && unit->active < AT_LIMIT)
        verdict_add(&v->evidence, "%s is far ahead of every other unit", unit->label);
    if (u->gr.share < BUSY) {
        verdict_add(&v->evidence, "no work was there %.0f %% of the time", 100 * (1 - u->gr.share));
        verdict_add(&v->advice, "Close the gaps, too: CUDA graphs, or more requests at once.");
    }
}

static void explain_limit(enum finding finding, const struct uses *u, struct verdict *v)
{
    const struct use *unit = finding == FIND_MEMORY    ? &u->memory
                             : finding == FIND_COMPUTE ? &u->compute
                             : finding == FIND_ISSUE   ? &u->issue
                                                       : NULL;
    if (finding == FIND_ISSUE)
        verdict_add(&v->evidence, "the rate of instructions is the limit, not an arithmetic pipe");
    if (finding == FIND_BOTH)
        verdict_add(&v->evidence, "memory and arithmetic are equally close to their limits");
    if (finding == FIND_PHASES)
        verdict_add(&v->evidence,
                    "each reaches its limit in some samples: in the busiest twentieth %s at least "
                    "%.0f %%, %s at least %.0f %%",
                    u->memory.label, 100 * u->memory.p95, u->compute.label, 100 * u->compute.p95);
    if (finding == FIND_MEMORY && use_known(&u->gr))
        verdict_add(&v->limits, "A high GPU-Util here says only that a kernel was there, not that "
                                "the card was full.");
    explain_unit(u, unit, v);
}

/* How work came. */
static void explain_waiting(enum finding finding, const struct gpu_snapshot *g,
                            const struct uses *u, struct verdict *v)
{
    bool by_gr = use_known(&u->gr);
    const struct metric_stats *s = &g->metrics[by_gr ? METRIC_GR_ACTIVE : METRIC_SM_ACTIVE];
    if (finding == FIND_BURSTS)
        verdict_add(&v->evidence,
                    "%.0f %% of the samples show no work, while %s reaches %.0f %% (p95)",
                    100 * s->idle_share, by_gr ? u->gr.label : u->sm.label, 100 * s->p95);
    else if (s->samples >= QUANTILE_SAMPLES_MIN)
        verdict_add(&v->evidence, "%s runs from %.0f %% (p05) to %.0f %% (p95): %s",
                    by_gr ? u->gr.label : u->sm.label, 100 * s->p05, 100 * s->p95,
                    finding == FIND_UNEVEN    ? "work came unevenly"
                    : finding == FIND_TRICKLE ? "hardly any work, evenly spread"
                                              : "short pauses everywhere, not long ones");
    else
        verdict_add(&v->limits, "%llu samples are too few to tell bursts from short pauses.",
                    (unsigned long long)s->samples);
}

static void explain_more(enum finding finding, const struct gpu_snapshot *g, const struct uses *u,
                         struct verdict *v)
{
    if (finding == FIND_IDLE && u->gr.step > 0)
        verdict_add(&v->evidence, "%s shows any trace of activity as %.0f %%",
                    source_name(u->source), 100 * u->gr.step);
    if (finding >= FIND_MEMORY && finding <= FIND_PHASES)
        explain_limit(finding, u, v);
    if (finding >= FIND_BURSTS && finding <= FIND_GAPS)
        explain_waiting(finding, g, u, v);
    if (finding == FIND_PARALLELISM)
        verdict_add(&v->evidence,
                    "too little parallelism: the engine had work, but %.0f %% of the SM time was "
                    "without a warp",
                    100 * (1 - u->sm.share));
    if (finding == FIND_PARALLELISM || finding == FIND_LATENCY)
        add_nearest(&v->evidence, u);
}

/* What a rule would have asked for and could not get. */
static void add_missing(struct verdict_lines *l, const struct uses *u)
{
    const struct {
        bool known;
        const char *name;
    } inputs[] = {
        {use_known(&u->gr), "GR active"},
        {use_known(&u->sm), "SM active"},
        {use_known(&u->memory), "DRAM use"},
        {u->pipes_known, "the use of the tensor pipe"},
        {use_known(&u->issue) || u->compute.label != u->tensor.label, "SM issue"},
    };
    char text[VERDICT_LINE_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        if (!inputs[i].known)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                                     inputs[i].name);
    if (used)
        verdict_add(l, "No sound number: %s.", text);
}

void finding_explain(enum finding finding, const struct gpu_snapshot *g, const struct uses *u,
                     struct verdict *v)
{
    v->kind = words[finding].kind;
    add_shares(&v->evidence, finding, u);
    for (size_t i = 0; i < TEXTS && words[finding].limits[i]; i++)
        verdict_add(&v->limits, "%s", words[finding].limits[i]);
    for (size_t i = 0; i < TEXTS && words[finding].advice[i]; i++)
        verdict_add(&v->advice, "%s", words[finding].advice[i]);
    explain_more(finding, g, u, v);
    if (v->evidence.n == 0)
        verdict_add(&v->evidence, "no share that a verdict could rest on has a sound number");
    if (u->link.share >= LINK_LIMIT && finding != FIND_LINK)
        verdict_add(&v->limits, "Waiting for other GPUs in collectives looks the same.");
    if (u->phantom)
        verdict_add(&v->limits, "NVLink reads 100 %%, as inactive links do; it was left out.");
    add_missing(&v->limits, u);
}
