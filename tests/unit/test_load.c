/* SPDX-License-Identifier: MIT */
/* Known loads: their names, their sizes, what they expect of the counters, and, on the fake driver,
 * that nothing stays behind whichever call fails. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fake_script.h"

#include "load/chip.h"
#include "load/expect.h"
#include "load/size.h"
#include "vendor/cuda_api.h"

/* ---- names ---- */

static void taken(const char *text, enum load_kind kind, double argument)
{
    struct load_choice c = {LOAD_KINDS, -1};
    struct error err = ERROR_INIT;
    char back[64];
    if (load_parse(text, &c, &err))
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(c.kind, kind);
    assert_near(c.argument, argument, 0);
    assert_string_equal(load_choice_text(back, sizeof back, c), text);
}

static void refused(const char *text, const char *part)
{
    struct load_choice c = {LOAD_KINDS, -1};
    struct error err = ERROR_INIT;
    assert_int_equal(load_parse(text, &c, &err), ERR_USAGE);
    assert_contains(err.text, part);
    assert_int_equal(c.kind, LOAD_KINDS);
}

static void names(void **state)
{
    (void)state;
    static const char *const plain[] = {"copy", "read", "gemv", "mma",  "fma", NULL,
                                        "h2d",  "d2h",  NULL,   "tail", "idle"};
    assert_int_equal(sizeof plain / sizeof plain[0], LOAD_KINDS);
    for (int k = 0; k < LOAD_KINDS; k++)
        if (plain[k])
            taken(plain[k], (enum load_kind)k, 0);
    taken("occupancy:1", LOAD_OCCUPANCY, 1);
    taken("occupancy:48", LOAD_OCCUPANCY, 48);
    taken("duty:37.5", LOAD_DUTY, 37.5);

    static const char list[] = "KIND is one of copy, read, gemv, mma, fma, occupancy:N, h2d, d2h, "
                               "duty:P, tail, idle, not ";
    static const char *const unknown[] = {"",        "cop",       "copyy", "copy:", "copy:1",
                                          "duty",    "occupancy", "duty:", ":",     "duty:5%",
                                          "duty:1:", "Copy",      "idle "};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        refused(unknown[i], list);
    static const char *const warps[] = {"occupancy:0", "occupancy:1.5", "occupancy:-1",
                                        "occupancy:1e9"};
    for (size_t i = 0; i < sizeof warps / sizeof warps[0]; i++)
        refused(warps[i], "occupancy:N is a whole number of warps");
    static const char *const percent[] = {"duty:0", "duty:100", "duty:-1", "duty:1e3"};
    for (size_t i = 0; i < sizeof percent / sizeof percent[0]; i++)
        refused(percent[i], "duty:P is a percentage, more than 0 and less than 100");
}

/* ---- sizes ---- */

static void sizes(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    assert_true(load_size_least(60 * mib) == 480 * mib);
    assert_true(load_size_least(0) == gib); /* L2 not known: the largest there is, 128 MiB */
    assert_true(load_size_wanted(60 * mib, gib) == 3840 * mib);
    assert_true(load_size_wanted(4 * mib, gib) == gib);
    assert_true(load_size_wanted(4 * mib, 2 * gib) == 2 * gib);
}

static void is_matrices(uint64_t total, unsigned layers, unsigned size)
{
    struct load_matrices m = load_matrices(total);
    assert_int_equal(m.layers, layers);
    assert_int_equal(m.size, size);
    assert_true(2 * (uint64_t)m.layers * m.size * m.size <= total);
}

static void matrices(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20;
    is_matrices(2048 * mib, 16, 8192); /* 128 MiB each */
    is_matrices(3840 * mib, 30, 8192);
    is_matrices(1024 * mib, 8, 8192);
    is_matrices(1023 * mib, 31, 4096); /* 32 MiB each */
    is_matrices(16 * mib, 8, 1024);    /* 2 MiB each */
    is_matrices(3 * mib, 1, 1024);
    is_matrices(2 * mib - 1, 0, 1024);
    is_matrices(UINT64_C(1) << 40, 64, 8192);
}

/* Does exactly so much fit that one more block does not? As the driver counts: with 1 KiB a block
 * of its own, or without it. */
static void is_blocks(unsigned warps, uint64_t shared_per_sm, unsigned blocks)
{
    struct load_blocks b = {0};
    assert_true(load_blocks(warps, shared_per_sm, &b));
    assert_int_equal(b.blocks, blocks);
    assert_int_equal(b.blocks * b.block_warps, warps);
    assert_true(b.block_warps >= 1 && b.block_warps <= 32);
    assert_int_equal(shared_per_sm / (b.shared + 1024), blocks);
}

static void blocks(void **state)
{
    (void)state;
    const uint64_t h200 = 233472, turing = 65536, ada = 102400;
    struct load_blocks b;
    for (unsigned n = 1; n <= 32; n++) {
        is_blocks(n, h200, 1);
        is_blocks(n, turing, 1);
        is_blocks(n, ada, 1);
    }
    is_blocks(64, h200, 2);
    is_blocks(33, h200, 3);
    is_blocks(35, h200, 5);
    is_blocks(49, h200, 7);
    is_blocks(48, ada, 2);
    is_blocks(45, ada, 3);
    assert_false(load_blocks(37, h200, &b));
    assert_false(load_blocks(61, h200, &b));
    assert_false(load_blocks(0, h200, &b));
}

static void chips(void **state)
{
    (void)state;
    /* 64 lanes: 16 a sub-partition, so a warp of 32 takes 2 cycles; 128 lanes: 1 */
    assert_near(load_chip(7, 5).fma_cycles, 2, 0);
    assert_near(load_chip(8, 0).fma_cycles, 2, 0);
    assert_near(load_chip(8, 6).fma_cycles, 1, 0);
    assert_near(load_chip(9, 0).fma_cycles, 1, 0);
    assert_near(load_chip(12, 0).fma_cycles, 1, 0);
    assert_near(load_chip(7, 0).fma_cycles, 0, 0);
    assert_near(load_chip(99, 0).fma_cycles, 0, 0);
    assert_near(load_chip(99, 0).mma_cycles, 0, 0);
}

/* ---- expectations, all computed by hand ---- */

static struct load_report report;

static void did(enum load_kind kind, double argument)
{
    report = (struct load_report){
        .choice = {kind, argument},
        .gpu = {.major = 9, .sm_count = 100, .warps_per_sm = 64, .memory_peak = 4e12},
        .seconds = 2,
        .busy = NAN,
        .sm_clock_hz = 2e9,
    };
}

static void expects(size_t i, enum metric metric, enum relation relation, double value,
                    double tolerance)
{
    assert_true(i < report.n_expectations);
    const struct load_expectation *e = &report.expectations[i];
    assert_int_equal(e->metric, metric);
    assert_int_equal(e->relation, relation);
    assert_near(e->value, value, fabs(value) * 1e-12);
    assert_near(e->tolerance, tolerance, fabs(tolerance) * 1e-12);
    assert_true(strlen(e->how) > 0);
}

static void has_no_number(size_t i, enum metric metric, const char *why)
{
    assert_true(i < report.n_expectations);
    assert_int_equal(report.expectations[i].metric, metric);
    assert_true(isnan(report.expectations[i].value));
    assert_contains(report.expectations[i].how, why);
}

static void memory_and_links(void **state)
{
    (void)state;
    did(LOAD_COPY, 0);
    report.done =
        (struct load_amounts){.bytes_read = 3000000000000, .bytes_written = 3000000000000};
    load_expect(&report);
    assert_int_equal(report.n_expectations, 3);
    expects(0, METRIC_DRAM_READ_BYTES, RELATION_EQUAL, 1.5e12, 0.03e12);
    expects(1, METRIC_DRAM_WRITE_BYTES, RELATION_EQUAL, 1.5e12, 0.03e12);
    expects(2, METRIC_DRAM_THROUGHPUT, RELATION_EQUAL, 0.75, 0.03);

    did(LOAD_GEMV, 0);
    report.done.bytes_read = 6000000000000;
    report.gpu.memory_peak = NAN;
    load_expect(&report);
    assert_int_equal(report.n_expectations, 2);
    expects(0, METRIC_DRAM_READ_BYTES, RELATION_EQUAL, 3e12, 0.06e12);
    has_no_number(1, METRIC_DRAM_THROUGHPUT, "the driver does not tell");

    did(LOAD_H2D, 0);
    report.done.pcie_in = 100000000000;
    load_expect(&report);
    assert_int_equal(report.n_expectations, 2);
    expects(0, METRIC_PCIE_RX, RELATION_AT_LEAST, 5e10, 0.15e10);
    expects(1, METRIC_PCIE_RX, RELATION_AT_MOST, 5.9375e10, 0); /* 12 bytes for each 64 */
    report.gpu.pcie_payload = 256;
    load_expect(&report);
    expects(0, METRIC_PCIE_RX, RELATION_AT_LEAST, 5.234375e10, 0.03 * 5.234375e10);
    did(LOAD_D2H, 0);
    report.gpu.pcie_payload = 256;
    report.done.pcie_out = 40000000000;
    load_expect(&report);
    assert_int_equal(report.n_expectations, 1);
    expects(0, METRIC_PCIE_TX, RELATION_EQUAL, 2.125e10, 0.03 * 2.125e10);
    report.gpu.pcie_payload = 0;
    load_expect(&report);
    expects(0, METRIC_PCIE_TX, RELATION_AT_LEAST, 2e10, 0.06e10);
    expects(1, METRIC_PCIE_TX, RELATION_AT_MOST, 2.5e10, 0);
    report.gpu.integrated = true;
    load_expect(&report);
    has_no_number(0, METRIC_PCIE_TX, "shares the host's memory");
}

static void pipes(void **state)
{
    (void)state;
    /* 4e9 cycles x 100 SMs x 4 sub-partitions = 1.6e12 */
    did(LOAD_FMA, 0);
    report.done.instructions = 1200000000000;
    load_expect(&report);
    assert_int_equal(report.n_expectations, 1);
    expects(0, METRIC_FMA_ACTIVE, RELATION_EQUAL, 0.75, 0.02);
    report.gpu.major = 8; /* 8.0: 2 cycles each */
    load_expect(&report);
    has_no_number(0, METRIC_FMA_ACTIVE, "would be 150 % of the time");
    report.done.instructions = 400000000000;
    load_expect(&report);
    expects(0, METRIC_FMA_ACTIVE, RELATION_EQUAL, 0.5, 0.02);
    report.sm_clock_hz = NAN;
    load_expect(&report);
    has_no_number(0, METRIC_FMA_ACTIVE, "the SM clock was not measured");
    report.gpu.major = 77;
    load_expect(&report);
    has_no_number(0, METRIC_FMA_ACTIVE, "an FFMA takes on compute capability 77.0");
    did(LOAD_MMA, 0);
    report.gpu.major = 77;
    load_expect(&report);
    has_no_number(0, METRIC_TENSOR_ACTIVE, "an mma.sync m16n8k8 takes on compute capability 77.0");
}

static void activity(void **state)
{
    (void)state;
    did(LOAD_OCCUPANCY, 24);
    load_expect(&report);
    assert_int_equal(report.n_expectations, 1);
    expects(0, METRIC_OCCUPANCY, RELATION_EQUAL, 0.375, 0.01);
    did(LOAD_DUTY, 30);
    report.busy = 0.3125;
    load_expect(&report);
    assert_int_equal(report.n_expectations, 1);
    expects(0, METRIC_GR_ACTIVE, RELATION_EQUAL, 0.3125, 0.02);
    did(LOAD_TAIL, 0);
    load_expect(&report);
    assert_int_equal(report.n_expectations, 2);
    expects(0, METRIC_GR_ACTIVE, RELATION_AT_LEAST, 0.95, 0);
    expects(1, METRIC_SM_ACTIVE, RELATION_AT_MOST, 0.015, 0);
    did(LOAD_IDLE, 0);
    load_expect(&report);
    bool seen[METRIC_COUNT] = {false};
    for (size_t i = 0; i < report.n_expectations; i++) {
        enum metric m = report.expectations[i].metric;
        expects(i, m, RELATION_AT_MOST, 0.005, 0);
        seen[m] = true;
    }
    static const enum metric must[] = {METRIC_GR_ACTIVE, METRIC_SM_ACTIVE,      METRIC_SM_ISSUE,
                                       METRIC_OCCUPANCY, METRIC_TENSOR_ACTIVE,  METRIC_FMA_ACTIVE,
                                       METRIC_DRAM_READ, METRIC_DRAM_THROUGHPUT};
    for (size_t i = 0; i < sizeof must / sizeof must[0]; i++)
        assert_true(seen[must[i]]);
    assert_false(seen[METRIC_L2_HIT] || seen[METRIC_GPU_UTIL] || seen[METRIC_DRAM_READ_BYTES]);
    assert_true(report.n_expectations < LOAD_EXPECTATIONS_MAX);
    /* nothing ran steadily: nothing is known */
    report.seconds = NAN;
    load_expect(&report);
    assert_int_equal(report.n_expectations, 0);
}

/* ---- on the fake driver ---- */

#define DRIVER FAKES_DIR "/cuda/libcuda.so.1"

/* Small, so that gemv is two matrices of 1024 x 1024. */
static const char small[] = "attribute.38 = 200000\nattribute.16 = 2\nmemory = 5000000\n"
                            "memory.used = 0\nkernel = 0.0005\ncopy = 1e12\n";

/* Runs a load for a moment; *held is what it left behind. */
static enum status try_load(const char *kind, const char *script, int *held, struct error *err)
{
    char text[512];
    struct load_request request = {.seconds = 0.001, .library = DRIVER};
    snprintf(text, sizeof text, "%s%s\n", small, script);
    play(text);
    if (load_parse(kind, &request.choice, err))
        fail_msg("%s", err->text);
    /* as long as we hold the library, it is the one that the load takes, and it remembers */
    void *library = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);
    int (*count_held)(void) = NULL;
    assert_non_null(library);
    *(void **)&count_held = dlsym(library, "fake_cuda_held");
    assert_non_null(count_held);
    *err = (struct error)ERROR_INIT;
    enum status st = load_run(&request, NULL, &report, err);
    *held = count_held();
    dlclose(library);
    return st;
}

/* Results of these are not looked at: after them everything goes anyway, or it is only for words.
 */
static bool may_fail(const char *call)
{
    static const char *const list[] = {
        "cuMemFree",      "cuEventDestroy", "cuStreamDestroy",           "cuGraphExecDestroy",
        "cuGraphDestroy", "cuModuleUnload", "cuDevicePrimaryCtxRelease", "cuStreamSynchronize"};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strncmp(call, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

static bool is_called_differently(const char *text, const char *call)
{
    size_t n = strcspn(call, "_");
    const char *found = strstr(text, "cu");
    return !found || strncmp(found, call, n) != 0;
}

/* Its first call fails, or a later one, while the load is prepared, warms up and runs. Returns how
 * often the load failed with it. */
static unsigned fail_calls(const char *kind, const char *call)
{
    static const unsigned which[] = {1, 2, 3, 5, 9, 16};
    const unsigned most = sizeof which / sizeof which[0];
    for (unsigned i = 0; i < most; i++) {
        unsigned nth = which[i];
        char script[128];
        struct error err;
        int held = -1;
        snprintf(script, sizeof script, "fail = %s:700:%u", call, nth);
        enum status st = try_load(kind, script, &held, &err);
        if (may_fail(call)) {
            /* what could not be freed is missing when less is tried */
            assert_true(st == OK || (st == ERR_NOMEM && strncmp(call, "cuMemFree", 9) == 0));
            return 0;
        }
        if (held != 0)
            fail_msg("%s, %s fails the %u. time: %d things left", kind, call, nth, held);
        if (st == OK)
            return i;
        if (is_called_differently(err.text, call))
            fail_msg("%s, %s fails the %u. time: %s", kind, call, nth, err.text);
    }
    return most;
}

static unsigned fail_every_call(const char *kind)
{
    static const char *const calls[] = {
#define NAME(name) #name,
        CUDA_SYMBOLS(NAME, NAME)
#undef NAME
    };
    unsigned failed = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        failed += fail_calls(kind, calls[i]) > 0;
    return failed;
}

static void every_call_fails(void **state)
{
    (void)state;
    /* 7 to find the GPU and its facts; context 2, stream, events 4, pinned memory; module,
     * function, launch: all counted by hand, so that a load that calls something else is seen. */
    assert_int_equal(fail_every_call("idle"), 7);
    assert_int_equal(fail_every_call("fma"), 7 + 8 + 3);
    assert_int_equal(fail_every_call("duty:5"), 7 + 7 + 3); /* no time between events */
    assert_int_equal(fail_every_call("occupancy:8"),
                     7 + 8 + 3 + 2);                              /* attribute, blocks that fit */
    assert_int_equal(fail_every_call("copy"), 7 + 8 + 3 + 1);     /* memory */
    assert_int_equal(fail_every_call("h2d"), 7 + 8 + 2);          /* memory, copy */
    assert_int_equal(fail_every_call("gemv"), 7 + 8 + 3 + 3 + 4); /* memory, copies; graph */
}

/* The fake counts what is held, else the test above would prove nothing. */
static void what_is_left_is_seen(void **state)
{
    (void)state;
    struct error err;
    int held = 0;
    assert_int_equal(try_load("copy", "fail = cuEventDestroy_v2:700", &held, &err), OK);
    assert_int_equal(held, 4);
    assert_int_equal(try_load("copy", "", &held, &err), OK);
    assert_int_equal(held, 0);
}

static void what_was_done(void **state)
{
    (void)state;
    struct error err;
    int held = 0;
    assert_int_equal(try_load("gemv", "", &held, &err), OK);
    assert_int_equal(report.layers, 2); /* 5e6 bytes: 4 MiB are the most */
    assert_int_equal(report.layer_size, 1024);
    assert_true(report.batches >= 3 && report.passes >= report.batches);
    assert_true(report.done.bytes_read == report.passes * 2 * 1024 * 1024 * 2);
    assert_near(report.done.operations, (double)report.passes * 2 * 1024 * 1024 * 2, 0);
    assert_true(report.done.bytes_written == 0 && report.done.pcie_in == 0);
    assert_near(report.rate, (double)report.passes / report.seconds, 1e-9 * report.rate);
    assert_near(report.rate, 1000, 50); /* two kernels of 0.5 ms */
    assert_true(report.begin_ns > 0 && report.end_ns > report.begin_ns);
    assert_near((double)(report.end_ns - report.begin_ns) * 1e-9, report.seconds, 0.2);

    assert_int_equal(try_load("mma", "", &held, &err), OK);
    assert_near(report.sm_clock_hz, 1.98e9, 1e6);
    assert_near(report.done.operations, (double)report.done.instructions * 2048, 0);
    assert_int_equal(report.done.instructions % (2 * 4 * 8 * 64),
                     0); /* SMs, blocks, warps, round */

    assert_int_equal(try_load("gemv", "gemv = wrong", &held, &err), ERR_VENDOR);
    assert_contains(err.text, "the GPU computes nonsense: layer 0, row ");
    assert_int_equal(held, 0);
}

static void what_cannot_run(void **state)
{
    (void)state;
    struct error err;
    int held = 0;
    assert_int_equal(try_load("fma", "capability = 7.0", &held, &err), ERR_UNSUPPORTED);
    assert_contains(err.text, "NVIDIA H200 has compute capability 7.0; loads need 7.5");
    assert_int_equal(try_load("fma", "capability = 7.5", &held, &err), OK);
    assert_int_equal(try_load("copy", "memory.used = 3000000", &held, &err), ERR_NOMEM);
    assert_contains(err.text, "has too little free memory: 1.9 MiB; this load needs at least 3.1");
    assert_int_equal(held, 0);
    assert_int_equal(try_load("occupancy:65", "", &held, &err), ERR_USAGE);
    assert_contains(err.text, "an SM of this GPU holds 64 warps");
    assert_int_equal(try_load("occupancy:43", "", &held, &err), ERR_USAGE);
    assert_contains(err.text, "take 42 or 44");
    assert_int_equal(try_load("occupancy:33", "attribute.39 = 1024", &held, &err), ERR_USAGE);
    assert_int_equal(try_load("occupancy:8", "attribute.81 = 100", &held, &err), ERR_UNSUPPORTED);
    assert_contains(err.text, "the driver lets ");
    assert_int_equal(held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(sizes),
        cmocka_unit_test(matrices),
        cmocka_unit_test(blocks),
        cmocka_unit_test(chips),
        cmocka_unit_test(memory_and_links),
        cmocka_unit_test(pipes),
        cmocka_unit_test(activity),
        cmocka_unit_test(what_was_done),
        cmocka_unit_test(what_cannot_run),
        cmocka_unit_test(every_call_fails),
        cmocka_unit_test(what_is_left_is_seen),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
