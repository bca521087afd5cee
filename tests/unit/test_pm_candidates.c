/* SPDX-License-Identifier: MIT */
/* Every CUPTI expression of the catalogue, built for every chip that it is meant for: the host part
 * of CUPTI needs no GPU and no driver. It shows that the names exist and that one pass is enough;
 * what a counter reads only a GPU can show.
 *
 * SMEFF_TEST_CUPTI names the folder of libcupti and libnvperf_*, else the CUDA toolkit's is taken.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metric/metric.h"

/* A profiler library may keep memory until the process ends; that is not ours to free. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libcupti\nleak:libnvperf\nleak:libdl\n";
}

/* Chips with PM sampling in CUPTI 13.0. */
static const char *const chips[] = {
    "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103", "GA104", "GA106",
    "GA107", "GA10B", "AD102", "AD103", "AD104", "AD106", "AD107", "GH100", "GB100", "GB102",
    "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B",
};
enum { CHIPS = sizeof chips / sizeof chips[0] };

/* Parameter structures of CUPTI 13.0, x86-64. The size is the end of the last member. */
enum { PM_SAMPLING = 1 };
struct host_init {
    size_t size;
    void *priv;
    int type;
    const char *chip;
    const uint8_t *availability;
    void *host;
};
struct host_only {
    size_t size;
    void *priv, *host;
};
struct add_metrics {
    size_t size;
    void *priv, *host;
    const char **names;
    size_t n;
};
struct image_size {
    size_t size;
    void *priv, *host;
    size_t bytes;
};
struct image {
    size_t size;
    void *priv, *host;
    size_t bytes;
    uint8_t *data;
};
struct num_passes {
    size_t size;
    void *priv;
    size_t bytes;
    uint8_t *data;
    size_t passes;
};

static int (*host_initialize)(struct host_init *);
static int (*host_deinitialize)(struct host_only *);
static int (*host_add_metrics)(struct add_metrics *);
static int (*host_image_size)(struct image_size *);
static int (*host_image)(struct image *);
static int (*host_num_passes)(struct num_passes *);

/* libcupti opens libnvperf_host again with RTLD_DEEPBIND, which AddressSanitizer refuses. The
 * library is loaded by then, so the flag means nothing. */
void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&next, &symbol, sizeof symbol);
    return next ? next(file, mode & ~RTLD_DEEPBIND) : NULL;
}

static void *open_in(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool find(void *lib, const char *name, void *function)
{
    void *symbol = dlsym(lib, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* NULL, or why the library cannot be used. libcupti opens the nvperf libraries by bare name, so
 * they must be there first. */
static const char *load_cupti(void)
{
    const char *dir = getenv("SMEFF_TEST_CUPTI");
    if (!dir || !*dir)
        dir = "/usr/local/cuda/lib64";
    if (!open_in(dir, "libnvperf_host.so"))
        return dlerror();
    open_in(dir, "libnvperf_target.so");
    void *lib = open_in(dir, "libcupti.so.13");
    if (!lib)
        return dlerror();
    bool all = find(lib, "cuptiProfilerHostInitialize", &host_initialize) &&
               find(lib, "cuptiProfilerHostDeinitialize", &host_deinitialize) &&
               find(lib, "cuptiProfilerHostConfigAddMetrics", &host_add_metrics) &&
               find(lib, "cuptiProfilerHostGetConfigImageSize", &host_image_size) &&
               find(lib, "cuptiProfilerHostGetConfigImage", &host_image) &&
               find(lib, "cuptiProfilerHostGetNumOfPasses", &host_num_passes);
    return all ? NULL : "libcupti has no profiler host interface";
}

/* Passes that these metrics need together; 0 when the library refuses them. */
static size_t count_passes(const char *chip, const char **names, size_t n)
{
    struct host_init init = {sizeof init, NULL, PM_SAMPLING, chip, NULL, NULL};
    if (host_initialize(&init))
        fail_msg("libcupti does not know the chip %s", chip);
    struct add_metrics add = {sizeof add, NULL, init.host, names, n};
    struct image_size size = {sizeof size, NULL, init.host, 0};
    size_t passes = 0;
    uint8_t *data = NULL;
    if (!host_add_metrics(&add) && !host_image_size(&size) && (data = calloc(1, size.bytes))) {
        struct image image = {sizeof image, NULL, init.host, size.bytes, data};
        struct num_passes num = {sizeof num, NULL, size.bytes, data, 0};
        if (!host_image(&image) && !host_num_passes(&num))
            passes = num.passes;
    }
    free(data);
    struct host_only done = {sizeof done, NULL, init.host};
    host_deinitialize(&done);
    return passes;
}

static const struct pm_candidate *first_candidate(const struct metric_info *info, const char *chip)
{
    for (const struct pm_candidate *c = info->pm; c && c->expression; c++)
        if (metric_chip_matches(c->chips, chip))
            return c;
    return NULL;
}

/* The test sees a difference at all: bare sm__throughput is known, and needs many passes. */
static void test_counting_works(void **state)
{
    (void)state;
    const char *many = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
    const char *unknown = "sm__no_such_counter.avg.pct_of_peak_sustained_elapsed";
    assert_true(count_passes("GH100", &many, 1) > 1);
    assert_int_equal(count_passes("GH100", &unknown, 1), 0);
}

static void test_each_candidate_alone(void **state)
{
    (void)state;
    int bad = 0;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        for (const struct pm_candidate *c = info->pm; c && c->expression; c++)
            for (int i = 0; i < CHIPS; i++) {
                if (!metric_chip_matches(c->chips, chips[i]))
                    continue;
                const char *name = c->expression;
                size_t passes = count_passes(chips[i], &name, 1);
                if (passes != 1) {
                    print_message("%s, %s: %s needs %zu passes (0 = unknown)\n", chips[i],
                                  info->key, name, passes);
                    bad++;
                }
            }
    }
    assert_int_equal(bad, 0);
}

static void test_core_together(void **state)
{
    (void)state;
    for (int i = 0; i < CHIPS; i++) {
        const char *names[METRIC_COUNT];
        size_t n = 0;
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metric_info *info = metric_info((enum metric)m);
            const struct pm_candidate *c = info->core ? first_candidate(info, chips[i]) : NULL;
            if (c)
                names[n++] = c->expression;
        }
        assert_true(n >= 7); /* GB20B, a SoC, has least: no memory and no link counters */
        size_t passes = count_passes(chips[i], names, n);
        if (passes != 1)
            fail_msg("%s: the %zu metrics that are always on need %zu passes", chips[i], n, passes);
    }
}

/* The chips that cannot give a metric by PM sampling. On every other one a candidate must be there:
 * a list of chips that is too short would lose the metric in silence. */
static const struct {
    const char *key, *chips;
} lacking[] = {
    {"sm_throughput", "GA100 GB110 GB20*"},
    {"copy_engine_active", "GA100 GH100 GB*"},
    {"tensor_active", "TU116 TU117"},
    {"tensor_hmma_active", "TU* GA* AD* GB10B"},
    {"tensor_imma_active", "TU* GA* AD* GB10B"},
    {"dram_throughput", "GA10B GB10B GB20B"},
    {"dram_read", "GB20B"},
    {"dram_write", "GB20B"},
    {"dram_read_bytes", "GA10B GB10B GB20B"},
    {"dram_write_bytes", "GA10B GB10B GB20B"},
    {"l2_throughput", "GA100 GB20*"},
    {"l2_hit", "GA100"},
    {"l1_throughput", "GA100 GB20*"},
    {"pcie_rx", "GA10B GB10B GB20B"},
    {"pcie_tx", "GA10B GB10B GB20B"},
    {"pcie_rx_throughput", "GA10B GB10B GB20B"},
    {"pcie_tx_throughput", "GA10B GB10B GB20B"},
    {"nvlink_rx", "TU116 TU117 AD* GA10B GB10B GB20*"},
    {"nvlink_tx", "TU116 TU117 AD* GA10B GB10B GB20*"},
    {"nvlink_rx_throughput", "TU116 TU117 AD* GA10B GB10B GB20*"},
    {"nvlink_tx_throughput", "TU116 TU117 AD* GA10B GB10B GB20*"},
};

static bool chip_lacks(const char *chip, const char *key)
{
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++)
        if (strcmp(lacking[i].key, key) == 0)
            return metric_chip_matches(lacking[i].chips, chip);
    return false;
}

static void test_nothing_lost(void **state)
{
    (void)state;
    for (int i = 0; i < CHIPS; i++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metric_info *info = metric_info((enum metric)m);
            bool lacks = chip_lacks(chips[i], info->key);
            if (info->pm && lacks == (first_candidate(info, chips[i]) != NULL))
                fail_msg("%s: %s is %s", chips[i], info->key,
                         lacks ? "given, and listed as lacking" : "not given");
        }
}

int main(void)
{
    const char *why = load_cupti();
    if (why) {
        printf("skipped: the expressions cannot be checked without CUPTI 13: %s\n", why);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting_works),
        cmocka_unit_test(test_each_candidate_alone),
        cmocka_unit_test(test_core_together),
        cmocka_unit_test(test_nothing_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
