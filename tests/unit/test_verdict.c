/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "support.h"

#include "nsys_file.h"

#include "judge/verdict.h"

static void set(struct gpu_snapshot *g, enum metric m, double mean)
{
    struct metric_stats *s = &g->metrics[m];
    value_set(&s->value, SOURCE_PM, 1, mean);
    s->min = s->p50 = s->p95 = s->max = mean;
    s->samples = g->samples;
}

/* A GPU on which the four shares were measured, evenly over the window. */
static struct gpu_snapshot gpu(double gr, double sm, double dram, double tensor)
{
    struct gpu_snapshot g = {.backend = SOURCE_PM, .samples = 50, .coverage = 1};
    set(&g, METRIC_GR_ACTIVE, gr);
    set(&g, METRIC_SM_ACTIVE, sm);
    set(&g, METRIC_DRAM_THROUGHPUT, dram);
    set(&g, METRIC_TENSOR_ACTIVE, tensor);
    return g;
}

static void expect(const struct gpu_snapshot *g, enum verdict_kind kind)
{
    struct verdict v;
    verdict_of(g, &v);
    if (v.kind != kind)
        fail_msg("%s instead of %s", verdict_name(v.kind), verdict_name(kind));
    assert_true(v.evidence.n > 0);
    if (kind != VERDICT_UNKNOWN)
        assert_true(v.limits.n > 0 && v.advice.n > 0);
}

static void shipped_recordings_get_their_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum verdict_kind kind;
    } cases[] = {
        {DECODE, VERDICT_MEMORY_BOUND}, {MATMUL, VERDICT_COMPUTE_BOUND}, {IDLE, VERDICT_IDLE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct snapshot *s = snapshot_of(cases[i].path, false);
        expect(&s->gpus[0], cases[i].kind);
        snapshot_destroy(s);
    }
}

static void each_kind_has_its_pattern(void **state)
{
    (void)state;
    static const struct {
        double gr, sm, dram, tensor;
        enum verdict_kind kind;
    } cases[] = {
        {0.0, 0.0, 0.0, 0.0, VERDICT_IDLE},
        {0.01, 0.0, 0.02, 0.0, VERDICT_IDLE}, /* nsys lifts traces to 1 % */
        {0.998, 0.862, 0.832, 0.033, VERDICT_MEMORY_BOUND},
        {0.998, 0.962, 0.172, 0.930, VERDICT_COMPUTE_BOUND},
        {0.99, 0.95, 0.75, 0.70, VERDICT_MIXED},
        {0.99, 0.95, 0.85, 0.62, VERDICT_MEMORY_BOUND},
        {0.99, 0.90, 0.30, 0.20, VERDICT_LATENCY_BOUND},
        {0.99, 0.20, 0.10, 0.05, VERDICT_LAUNCH_BOUND},
        {0.70, 0.40, 0.20, 0.10, VERDICT_LAUNCH_BOUND}, /* short breaks everywhere */
        {0.30, 0.20, 0.10, 0.05, VERDICT_STARVED},
        {0.75, 0.70, 0.65, 0.05, VERDICT_MEMORY_BOUND}, /* near a limit although not always busy */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gpu_snapshot g = gpu(cases[i].gr, cases[i].sm, cases[i].dram, cases[i].tensor);
        expect(&g, cases[i].kind);
    }
}

static void bursts_are_starved(void **state)
{
    (void)state;
    struct gpu_snapshot g = gpu(0.6, 0.5, 0.4, 0.1);
    g.metrics[METRIC_GR_ACTIVE].min = 0;
    g.metrics[METRIC_GR_ACTIVE].max = 1;
    expect(&g, VERDICT_STARVED);
}

static void copies_without_kernels_are_not_idle(void **state)
{
    (void)state;
    struct gpu_snapshot g = gpu(0.01, 0.0, 0.02, 0.0);
    set(&g, METRIC_PCIE_RX_THROUGHPUT, 0.9);
    expect(&g, VERDICT_COMM_BOUND);
}

static void phases_that_take_turns_are_mixed(void **state)
{
    (void)state;
    struct gpu_snapshot g = gpu(0.99, 0.9, 0.45, 0.45);
    g.metrics[METRIC_DRAM_THROUGHPUT].max = 0.85;
    g.metrics[METRIC_TENSOR_ACTIVE].max = 0.9;
    expect(&g, VERDICT_MIXED);
}

static void without_sound_numbers_there_is_no_verdict(void **state)
{
    (void)state;
    static const enum metric needed[] = {METRIC_GR_ACTIVE, METRIC_SM_ACTIVE, METRIC_DRAM_THROUGHPUT,
                                         METRIC_TENSOR_ACTIVE};
    for (size_t i = 0; i < 4; i++) {
        struct gpu_snapshot g = gpu(0.998, 0.862, 0.832, 0.033);
        value_set_state(&g.metrics[needed[i]].value, SOURCE_PM, VALUE_SUSPECT, "cross-check");
        expect(&g, VERDICT_UNKNOWN);
    }
    struct gpu_snapshot g = gpu(0.998, 0.862, 0.832, 0.033);
    g.samples = 4;
    expect(&g, VERDICT_UNKNOWN);
}

static void low_coverage_is_said(void **state)
{
    (void)state;
    struct gpu_snapshot g = gpu(0.998, 0.862, 0.832, 0.033);
    g.coverage = 0.4;
    struct verdict v;
    verdict_of(&g, &v);
    assert_contains(v.limits.line[v.limits.n - 1], "40 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_recordings_get_their_verdict),
        cmocka_unit_test(each_kind_has_its_pattern),
        cmocka_unit_test(bursts_are_starved),
        cmocka_unit_test(copies_without_kernels_are_not_idle),
        cmocka_unit_test(phases_that_take_turns_are_mixed),
        cmocka_unit_test(without_sound_numbers_there_is_no_verdict),
        cmocka_unit_test(low_coverage_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
