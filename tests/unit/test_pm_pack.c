/* SPDX-License-Identifier: MIT */
/* Packing of counters into one pass, with the fake CUPTI: what is taken, and why the rest is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#include "source/pm/gpu.h"
#include "source/pm/pack.h"

static char script[] = "/tmp/smeff-test-pack-XXXXXX";
static struct cuda_api cuda;
static struct cupti_api cupti;
static struct pm_pack pack;

/* The fakes read their script when they are loaded. */
static void play(const char *text)
{
    struct error err = ERROR_INIT;
    FILE *f = fopen(script, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    setenv("FAKE_GPU", script, 1);
    if (cuda_api_load(&cuda, FAKES_DIR "/cuda/libcuda.so.1", &err) ||
        cupti_api_load(&cupti, FAKES_DIR "/cupti", &err))
        fail_msg("%s", err.text);
}

static int make_script(void **state)
{
    (void)state;
    int fd = mkstemp(script);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static int remove_script(void **state)
{
    (void)state;
    char lock[sizeof script + 8]; /* the fake's, of the GPU that was asked */
    snprintf(lock, sizeof lock, "%s.lock.0", script);
    unlink(lock);
    return unlink(script);
}

static int unload(void **state)
{
    (void)state;
    pm_pack_fini(&pack);
    cupti_api_unload(&cupti);
    cuda_api_unload(&cuda);
    return 0;
}

static void build(const char *chip, const struct source_request *request)
{
    struct error err = ERROR_INIT;
    if (pm_pack_build(&cupti, chip, NULL, request, &pack, &err))
        fail_msg("%s", err.text);
}

static void build_core(const char *chip)
{
    build(chip, &(struct source_request){.set = SET_CORE});
}

static void build_wide(const char *chip)
{
    build(chip, &(struct source_request){.set = SET_WIDE});
}

static void build_with(const char *chip, enum metric extra)
{
    build(chip, &(struct source_request){.set = SET_CORE, .extra = &extra, .n_extra = 1});
}

static const struct pm_pick *pick(enum metric m)
{
    for (size_t i = 0; i < pack.n_picks; i++)
        if (pack.picks[i].metric == m)
            return &pack.picks[i];
    fail_msg("no pick of %s", metric_info(m)->key);
    return NULL;
}

static void taken(enum metric m, const char *expression)
{
    const struct pm_pick *p = pick(m);
    if (!p->candidate)
        fail_msg("%s is left out: %s", metric_info(m)->key, p->reason);
    assert_string_equal(p->candidate->expression, expression);
    assert_int_equal(p->state, VALUE_OK);
    assert_string_equal(p->reason, "");
}

static void left_out(enum metric m, const char *reason)
{
    const struct pm_pick *p = pick(m);
    if (p->candidate)
        fail_msg("%s is taken", metric_info(m)->key);
    assert_int_equal(p->state, VALUE_UNSUPPORTED);
    assert_string_equal(p->reason, reason);
}

/* What holds for every pack: names and picks belong together, and the configuration is that of the
 * whole set, in one pass. */
static void is_sound(void)
{
    struct cupti_host_passes passes = CUPTI_INIT(host_passes);
    size_t chosen = 0;
    for (size_t i = 0; i < pack.n_picks; i++) {
        chosen += pack.picks[i].candidate != NULL;
        assert_true(i == 0 || pack.picks[i].metric > pack.picks[i - 1].metric);
        assert_true((pack.picks[i].reason[0] == '\0') == (pack.picks[i].candidate != NULL));
    }
    assert_int_equal(pack.n_names, chosen);
    for (size_t i = 0; i < pack.n_names; i++)
        assert_ptr_equal(pack.names[i], pack.picks[pack.pick_of[i]].candidate->expression);
    passes.configImageSize = pack.config_size;
    passes.pConfigImage = pack.config;
    assert_int_equal(cupti.cuptiProfilerHostGetNumOfPasses(&passes), CUPTI_SUCCESS);
    assert_int_equal(passes.numOfPasses, 1);
}

#define PEAK ".avg.pct_of_peak_sustained_elapsed"

static void the_core_set(void **state)
{
    (void)state;
    play("");
    build_core("GH100");
    is_sound();
    for (size_t i = 0; i < pack.n_picks; i++)
        if (metric_info(pack.picks[i].metric)->core && !pack.picks[i].candidate)
            fail_msg("%s: %s", metric_info(pack.picks[i].metric)->key, pack.picks[i].reason);
    taken(METRIC_SM_ACTIVE, "sm__cycles_active" PEAK);
    taken(METRIC_DRAM_READ, "dram__read_throughput" PEAK); /* never dramc__ on GH100 */
    left_out(METRIC_DRAM_THROUGHPUT, "not in the core set (--set wide, or --metric, adds it)");
    left_out(METRIC_SM_THROUGHPUT, "costly: taken only when asked for (--metric)");
    assert_false(pack.heavy);
    assert_false(pack.late);
}

static void the_wide_set_has_all_but_the_costly(void **state)
{
    (void)state;
    play("");
    build_wide("GH100");
    is_sound();
    taken(METRIC_DRAM_THROUGHPUT, "dram__throughput" PEAK);
    left_out(METRIC_SM_THROUGHPUT, "costly: taken only when asked for (--metric)");
    left_out(METRIC_L2_HIT, "costly: taken only when asked for (--metric)");
    assert_false(pack.heavy);
    assert_true(pack.late);
    size_t wide = pack.n_names;
    pm_pack_fini(&pack);
    build_core("GH100");
    assert_true(wide > pack.n_names);
}

static void a_costly_one_that_is_asked_for(void **state)
{
    (void)state;
    play("");
    build_with("GH100", METRIC_SM_THROUGHPUT);
    is_sound();
    taken(METRIC_SM_THROUGHPUT, "TriageCompute.sm__throughput" PEAK);
    assert_true(pack.heavy);
    assert_true(pack.late);
    left_out(METRIC_L2_HIT, "costly: taken only when asked for (--metric)");
}

static void an_extra_that_is_in_the_core_set_anyway(void **state)
{
    (void)state;
    play("");
    build_core("GH100");
    size_t core = pack.n_names;
    pm_pack_fini(&pack);
    build_with("GH100", METRIC_SM_ACTIVE);
    is_sound();
    assert_int_equal(pack.n_names, core);
}

/* NVIDIA's own figure exists on this chip in no single pass: neither set may promise it. */
static void a_chip_without_the_counter(void **state)
{
    (void)state;
    static const char none[] = "this chip has no counter for it that can be read in one pass";
    play("");
    build_core("GA100");
    left_out(METRIC_SM_THROUGHPUT, none);
    pm_pack_fini(&pack);
    build_wide("GA100");
    left_out(METRIC_SM_THROUGHPUT, none);
    pm_pack_fini(&pack);
    build_with("GA100", METRIC_SM_THROUGHPUT);
    left_out(METRIC_SM_THROUGHPUT, none);
    is_sound();
}

static void more_than_one_pass(void **state)
{
    (void)state;
    play("passes.sm__cycles_active = 2\n");
    build_core("GH100");
    is_sound();
    left_out(METRIC_SM_ACTIVE, "needs more than one pass on this chip");
    taken(METRIC_OCCUPANCY, "sm__warps_active_realtime" PEAK);
}

/* The first in the order of the catalogue keeps its place. */
static void counters_that_push_each_other_out(void **state)
{
    (void)state;
    play("group.sm__inst_executed_realtime = a\ngroup.sm__pipe_tensor_cycles_active_realtime = a\n"
         "group.sm__warps_active_realtime = a\n");
    build_core("GH100");
    is_sound();
    taken(METRIC_SM_ISSUE, "sm__inst_executed_realtime" PEAK);
    left_out(METRIC_OCCUPANCY, "does not fit one pass together with the rest of the set");
    left_out(METRIC_TENSOR_ACTIVE, "does not fit one pass together with the rest of the set");
}

/* The core set goes before what is asked for, and that before the rest of the wide set. */
static void extras_never_cost_the_core_set(void **state)
{
    (void)state;
    const enum metric extra = METRIC_DRAM_THROUGHPUT;
    play("group.dram__throughput = a\ngroup.dram__read_throughput = a\n");
    build("GH100", &(struct source_request){.set = SET_WIDE, .extra = &extra, .n_extra = 1});
    is_sound();
    taken(METRIC_DRAM_READ, "dram__read_throughput" PEAK);
    left_out(METRIC_DRAM_THROUGHPUT, "does not fit one pass together with the rest of the set");
    pm_pack_fini(&pack);
    unload(NULL);
    play("group.dram__throughput = a\ngroup.sm__pipe_fma_cycles_active = a\n");
    build("GH100", &(struct source_request){.set = SET_WIDE, .extra = &extra, .n_extra = 1});
    taken(METRIC_DRAM_THROUGHPUT, "dram__throughput" PEAK);
}

static void names_by_chip(void **state)
{
    (void)state;
    play("pm.tpc__warps_active_realtime = 12\n");
    build_core("GB202");
    is_sound();
    taken(METRIC_OCCUPANCY, "tpc__warps_active_realtime" PEAK);
    taken(METRIC_TENSOR_ACTIVE, "sm__pipe_tensor_cycles_active_realtime" PEAK);
    pm_pack_fini(&pack);
    build_core("TU102");
    is_sound();
    taken(METRIC_OCCUPANCY, "sm__warps_active_realtime" PEAK);
    taken(METRIC_TENSOR_ACTIVE, "sm__pipe_shared_cycles_active_realtime" PEAK);
    taken(METRIC_DRAM_READ, "dramc__read_throughput" PEAK);
    pm_pack_fini(&pack);
    /* without tensor cores the shared pipe would be FP16 alone */
    build_core("TU116");
    left_out(METRIC_TENSOR_ACTIVE, "this chip has no counter for it that can be read in one pass");
    left_out(METRIC_NVLINK_RX, "this chip has no counter for it that can be read in one pass");
}

/* Without NVLink the counter is refused (999), if the GPU was asked; else it only exists. */
static void what_this_gpu_lacks(void **state)
{
    (void)state;
    struct pm_gpu gpu;
    struct error err = ERROR_INIT;
    play("");
    build_core("GH100");
    assert_non_null(pick(METRIC_NVLINK_RX)->candidate);
    pm_pack_fini(&pack);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    if (pm_gpu_open(&gpu, &cuda, &cupti, 0, &err))
        fail_msg("%s", err.text);
    assert_string_equal(gpu.chip, "GH100");
    enum status st = pm_pack_build(&cupti, gpu.chip, gpu.availability,
                                   &(struct source_request){.set = SET_CORE}, &pack, &err);
    pm_gpu_fini(&gpu);
    assert_int_equal(st, OK);
    is_sound();
    left_out(METRIC_NVLINK_RX, "this GPU does not have the counter");
    left_out(METRIC_NVLINK_TX, "this GPU does not have the counter");
    taken(METRIC_PCIE_RX, "pcie__read_bytes.sum.per_second");
}

static enum status refused(const char *chip, struct error *err)
{
    enum status st =
        pm_pack_build(&cupti, chip, NULL, &(struct source_request){.set = SET_CORE}, &pack, err);
    assert_true(st != OK);
    assert_null(pack.config);
    return st;
}

static void a_chip_that_is_not_known(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    play("");
    assert_int_equal(refused("XX999", &err), ERR_UNSUPPORTED);
    assert_int_equal(err.native, CUPTI_ERROR_INVALID_CHIP_NAME);
    assert_contains(err.text, "does not know the chip");
    assert_int_equal(refused("gh100", &err), ERR_UNSUPPORTED);
}

static void nothing_fits(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    char text[8000] = "";
    size_t used = 0;
    for (int m = 0; m < METRIC_COUNT; m++)
        for (const struct pm_candidate *c = metric_info((enum metric)m)->pm; c && c->expression;
             c++) {
            const char *mark = strstr(c->expression, "__"), *dot = mark ? strchr(mark, '.') : NULL;
            if (dot)
                used += (size_t)snprintf(text + used, sizeof text - used, "passes.%.*s = 2\n",
                                         (int)(dot - c->expression), c->expression);
        }
    assert_true(used < sizeof text);
    play(text);
    assert_int_equal(refused("GH100", &err), ERR_UNSUPPORTED);
    assert_contains(err.text, "no counter of chip GH100 can be sampled");
}

static void without_helper_libraries(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    play("fail = cuptiProfilerHostInitialize:15\n");
    assert_int_equal(refused("GH100", &err), ERR_UNSUPPORTED);
    assert_contains(err.text, "helper libraries");
}

/* Each trial that fails must leave nothing behind (the address sanitizer watches). */
static void every_call_failing_in_turn(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cuptiProfilerHostInitialize",         "cuptiProfilerHostConfigAddMetrics",
        "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
        "cuptiProfilerHostGetNumOfPasses",
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char text[128];
        struct error err = ERROR_INIT;
        snprintf(text, sizeof text, "fail = %s:999\n", calls[i]);
        play(text);
        assert_int_equal(refused("GH100", &err), ERR_VENDOR);
        assert_int_equal(err.native, 999);
        unload(NULL);
        /* once only: that metric is left out, the others are taken */
        snprintf(text, sizeof text, "fail = %s:999:1\n", calls[i]);
        play(text);
        build_core("GH100");
        is_sound();
        unload(NULL);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, unload)
    const struct CMUnitTest tests[] = {
        T(the_core_set),
        T(the_wide_set_has_all_but_the_costly),
        T(a_costly_one_that_is_asked_for),
        T(an_extra_that_is_in_the_core_set_anyway),
        T(a_chip_without_the_counter),
        T(more_than_one_pass),
        T(counters_that_push_each_other_out),
        T(extras_never_cost_the_core_set),
        T(names_by_chip),
        T(what_this_gpu_lacks),
        T(a_chip_that_is_not_known),
        T(nothing_fits),
        T(without_helper_libraries),
        T(every_call_failing_in_turn),
    };
    return cmocka_run_group_tests(tests, make_script, remove_script);
}
