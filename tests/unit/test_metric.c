/* SPDX-License-Identifier: MIT */
/* The catalogue keeps its promises: keys, texts, names of the sources, and the files made from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "docs_text.h"
#include "metric/metric.h"

#define EACH_METRIC(i)                                                                             \
    for (int m_ = 0; m_ < METRIC_COUNT; m_++)                                                      \
        for (const struct metric_info *i = metric_info((enum metric)m_); i; i = NULL)

/* What users and scripts rely on. A key may be added, never renamed or taken away. */
static const char *const promised[] = {
    "gr_active",
    "sm_active",
    "sm_issue",
    "sm_throughput",
    "occupancy",
    "copy_engine_active",
    "tensor_active",
    "tensor_hmma_active",
    "tensor_imma_active",
    "fma_active",
    "alu_active",
    "fp64_active",
    "dram_throughput",
    "dram_read",
    "dram_write",
    "dram_read_bytes",
    "dram_write_bytes",
    "l2_throughput",
    "l2_hit",
    "l1_throughput",
    "pcie_rx",
    "pcie_tx",
    "pcie_rx_throughput",
    "pcie_tx_throughput",
    "nvlink_rx",
    "nvlink_tx",
    "nvlink_rx_throughput",
    "nvlink_tx_throughput",
    "gpc_clock",
    "sys_clock",
    "gpu_util",
    "mem_util",
    "mem_used",
    "mem_total",
    "power",
    "power_limit",
    "energy",
    "temperature",
    "mem_temperature",
    "clock_sm",
    "clock_mem",
    "throttle",
    "fan",
    "pcie_gen",
    "pcie_width",
    "ecc_errors",
    "output_tokens_per_second",
    "prompt_tokens_per_second",
    "running",
    "waiting",
    "kv_usage",
    "tpot",
    "ttft",
    "e2e_latency",
    "spec_acceptance",
    "prefix_hit",
    "bytes_per_output_token",
    "joules_per_output_token",
};

/* Chips that PM sampling knows (CUPTI 13.0). */
static const char *const all_chips[] = {
    "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103", "GA104", "GA106",
    "GA107", "GA10B", "AD102", "AD103", "AD104", "AD106", "AD107", "GH100", "GB100", "GB102",
    "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B",
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++)
        if (metric_by_key(promised[i]) == METRIC_NONE)
            fail_msg("no metric has the key %s", promised[i]);
    EACH_METRIC(info)
    {
        assert_non_null(info->key);
        assert_true(info->key[0] != '\0');
        assert_int_equal(strspn(info->key, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                         strlen(info->key));
        if (metric_by_key(info->key) != m_) /* another one before it has the same key */
            fail_msg("the key %s is there twice", info->key);
    }
}

static void test_by_key_is_exact(void **state)
{
    (void)state;
    assert_int_equal(metric_by_key("sm_active"), METRIC_SM_ACTIVE);
    assert_int_equal(metric_by_key("SM_ACTIVE"), METRIC_NONE);
    assert_int_equal(metric_by_key("sm_activ"), METRIC_NONE);
    assert_int_equal(metric_by_key("sm_active "), METRIC_NONE);
    assert_int_equal(metric_by_key("sm_active_"), METRIC_NONE);
    assert_int_equal(metric_by_key(""), METRIC_NONE);
}

static void test_texts(void **state)
{
    (void)state;
    EACH_METRIC(info)
    {
        const char *key = info->key;
        if (!info->label || !*info->label || str_columns(info->label) > 18)
            fail_msg("%s: the label is empty or wider than 18 columns", key);
        if (!info->help || !*info->help || strpbrk(info->help, "\n\t") ||
            str_columns(info->help) > 100 || ends_with(info->help, "."))
            fail_msg("%s: help is no single line of 100 columns without full stop", key);
        if (!info->doc || str_columns(info->doc) < 80 || !ends_with(info->doc, ".") ||
            strstr(info->doc, "  ") || strpbrk(info->doc, "\n\t"))
            fail_msg("%s: doc is no paragraph", key);
        for (int other = 0; other < m_; other++)
            if (strcmp(metric_info((enum metric)other)->label, info->label) == 0)
                fail_msg("%s: its label is another metric's too", key);
    }
}

static void test_groups_scopes_units(void **state)
{
    (void)state;
    int group = 0;
    EACH_METRIC(info)
    {
        assert_true((int)info->group >= group); /* reading order: a group stands together */
        group = (int)info->group;
        enum metric_scope scope = info->group == GROUP_SERVERS   ? SCOPE_SERVER
                                  : info->group == GROUP_DERIVED ? SCOPE_DERIVED
                                                                 : SCOPE_GPU;
        assert_int_equal(info->scope, scope);
        if (scope != SCOPE_GPU && (info->nsys || info->pm || info->gpm_id || info->nsys_counter))
            fail_msg("%s is no GPU metric and has a GPU source", info->key);
        if (info->core && !info->pm)
            fail_msg("%s is always on, but PM sampling cannot give it", info->key);
    }
    assert_int_equal(metric_info(METRIC_THROTTLE)->unit, UNIT_FLAGS);
    assert_int_equal(metric_info(METRIC_TPOT)->unit, UNIT_SECONDS);
    assert_int_equal(metric_info(METRIC_KV_USAGE)->unit, UNIT_RATIO);
    assert_int_equal(metric_info(METRIC_PCIE_RX)->unit, UNIT_BYTES_PER_SECOND);
    assert_int_equal(metric_info(METRIC_PCIE_RX_THROUGHPUT)->unit, UNIT_RATIO);
    assert_int_equal(metric_info(METRIC_ENERGY)->kind, KIND_COUNTER);
    assert_int_equal(metric_info(METRIC_POWER)->kind, KIND_GAUGE);
    assert_string_equal(metric_group_title(GROUP_PIPES), "Pipes");
    assert_string_equal(metric_group_title(GROUP_COUNT), "?");
}

static bool row_is_part_of(const struct nsys_name *n, const char *name)
{
    for (const char *const *plus = n->plus; plus && *plus; plus++)
        if (strcmp(*plus, name) == 0)
            return true;
    return strcmp(n->name, name) == 0;
}

/* The metric that an nsys row of this name is for: METRIC_NONE, or a second one is a failure. */
static int metric_of_row(const char *name)
{
    int found = METRIC_NONE;
    EACH_METRIC(info)
    {
        for (const struct nsys_name *n = info->nsys; n && n->name; n++)
            if (row_is_part_of(n, name)) {
                if (found != METRIC_NONE)
                    fail_msg("nsys row \"%s\" is for %s and %s", name,
                             metric_info((enum metric)found)->key, info->key);
                found = m_;
            }
    }
    return found;
}

static void check_row_unit(const struct metric_info *info, const char *name, double scale)
{
    bool percent = ends_with(name, " %]"), mhz = ends_with(name, "[MHz]");
    if (strchr(name, '[') && !percent && !mhz) /* GB/s, counts: their stored values are not known */
        fail_msg("%s: nsys row \"%s\" has a unit that is not understood", info->key, name);
    if (percent && (scale != 0.01 || info->unit != UNIT_RATIO))
        fail_msg("%s: nsys row \"%s\" is a percentage", info->key, name);
    if (mhz && (scale != 1 || info->unit != UNIT_HERTZ))
        fail_msg("%s: nsys row \"%s\" is a clock in hertz", info->key, name);
    if (!strchr(name, '[') && !(info->unit == UNIT_RATIO && scale == 0.01) &&
        !(info->unit == UNIT_HERTZ && scale == 1))
        fail_msg("%s: nsys row \"%s\" without unit is no percentage and no clock", info->key, name);
}

static void test_nsys_names(void **state)
{
    (void)state;
    EACH_METRIC(info)
    {
        for (const struct nsys_name *n = info->nsys; n && n->name; n++) {
            assert_int_equal(metric_of_row(n->name), m_);
            check_row_unit(info, n->name, n->scale);
            for (const char *const *plus = n->plus; plus && *plus; plus++) {
                assert_int_equal(metric_of_row(*plus), m_);
                check_row_unit(info, *plus, n->scale);
            }
            if (!n->sets || !*n->sets)
                fail_msg("%s: nobody knows where nsys row \"%s\" is from", info->key, n->name);
        }
    }
    for (const struct nsys_name *n = metric_info(METRIC_SM_THROUGHPUT)->nsys; n->name; n++)
        assert_true(str_starts_with(n->name, "SM Throughput"));
}

/* The rows of a real export of nsys 2025.3.1 on an H200. */
static void test_rows_of_a_real_export(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        int metric;
    } rows[] = {
        {"GPC Clock Frequency [MHz]", METRIC_GPC_CLOCK},
        {"SYS Clock Frequency [MHz]", METRIC_SYS_CLOCK},
        {"GR Active [Throughput %]", METRIC_GR_ACTIVE},
        {"SMs Active [Throughput %]", METRIC_SM_ACTIVE},
        {"SM Issue [Throughput %]", METRIC_SM_ISSUE},
        {"Tensor Active [Throughput %]", METRIC_TENSOR_ACTIVE},
        {"Pixel Warps in Flight [Throughput %]", METRIC_NONE},
        {"Compute Warps in Flight [Throughput %]", METRIC_OCCUPANCY},
        {"Compute Warps in Flight [Avg]", METRIC_NONE},
        {"Compute Warps in Flight [Avg Warps per Cycle]", METRIC_NONE},
        {"Unallocated Warps in Active SMs [Throughput %]", METRIC_NONE},
        {"DRAM Read Bandwidth [Throughput %]", METRIC_DRAM_READ},
        {"DRAM Write Bandwidth [Throughput %]", METRIC_DRAM_WRITE},
        {"PCIe RX Throughput [Throughput %]", METRIC_PCIE_RX_THROUGHPUT},
        {"PCIe TX Throughput [Throughput %]", METRIC_PCIE_TX_THROUGHPUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(metric_of_row(rows[i].row), rows[i].metric);
    for (const struct nsys_name *n = metric_info(METRIC_OCCUPANCY)->nsys; n->name; n++)
        if (strcmp(n->name, "Compute Warps in Flight [Throughput %]") == 0)
            assert_non_null(n->suspect); /* this very export reads 2 % for 12 % */
}

static void check_candidate(const struct metric_info *info, const struct pm_candidate *c)
{
    const char *e = c->expression;
    bool percent = ends_with(e, ".avg.pct_of_peak_sustained_elapsed") || ends_with(e, ".pct");
    bool rate = ends_with(e, ".sum.per_second"), clock = ends_with(e, ".avg.per_second");
    if (!(percent && c->scale == 0.01 && info->unit == UNIT_RATIO) &&
        !(rate && c->scale == 1 && info->unit == UNIT_BYTES_PER_SECOND) &&
        !(clock && c->scale == 1 && info->unit == UNIT_HERTZ))
        fail_msg("%s: %s does not give its unit", info->key, e);
    if (!c->cost || !strchr("lmh-", c->cost))
        fail_msg("%s: %s has no cost class", info->key, e);
    int matches = 0;
    for (size_t i = 0; i < sizeof all_chips / sizeof all_chips[0]; i++) {
        bool match = metric_chip_matches(c->chips, all_chips[i]);
        matches += match;
        if (match && strstr(e, "dramc__") && !str_starts_with(all_chips[i], "TU1"))
            fail_msg("%s: %s is for Turing only (100 times too low on GH100)", info->key, e);
    }
    if (matches == 0)
        fail_msg("%s: no known chip is meant by %s", info->key, c->chips);
}

static void test_pm_candidates(void **state)
{
    (void)state;
    EACH_METRIC(info)
    {
        for (const struct pm_candidate *c = info->pm; c && c->expression; c++) {
            check_candidate(info, c);
            for (const struct pm_candidate *d = info->pm; d < c; d++)
                assert_string_not_equal(d->expression, c->expression);
        }
    }
}

/* Only NVIDIA's own metric, in a form that needs one pass, and on the chips that have one. */
static void test_sm_throughput(void **state)
{
    (void)state;
    static const char *const none[] = {"GA100", "GB110", "GB202", "GB203",
                                       "GB205", "GB206", "GB207", "GB20B"};
    for (const struct pm_candidate *c = metric_info(METRIC_SM_THROUGHPUT)->pm; c->expression; c++) {
        assert_true(ends_with(c->expression, ".sm__throughput.avg.pct_of_peak_sustained_elapsed"));
        assert_non_null(strstr(c->expression, "Triage"));
        assert_false(str_starts_with(c->expression, "sm__throughput")); /* 10 to 20 passes */
        assert_int_equal(c->cost, 'h');
        for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
            assert_false(metric_chip_matches(c->chips, none[i]));
    }
}

static void test_gpm_and_dcgm(void **state)
{
    (void)state;
    EACH_METRIC(info)
    {
        const char *prefix =
            info->group == GROUP_DRIVER ? "DCGM_FI_DEV_" : "DCGM_FI_PROF_"; /* two families */
        assert_true(!info->dcgm || str_starts_with(info->dcgm, prefix));
        if (info->gpm_id == 0)
            continue;
        assert_true(info->gpm_id != 12); /* FP32: not the FMA pipe */
        assert_true(info->gpm_scale == (info->unit == UNIT_RATIO ? 0.01 : 1.024e6));
        for (int other = 0; other < m_; other++)
            assert_true(metric_info((enum metric)other)->gpm_id != info->gpm_id);
    }
    assert_int_equal(metric_info(METRIC_PCIE_TX)->gpm_id, 20);
    assert_int_equal(metric_info(METRIC_PCIE_RX)->gpm_id, 21);
    assert_int_equal(metric_info(METRIC_NVLINK_RX)->gpm_id, 60);
    assert_int_equal(metric_info(METRIC_NVLINK_TX)->gpm_id, 61);
    assert_int_equal(metric_info(METRIC_TENSOR_ACTIVE)->gpm_id, 5);
    assert_int_equal(metric_info(METRIC_DRAM_THROUGHPUT)->gpm_id, 10);
}

static void test_chip_lists(void **state)
{
    (void)state;
    assert_true(metric_chip_matches(NULL, "GH100"));
    assert_true(metric_chip_matches("", "GH100"));
    assert_true(metric_chip_matches("GH100", "GH100"));
    assert_false(metric_chip_matches("GH100", "GH10"));
    assert_false(metric_chip_matches("GH10", "GH100"));
    assert_false(metric_chip_matches("GH100", "gh100"));
    assert_true(metric_chip_matches("GA100 GH100", "GH100"));
    assert_true(metric_chip_matches("GB1*", "GB102"));
    assert_false(metric_chip_matches("GB1*", "GB202"));
    assert_false(metric_chip_matches("GB1*", "GB"));
    assert_true(metric_chip_matches("!TU1*", "GH100"));
    assert_false(metric_chip_matches("!TU1*", "TU116"));
    assert_false(metric_chip_matches("GA10* !GA100", "GA100"));
    assert_false(metric_chip_matches("!GA100 GA10*", "GA100")); /* "!" wins, in any order */
    assert_true(metric_chip_matches("GA10* !GA100", "GA10B"));
    assert_false(metric_chip_matches("GA10* !GA100", "GH100"));
    assert_true(metric_chip_matches("!GA100 !GA102", "GR100")); /* a chip nobody knows yet */
    assert_true(metric_chip_matches("*", "GR100"));
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s is missing: build the target docs", path);
    static char text[1 << 20];
    *len = fread(text, 1, sizeof text, f);
    fclose(f);
    return text;
}

static void check_made_file(const char *path, void (*make)(struct buf *))
{
    struct buf b = BUF_INIT;
    make(&b);
    assert_false(b.failed);
    size_t len = 0;
    const char *text = read_file(path, &len);
    bool same = len == b.len && memcmp(text, b.data, len) == 0;
    buf_fini(&b);
    if (!same)
        fail_msg("%s is not what the catalogue says: build the target docs", path);
}

static void test_made_files(void **state)
{
    (void)state;
    check_made_file(TEST_ROOT "/docs/METRICS.md", docs_markdown);
    check_made_file(TEST_ROOT "/man/smeff-metrics.7", docs_man);
}

/* roff: no line of text may begin with a control character, nothing outside ASCII. */
static void test_man_is_plain_roff(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    docs_man(&b);
    for (size_t i = 0; i < b.len; i++) {
        assert_true((unsigned char)b.data[i] < 0x80);
        if (i > 0 && b.data[i - 1] == '\n') {
            assert_int_not_equal(b.data[i], '\'');
            assert_true(b.data[i] != '.' || (b.data[i + 1] >= 'A' && b.data[i + 1] <= 'Z'));
        }
    }
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),          cmocka_unit_test(test_by_key_is_exact),
        cmocka_unit_test(test_texts),         cmocka_unit_test(test_groups_scopes_units),
        cmocka_unit_test(test_nsys_names),    cmocka_unit_test(test_rows_of_a_real_export),
        cmocka_unit_test(test_pm_candidates), cmocka_unit_test(test_sm_throughput),
        cmocka_unit_test(test_gpm_and_dcgm),  cmocka_unit_test(test_chip_lists),
        cmocka_unit_test(test_made_files),    cmocka_unit_test(test_man_is_plain_roff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
