/* SPDX-License-Identifier: MIT */
/* The verdict on patterns of real work. The shares are rounded from measurements where the name of
 * a case is among them (decode and matmul on an H200), else what such a load is known to show. */
#include <math.h>
#include <string.h>

#include "support.h"

#include "nsys_file.h"

#include "judge/use.h"
#include "judge/verdict.h"

/* One metric of a case: mean and quantiles over the window, and how many samples are idle. */
struct row {
    bool used;
    enum metric metric;
    double mean, min, p05, p50, p95, max, idle_share;
};

/* Spread over the window; and the same in nearly every sample. */
#define ROW(m, ...)                                                                                \
    {                                                                                              \
        true, METRIC_##m, __VA_ARGS__                                                              \
    }
#define FLAT(m, v)   ROW(m, v, (v)*0.98, (v)*0.98, v, (v)*1.02, (v)*1.02, (v) <= 0.02)
#define DECODE_UNITS FLAT(SM_ACTIVE, 0.863), FLAT(SM_ISSUE, 0.10), FLAT(TENSOR_ACTIVE, 0.03)

enum { ROWS = 11 };

struct pattern {
    const char *name;
    struct row rows[ROWS];
    enum verdict_kind kind;
    const char *evidence; /* the number that decides, as it must be said */
    const char *limit;    /* what must be among the limits; NULL = anything */
};

static double step_of(enum metric m)
{
    return m == METRIC_NVLINK_RX_THROUGHPUT || m == METRIC_NVLINK_TX_THROUGHPUT ? 0.04 : 0.01;
}

static struct gpu_snapshot gpu_of(const struct pattern *p, uint64_t samples)
{
    struct gpu_snapshot g = {.backend = SOURCE_NSYS, .samples = samples, .coverage = 1};
    for (size_t i = 0; i < ROWS && p->rows[i].used; i++) {
        const struct row *r = &p->rows[i];
        struct metric_stats *s = &g.metrics[r->metric];
        value_set(&s->value, SOURCE_NSYS, 1, r->mean);
        s->min = r->min;
        s->p05 = r->p05;
        s->p50 = r->p50;
        s->p95 = r->p95;
        s->max = r->max;
        s->idle_share = r->idle_share;
        s->resolution = step_of(r->metric);
        s->samples = samples;
    }
    return g;
}

static bool has_line(const struct verdict_lines *l, const char *part)
{
    for (size_t i = 0; i < l->n; i++)
        if (strstr(l->line[i], part))
            return true;
    return false;
}

static void print_lines(const char *what, const struct verdict_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        print_error("  %s: %s\n", what, l->line[i]);
}

static struct verdict expect(const struct gpu_snapshot *g, const struct pattern *p)
{
    struct verdict v;
    verdict_of(g, &v);
    bool right = v.kind == p->kind && v.evidence.n > 0 && has_line(&v.evidence, p->evidence) &&
                 (!p->limit || has_line(&v.limits, p->limit)) &&
                 (p->kind == VERDICT_UNKNOWN || (v.limits.n > 0 && v.advice.n > 0));
    if (!right) {
        print_lines("evidence", &v.evidence);
        print_lines("limit", &v.limits);
        fail_msg("%s: %s; expected %s, evidence \"%s\", limit \"%s\"", p->name,
                 verdict_name(v.kind), verdict_name(p->kind), p->evidence,
                 p->limit ? p->limit : "");
    }
    return v;
}

static void expect_all(const struct pattern *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gpu_snapshot g = gpu_of(&list[i], 500);
        expect(&g, &list[i]);
    }
}

#define EXPECT_ALL(list) expect_all(list, sizeof(list) / sizeof(list)[0])

static void shipped_recordings_get_their_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum verdict_kind kind;
        const char *evidence;
    } cases[] = {{DECODE, VERDICT_MEMORY_BOUND, "DRAM read + write 83 %"},
                 {MATMUL, VERDICT_COMPUTE_BOUND, "Tensor active 94 %"},
                 {IDLE, VERDICT_IDLE, "GR active 1 %"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct snapshot *s = snapshot_of(cases[i].path, false);
        struct pattern p = {
            .name = cases[i].path, .kind = cases[i].kind, .evidence = cases[i].evidence};
        expect(&s->gpus[0], &p);
        snapshot_destroy(s);
    }
}

static void language_models_get_their_verdict(void **state)
{
    (void)state;
    static const struct pattern cases[] = {
        {"decode, batch 1, eager: small pauses between all kernels",
         {ROW(GR_ACTIVE, 0.40, 0.31, 0.36, 0.40, 0.44, 0.52, 0), FLAT(SM_ACTIVE, 0.33),
          FLAT(SM_ISSUE, 0.05), FLAT(TENSOR_ACTIVE, 0.015), FLAT(DRAM_READ, 0.31),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_LAUNCH_BOUND,
         "GR active runs from 36 % (p05) to 44 % (p95)",
         NULL},
        {"decode, batch 1, CUDA graph",
         {FLAT(GR_ACTIVE, 0.994), DECODE_UNITS, FLAT(DRAM_READ, 0.824), FLAT(DRAM_WRITE, 0.01)},
         VERDICT_MEMORY_BOUND,
         "DRAM read + write 83 %",
         "GPU-Util"},
        {"decode, batch 64",
         {ROW(GR_ACTIVE, 0.97, 0.90, 0.94, 0.97, 1.0, 1.0, 0), FLAT(SM_ACTIVE, 0.90),
          FLAT(SM_ISSUE, 0.22), FLAT(TENSOR_ACTIVE, 0.18), FLAT(DRAM_READ, 0.58),
          FLAT(DRAM_WRITE, 0.03)},
         VERDICT_MEMORY_BOUND,
         "DRAM read + write 61 %",
         NULL},
        {"decode of a mixture of experts, DRAM just below 60 %",
         {FLAT(GR_ACTIVE, 0.97), FLAT(SM_ACTIVE, 0.78), FLAT(SM_ISSUE, 0.14),
          FLAT(TENSOR_ACTIVE, 0.07), FLAT(DRAM_READ, 0.56), FLAT(DRAM_WRITE, 0.02)},
         VERDICT_MEMORY_BOUND,
         "DRAM read + write 58 %",
         NULL},
        {"prefill",
         {FLAT(GR_ACTIVE, 0.98), FLAT(SM_ACTIVE, 0.93), FLAT(SM_ISSUE, 0.17),
          ROW(TENSOR_ACTIVE, 0.72, 0.40, 0.55, 0.74, 0.86, 0.90, 0), FLAT(DRAM_READ, 0.20),
          FLAT(DRAM_WRITE, 0.05)},
         VERDICT_COMPUTE_BOUND,
         "Tensor active 72 %",
         NULL},
        {"prefill and decode in turn",
         {FLAT(GR_ACTIVE, 0.98), FLAT(SM_ACTIVE, 0.90), FLAT(SM_ISSUE, 0.15),
          ROW(TENSOR_ACTIVE, 0.40, 0.03, 0.03, 0.20, 0.91, 0.94, 0),
          ROW(DRAM_THROUGHPUT, 0.42, 0.12, 0.15, 0.40, 0.84, 0.85, 0)},
         VERDICT_MIXED,
         "DRAM at least 84 %, Tensor active at least 91 %",
         NULL},
    };
    EXPECT_ALL(cases);
}

static void waiting_for_work_is_told_from_waiting_between_kernels(void **state)
{
    (void)state;
    static const struct pattern cases[] = {
        {"bursts on a floor of small requests",
         {ROW(GR_ACTIVE, 0.42, 0.10, 0.14, 0.33, 0.97, 1.0, 0), FLAT(SM_ACTIVE, 0.36),
          FLAT(SM_ISSUE, 0.05), FLAT(TENSOR_ACTIVE, 0.02), FLAT(DRAM_READ, 0.33),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_STARVED,
         "GR active runs from 14 % (p05) to 97 % (p95)",
         NULL},
        {"bursts with pauses",
         {ROW(GR_ACTIVE, 0.62, 0, 0, 0.95, 1.0, 1.0, 0.28), FLAT(SM_ACTIVE, 0.50),
          FLAT(SM_ISSUE, 0.06), FLAT(TENSOR_ACTIVE, 0.05), FLAT(DRAM_READ, 0.45),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_STARVED,
         "28 % of the samples show no work, while GR active reaches 100 % (p95)",
         NULL},
        {"a request now and then, each shorter than a sample",
         {ROW(GR_ACTIVE, 0.05, 0.02, 0.03, 0.05, 0.07, 0.08, 0), FLAT(SM_ACTIVE, 0.03),
          FLAT(SM_ISSUE, 0.01), FLAT(TENSOR_ACTIVE, 0.01), FLAT(DRAM_READ, 0.03),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_STARVED,
         "GR active 5 %",
         NULL},
        {"one sample without and one full of work among 500",
         {ROW(GR_ACTIVE, 0.38, 0, 0.34, 0.38, 0.42, 1.0, 0.002), FLAT(SM_ACTIVE, 0.30),
          FLAT(SM_ISSUE, 0.05), FLAT(TENSOR_ACTIVE, 0.02), FLAT(DRAM_READ, 0.28),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_LAUNCH_BOUND,
         "GR active runs from 34 % (p05) to 42 % (p95)",
         NULL},
        {"no work for a quarter of the time, and a memory at its limit in the rest",
         {ROW(GR_ACTIVE, 0.72, 0.62, 0.66, 0.72, 0.78, 0.82, 0), FLAT(SM_ACTIVE, 0.62),
          FLAT(SM_ISSUE, 0.07), FLAT(TENSOR_ACTIVE, 0.02), FLAT(DRAM_READ, 0.54),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_MEMORY_BOUND,
         "no work was there 28 % of the time",
         NULL},
        {"pauses, and a memory at its limit over the whole window",
         {ROW(GR_ACTIVE, 0.76, 0, 0, 1.0, 1.0, 1.0, 0.22), FLAT(SM_ACTIVE, 0.66),
          FLAT(SM_ISSUE, 0.08), FLAT(TENSOR_ACTIVE, 0.02), FLAT(DRAM_READ, 0.63),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_MEMORY_BOUND,
         "no work was there 24 % of the time",
         NULL},
        {"gaps, and a memory at its limit beside many instructions",
         {FLAT(GR_ACTIVE, 0.72), FLAT(SM_ACTIVE, 0.62), FLAT(SM_ISSUE, 0.34),
          FLAT(TENSOR_ACTIVE, 0.02), FLAT(DRAM_READ, 0.45), FLAT(DRAM_WRITE, 0.01)},
         VERDICT_MEMORY_BOUND,
         "DRAM read + write 46 %: of the memory's peak bandwidth; 64 % while there was work",
         NULL},
        {"the same with no unit near its limit",
         {ROW(GR_ACTIVE, 0.70, 0.60, 0.64, 0.70, 0.76, 0.80, 0), FLAT(SM_ACTIVE, 0.40),
          FLAT(SM_ISSUE, 0.05), FLAT(TENSOR_ACTIVE, 0.10), FLAT(DRAM_READ, 0.19),
          FLAT(DRAM_WRITE, 0.01)},
         VERDICT_LAUNCH_BOUND,
         "GR active 70 %",
         NULL},
    };
    EXPECT_ALL(cases);
}

static void gaps_beside_a_limit_are_said(void **state)
{
    (void)state;
    static const struct pattern p = {
        "gaps",
        {FLAT(GR_ACTIVE, 0.72), DECODE_UNITS, FLAT(DRAM_THROUGHPUT, 0.55)},
        VERDICT_MEMORY_BOUND,
        "DRAM 55 %: of the memory's peak bandwidth; 76 % while there was work",
        NULL};
    struct gpu_snapshot g = gpu_of(&p, 500);
    struct verdict v = expect(&g, &p);
    assert_true(has_line(&v.advice, "gaps"));
}

/* Copy engines move data without the graphics and compute engine. */
static void what_copies_do_is_not_the_engines_doing(void **state)
{
    (void)state;
    static const struct pattern p = {"copies inside the GPU beside kernels",
                                     {FLAT(GR_ACTIVE, 0.52), FLAT(SM_ACTIVE, 0.40),
                                      FLAT(SM_ISSUE, 0.05), FLAT(TENSOR_ACTIVE, 0.02),
                                      FLAT(DRAM_THROUGHPUT, 0.57)},
                                     VERDICT_MEMORY_BOUND,
                                     "DRAM 57 %",
                                     NULL};
    struct gpu_snapshot g = gpu_of(&p, 500);
    struct verdict v = expect(&g, &p);
    assert_false(has_line(&v.evidence, "DRAM 57 %: of the memory's peak bandwidth;"));
}

#define BUSY(dram, tensor)                                                                         \
    FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.90), FLAT(TENSOR_ACTIVE, tensor),                     \
        FLAT(DRAM_THROUGHPUT, dram)

static void a_busy_gpu_has_a_limit_or_none(void **state)
{
    (void)state;
    static const struct pattern cases[] = {
        {"both", {BUSY(0.75, 0.70), FLAT(SM_ISSUE, 0.2)}, VERDICT_MIXED, "equally close", NULL},
        {"memory",
         {BUSY(0.85, 0.62), FLAT(SM_ISSUE, 0.2)},
         VERDICT_MEMORY_BOUND,
         "DRAM 85 %",
         NULL},
        {"no unit near its limit",
         {BUSY(0.40, 0.30), FLAT(SM_ISSUE, 0.25)},
         VERDICT_LATENCY_BOUND,
         "nearest to its limit: DRAM, 40 %",
         NULL},
        {"half of the bandwidth, but instructions are close behind",
         {BUSY(0.50, 0.05), FLAT(SM_ISSUE, 0.40)},
         VERDICT_LATENCY_BOUND,
         "nearest to its limit: DRAM, 51 %",
         NULL},
        {"half of the bandwidth, far ahead of the rest",
         {BUSY(0.50, 0.05), FLAT(SM_ISSUE, 0.20)},
         VERDICT_MEMORY_BOUND,
         "DRAM is far ahead",
         NULL},
        {"instructions",
         {BUSY(0.20, 0.05), FLAT(SM_ISSUE, 0.70)},
         VERDICT_COMPUTE_BOUND,
         "SM issue 70 %: share of the peak instruction rate",
         "which instructions"},
        {"another pipe than tensor",
         {BUSY(0.20, 0.05), FLAT(SM_ISSUE, 0.50), FLAT(FP64_ACTIVE, 0.88)},
         VERDICT_COMPUTE_BOUND,
         "FP64 pipe 88 %",
         NULL},
        {"few blocks",
         {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.20), FLAT(SM_ISSUE, 0.04),
          FLAT(TENSOR_ACTIVE, 0.05), FLAT(DRAM_THROUGHPUT, 0.10)},
         VERDICT_LATENCY_BOUND,
         "80 % of the SM time was without a warp",
         "few blocks"},
        {"one sample of each unit at its limit",
         {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.90), FLAT(SM_ISSUE, 0.25),
          ROW(TENSOR_ACTIVE, 0.30, 0.28, 0.29, 0.30, 0.31, 0.95, 0),
          ROW(DRAM_THROUGHPUT, 0.40, 0.38, 0.39, 0.40, 0.41, 0.90, 0)},
         VERDICT_LATENCY_BOUND,
         "nearest to its limit: DRAM, 40 %",
         NULL},
        {"reads and writes peak in different samples",
         {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.90), FLAT(SM_ISSUE, 0.25),
          ROW(TENSOR_ACTIVE, 0.32, 0.03, 0.03, 0.20, 0.91, 0.94, 0),
          ROW(DRAM_READ, 0.20, 0.10, 0.12, 0.20, 0.45, 0.46, 0),
          ROW(DRAM_WRITE, 0.18, 0.10, 0.12, 0.18, 0.40, 0.42, 0)},
         VERDICT_LATENCY_BOUND,
         "nearest to its limit: DRAM read + write, 38 %",
         NULL},
    };
    EXPECT_ALL(cases);
}

#define NVLINK(rx, tx) FLAT(NVLINK_RX_THROUGHPUT, rx), FLAT(NVLINK_TX_THROUGHPUT, tx)

static void links_can_be_the_limit(void **state)
{
    (void)state;
    static const struct pattern cases[] = {
        {"tensor-parallel decode that waits for its peers",
         {FLAT(GR_ACTIVE, 0.96), FLAT(SM_ACTIVE, 0.62), FLAT(SM_ISSUE, 0.08),
          FLAT(TENSOR_ACTIVE, 0.05), FLAT(DRAM_READ, 0.20), FLAT(DRAM_WRITE, 0.01),
          NVLINK(0.25, 0.24)},
         VERDICT_COMM_BOUND,
         "NVLink RX of peak 25 %",
         "collectives"},
        {"tensor-parallel decode whose memory is busier",
         {FLAT(GR_ACTIVE, 0.96), FLAT(SM_ACTIVE, 0.80), FLAT(SM_ISSUE, 0.10),
          FLAT(TENSOR_ACTIVE, 0.06), FLAT(DRAM_READ, 0.49), FLAT(DRAM_WRITE, 0.01),
          NVLINK(0.25, 0.24)},
         VERDICT_MEMORY_BOUND,
         "NVLink RX of peak 25 %",
         "collectives"},
        {"tensor-parallel prefill",
         {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.85), FLAT(SM_ISSUE, 0.13),
          FLAT(TENSOR_ACTIVE, 0.41), FLAT(DRAM_READ, 0.13), FLAT(DRAM_WRITE, 0.04),
          NVLINK(0.44, 0.45)},
         VERDICT_COMM_BOUND,
         "NVLink TX of peak 45 %",
         "collectives"},
        {"copies only",
         {FLAT(GR_ACTIVE, 0.01), FLAT(SM_ACTIVE, 0), FLAT(SM_ISSUE, 0), FLAT(TENSOR_ACTIVE, 0),
          FLAT(DRAM_READ, 0.01), FLAT(DRAM_WRITE, 0.02), FLAT(PCIE_RX_THROUGHPUT, 0.90)},
         VERDICT_COMM_BOUND,
         "PCIe RX of peak 90 %",
         NULL},
        {"a few copies",
         {FLAT(GR_ACTIVE, 0.01), FLAT(SM_ACTIVE, 0), FLAT(SM_ISSUE, 0), FLAT(TENSOR_ACTIVE, 0),
          FLAT(DRAM_READ, 0.01), FLAT(DRAM_WRITE, 0.01), FLAT(PCIE_RX_THROUGHPUT, 0.07)},
         VERDICT_STARVED,
         "PCIe RX of peak 7 %",
         NULL},
        {"inactive NVLinks beside a busy memory",
         {FLAT(GR_ACTIVE, 0.99), DECODE_UNITS, FLAT(DRAM_THROUGHPUT, 0.83), NVLINK(1.0, 1.0)},
         VERDICT_MEMORY_BOUND,
         "DRAM 83 %",
         NULL},
    };
    EXPECT_ALL(cases);
}

static void an_idle_gpu_is_idle(void **state)
{
    (void)state;
    static const struct pattern cases[] = {
        {"every row lifted to 1 %",
         {FLAT(GR_ACTIVE, 0.01), FLAT(SM_ACTIVE, 0.01), FLAT(SM_ISSUE, 0.01),
          FLAT(TENSOR_ACTIVE, 0.01), FLAT(DRAM_READ, 0.01), FLAT(DRAM_WRITE, 0.01),
          FLAT(PCIE_RX_THROUGHPUT, 0.01), FLAT(PCIE_TX_THROUGHPUT, 0.01), NVLINK(0.04, 0.04)},
         VERDICT_IDLE,
         "GR active 1 %",
         NULL},
        {"inactive NVLinks that read 100 %",
         {FLAT(GR_ACTIVE, 0.01), FLAT(SM_ACTIVE, 0), FLAT(SM_ISSUE, 0), FLAT(TENSOR_ACTIVE, 0),
          FLAT(DRAM_READ, 0), FLAT(DRAM_WRITE, 0.01), NVLINK(1.0, 1.0)},
         VERDICT_IDLE,
         "GR active 1 %",
         "NVLink reads 100 %"},
        {"traces of memory traffic, each row rounded up",
         {FLAT(GR_ACTIVE, 0.01), FLAT(SM_ACTIVE, 0), FLAT(SM_ISSUE, 0), FLAT(TENSOR_ACTIVE, 0),
          FLAT(DRAM_READ, 0.02), FLAT(DRAM_WRITE, 0.02)},
         VERDICT_IDLE,
         "DRAM read + write 4 %",
         NULL},
        {"GR active alone", {FLAT(GR_ACTIVE, 0.01)}, VERDICT_IDLE, "GR active 1 %", "DRAM use"},
        {"a set without engine shares",
         {FLAT(SM_ISSUE, 0), FLAT(TENSOR_ACTIVE, 0), FLAT(DRAM_THROUGHPUT, 0.01)},
         VERDICT_IDLE,
         "DRAM 1 %",
         "GR active, SM active"},
    };
    EXPECT_ALL(cases);
}

/* gb20x-gfxt has neither GR nor SM active; a GB10 has no DRAM counter. */
static void only_what_a_rule_uses_is_needed(void **state)
{
    (void)state;
    static const struct pattern cases[] = {
        {"gfxt, decode",
         {FLAT(SM_ISSUE, 0.11), FLAT(SM_THROUGHPUT, 0.20), FLAT(TENSOR_ACTIVE, 0.03),
          FLAT(FMA_ACTIVE, 0.04), FLAT(DRAM_THROUGHPUT, 0.78)},
         VERDICT_MEMORY_BOUND,
         "DRAM 78 %",
         "No sound number: GR active, SM active"},
        {"gfxt, prefill",
         {FLAT(SM_ISSUE, 0.16), FLAT(TENSOR_ACTIVE, 0.75), FLAT(DRAM_THROUGHPUT, 0.20)},
         VERDICT_COMPUTE_BOUND,
         "Tensor active 75 %",
         "GR active, SM active"},
        {"gfxt, no unit at its limit: gaps or latency?",
         {FLAT(SM_ISSUE, 0.11), FLAT(TENSOR_ACTIVE, 0.10), FLAT(DRAM_THROUGHPUT, 0.30)},
         VERDICT_UNKNOWN,
         "DRAM 30 %",
         "GR active, SM active"},
        {"SM active without GR active, bursts",
         {ROW(SM_ACTIVE, 0.30, 0, 0, 0.05, 0.95, 1.0, 0.45), FLAT(SM_ISSUE, 0.05),
          FLAT(TENSOR_ACTIVE, 0.05), FLAT(DRAM_THROUGHPUT, 0.25)},
         VERDICT_STARVED,
         "45 % of the samples show no work, while SM active reaches 95 % (p95)",
         "GR active"},
        {"GB10, prefill",
         {FLAT(GR_ACTIVE, 0.97), FLAT(SM_ACTIVE, 0.90), FLAT(SM_ISSUE, 0.16),
          FLAT(TENSOR_ACTIVE, 0.75)},
         VERDICT_COMPUTE_BOUND,
         "Tensor active 75 %",
         "DRAM use"},
        {"GB10, decode: memory is not seen",
         {FLAT(GR_ACTIVE, 0.98), FLAT(SM_ACTIVE, 0.85), FLAT(SM_ISSUE, 0.08),
          FLAT(TENSOR_ACTIVE, 0.04)},
         VERDICT_UNKNOWN,
         "GR active 98 %",
         "DRAM use"},
        {"GB10, eager decode",
         {ROW(GR_ACTIVE, 0.42, 0.35, 0.38, 0.42, 0.46, 0.50, 0), FLAT(SM_ACTIVE, 0.35),
          FLAT(SM_ISSUE, 0.04), FLAT(TENSOR_ACTIVE, 0.02)},
         VERDICT_LAUNCH_BOUND,
         "GR active 42 %",
         "DRAM use"},
        {"memory at its limit, arithmetic not known",
         {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.86), FLAT(DRAM_THROUGHPUT, 0.83)},
         VERDICT_MEMORY_BOUND,
         "DRAM 83 %",
         "tensor pipe"},
        {"half of the bandwidth, arithmetic not known",
         {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.86), FLAT(SM_ISSUE, 0.15),
          FLAT(DRAM_THROUGHPUT, 0.50)},
         VERDICT_UNKNOWN,
         "DRAM 50 %",
         "tensor pipe"},
    };
    EXPECT_ALL(cases);
}

static void a_suspect_number_is_no_number(void **state)
{
    (void)state;
    static const struct pattern unknown = {.name = "suspect DRAM",
                                           .kind = VERDICT_UNKNOWN,
                                           .evidence = "GR active 99 %",
                                           .limit = "No sound number: DRAM use"};
    static const struct pattern p = {
        .rows = {FLAT(GR_ACTIVE, 0.994), DECODE_UNITS, FLAT(DRAM_THROUGHPUT, 0.83)}};
    struct gpu_snapshot g = gpu_of(&p, 500);
    value_set_state(&g.metrics[METRIC_DRAM_THROUGHPUT].value, SOURCE_NSYS, VALUE_SUSPECT, "check");
    expect(&g, &unknown);
    struct verdict v;
    g = (struct gpu_snapshot){.coverage = NAN};
    verdict_of(&g, &v);
    assert_int_equal(v.kind, VERDICT_UNKNOWN);
    assert_true(v.evidence.n > 0);
}

static void few_samples_prove_little(void **state)
{
    (void)state;
    static const struct pattern wide = {"bursts or pauses?",
                                        {ROW(GR_ACTIVE, 0.42, 0.14, 0.14, 0.38, 0.97, 0.97, 0),
                                         DECODE_UNITS, FLAT(DRAM_THROUGHPUT, 0.33)},
                                        VERDICT_LAUNCH_BOUND,
                                        "GR active 42 %",
                                        "10 samples are too few to tell bursts from short pauses"};
    struct gpu_snapshot g = gpu_of(&wide, 10);
    expect(&g, &wide);
    static const struct pattern phases = {
        "one sample of ten decides the 95th percentile",
        {FLAT(GR_ACTIVE, 0.99), FLAT(SM_ACTIVE, 0.90), FLAT(SM_ISSUE, 0.25),
         ROW(TENSOR_ACTIVE, 0.30, 0.20, 0.20, 0.28, 0.95, 0.95, 0),
         ROW(DRAM_THROUGHPUT, 0.40, 0.30, 0.30, 0.38, 0.90, 0.90, 0)},
        VERDICT_LATENCY_BOUND,
        "nearest to its limit: DRAM, 40 %",
        NULL};
    g = gpu_of(&phases, 10);
    expect(&g, &phases);
    static const struct pattern four = {
        .name = "four samples", .kind = VERDICT_UNKNOWN, .evidence = "only 4 samples"};
    g = gpu_of(&wide, 4);
    expect(&g, &four);
}

/* One warp on one SM of 132: 0.2 % is little, but not nothing. */
static void a_little_does_not_read_as_nothing(void **state)
{
    (void)state;
    static const struct pattern p = {"tail",
                                     {FLAT(GR_ACTIVE, 1), FLAT(SM_ACTIVE, 0.002),
                                      FLAT(SM_ISSUE, 0.0003), FLAT(TENSOR_ACTIVE, 0),
                                      FLAT(DRAM_THROUGHPUT, 0)},
                                     VERDICT_LATENCY_BOUND,
                                     "SM active below 1 %",
                                     NULL};
    struct gpu_snapshot g = gpu_of(&p, 500);
    expect(&g, &p);
}

static void low_coverage_is_said(void **state)
{
    (void)state;
    static const struct pattern p = {
        .rows = {FLAT(GR_ACTIVE, 0.994), DECODE_UNITS, FLAT(DRAM_THROUGHPUT, 0.83)}};
    struct gpu_snapshot g = gpu_of(&p, 500);
    g.coverage = 0.4;
    struct verdict v;
    verdict_of(&g, &v);
    assert_contains(v.limits.line[v.limits.n - 1], "40 %");
}

/* GPM's total beside PM sampling is of other seconds than its busy time: the counters' own parts
 * are taken. */
static void test_the_second_witness_does_not_judge(void **state)
{
    (void)state;
    static const struct pattern p = {"",
                                     {FLAT(GR_ACTIVE, 0.6), DECODE_UNITS, FLAT(DRAM_READ, 0.28),
                                      FLAT(DRAM_WRITE, 0.08), FLAT(DRAM_THROUGHPUT, 0.48)},
                                     VERDICT_UNKNOWN,
                                     "",
                                     NULL};
    struct gpu_snapshot g = gpu_of(&p, 500);
    struct uses u;
    g.backend = SOURCE_PM;
    for (int m = 0; m < METRIC_COUNT; m++)
        g.metrics[m].value.source = SOURCE_PM;
    uses_of(&g, &u);
    assert_near(u.memory.share, 0.48, 1e-12); /* its own total */
    g.metrics[METRIC_DRAM_THROUGHPUT].value.source = SOURCE_GPM;
    uses_of(&g, &u);
    assert_near(u.memory.share, 0.36, 1e-12);
    g.metrics[METRIC_DRAM_READ].value.state = VALUE_FAILED; /* better the witness than nobody */
    uses_of(&g, &u);
    assert_near(u.memory.share, 0.48, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_recordings_get_their_verdict),
        cmocka_unit_test(language_models_get_their_verdict),
        cmocka_unit_test(waiting_for_work_is_told_from_waiting_between_kernels),
        cmocka_unit_test(gaps_beside_a_limit_are_said),
        cmocka_unit_test(what_copies_do_is_not_the_engines_doing),
        cmocka_unit_test(a_busy_gpu_has_a_limit_or_none),
        cmocka_unit_test(links_can_be_the_limit),
        cmocka_unit_test(an_idle_gpu_is_idle),
        cmocka_unit_test(only_what_a_rule_uses_is_needed),
        cmocka_unit_test(a_suspect_number_is_no_number),
        cmocka_unit_test(few_samples_prove_little),
        cmocka_unit_test(a_little_does_not_read_as_nothing),
        cmocka_unit_test(test_the_second_witness_does_not_judge),
        cmocka_unit_test(low_coverage_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
