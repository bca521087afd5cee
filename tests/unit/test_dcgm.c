/* SPDX-License-Identifier: MIT */
/* DCGM's names, units and labels, and nothing that was not measured. */
#include "support.h"

#include "exporter.h"

#include "show/dcgm.h"

/* To be released by buf_fini. */
static struct buf page(enum dcgm_names names)
{
    struct buf out = BUF_INIT;
    show_dcgm(&out, shot, totals, names, "box");
    assert_false(out.failed);
    check_format(buf_str(&out));
    return out;
}

static void as_a_person_has_read_it(void **state)
{
    (void)state;
    struct buf out = page(DCGM_BOTH);
    check_golden("dcgm.prom", &out);
    buf_fini(&out);
}

#define LABELS                                                                                     \
    "{gpu=\"0\",UUID=\"GPU-00000000-0000-0000-0000-000000000000\",pci_bus_id=\"00000000:00:00.0\"" \
    ",device=\"nvidia0\",modelName=\"NVIDIA H200\",hostname=\"box\""

static void old_names_have_old_units_and_both_hosts(void **state)
{
    (void)state;
    struct buf out = page(DCGM_LEGACY);
    const char *text = buf_str(&out);
    assert_contains(text, "\nDCGM_FI_DEV_SM_CLOCK" LABELS ",Hostname=\"box\"} 1980\n");
    assert_contains(text, "\nDCGM_FI_DEV_GPU_UTIL" LABELS ",Hostname=\"box\"} 100\n");
    assert_contains(text, "\nDCGM_FI_DEV_FB_TOTAL" LABELS ",Hostname=\"box\"} 143771\n");
    assert_contains(text, "UUID=\"GPU-two\",pci_bus_id=\"00000000:C1:00.0\"");
    assert_contains(text, "modelName=\"Odd \\\"card\\\" \\\\ two\",hostname=\"box\","
                          "Hostname=\"box\"} 29\n"); /* not 28.999999999999996 */
    assert_null(strstr(text, "_RATIO"));
    assert_null(strstr(text, "_HERTZ"));
    buf_fini(&out);
}

static void new_names_have_base_units_and_one_host(void **state)
{
    (void)state;
    struct buf out = page(DCGM_CURRENT);
    const char *text = buf_str(&out);
    assert_contains(text, "\nDCGM_FI_DEV_SM_CLOCK_HERTZ" LABELS "} 1980000000\n");
    assert_contains(text, "\nDCGM_FI_DEV_GPU_UTIL_RATIO" LABELS "} 1\n");
    assert_contains(text, "\nDCGM_FI_DEV_FB_CAPACITY_BYTES" LABELS "} 150754820096\n");
    assert_contains(text, "\nDCGM_FI_PROF_PCIE_RX_BYTES" LABELS "} ");
    assert_contains(text, "\nDCGM_FI_DEV_PCIE_LINK_GEN" LABELS "} 5\n");
    assert_null(strstr(text, "Hostname"));
    assert_null(strstr(text, "DCGM_FI_DEV_SM_CLOCK{"));
    assert_null(strstr(text, "DCGM_FI_PROF_SM_ACTIVE"));
    buf_fini(&out);
}

static void both_are_old_and_new_without_repetition(void **state)
{
    (void)state;
    struct buf out = page(DCGM_BOTH); /* check_format refuses a name that comes twice */
    assert_contains(buf_str(&out), "DCGM_FI_DEV_SM_CLOCK{");
    assert_contains(buf_str(&out), "DCGM_FI_DEV_SM_CLOCK_HERTZ{");
    assert_contains(buf_str(&out), "DCGM_FI_PROF_PCIE_RX_BYTES" LABELS ",Hostname=\"box\"} ");
    buf_fini(&out);
}

static double count_of(const char *text, const char *part)
{
    double n = 0;
    for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
        n++;
    return n;
}

/* DCGM left the fan in percent. */
static void what_kept_its_name_kept_its_unit(void **state)
{
    (void)state;
    value_set(&shot->gpus[0].metrics[METRIC_FAN].value, SOURCE_NVML, 1, 0.35);
    struct buf out = page(DCGM_CURRENT);
    assert_contains(buf_str(&out), "\nDCGM_FI_DEV_FAN_SPEED" LABELS "} 35\n");
    buf_fini(&out);
    out = page(DCGM_BOTH);
    assert_contains(buf_str(&out), "\nDCGM_FI_DEV_FAN_SPEED" LABELS ",Hostname=\"box\"} 35\n");
    buf_fini(&out);
}

static void what_is_not_measured_is_left_out(void **state)
{
    (void)state;
    struct buf out = page(DCGM_BOTH);
    const char *text = buf_str(&out);
    static const char *const never[] = {"FB_FREE", "ENC_UTIL", "DEC_UTIL", "XID", "REPLAY",
                                        "REMAP",   "VGPU",     "NVLINK",   "FAN", "nan"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_null(strstr(text, never[i]));
    /* of the second GPU only power and GPU-Util are known, both under two names */
    assert_near(count_of(text, "gpu=\"1\""), 4, 0);
    buf_fini(&out);

    shot->gpus[0].metrics[METRIC_SM_ACTIVE].value.state = VALUE_STALE;
    shot->gpus[0].metrics[METRIC_ENERGY].value.state = VALUE_STALE;
    out = page(DCGM_BOTH);
    assert_null(strstr(buf_str(&out), "DCGM_FI_PROF_SM_ACTIVE"));
    assert_null(strstr(buf_str(&out), "ENERGY"));
    buf_fini(&out);
    show_dcgm(&out, NULL, totals, DCGM_BOTH, "box");
    assert_int_equal(out.len, 0);
}

/* The whole interface: NVIDIA's own total, else both directions; never one of them alone. */
static void dram_is_both_directions(void **state)
{
    (void)state;
    struct metric_stats *m = shot->gpus[0].metrics;
    value_set_state(&m[METRIC_DRAM_THROUGHPUT].value, SOURCE_PM, VALUE_UNSUPPORTED, "no room");
    value_set(&m[METRIC_DRAM_READ].value, SOURCE_PM, 1, 0.5);
    value_set(&m[METRIC_DRAM_WRITE].value, SOURCE_PM, 1, 0.25);
    struct buf out = page(DCGM_LEGACY);
    assert_contains(buf_str(&out), "\nDCGM_FI_PROF_DRAM_ACTIVE" LABELS ",Hostname=\"box\"} 0.75\n");
    buf_fini(&out);
    value_set_state(&m[METRIC_DRAM_WRITE].value, SOURCE_PM, VALUE_BUSY, "lent");
    out = page(DCGM_LEGACY);
    assert_null(strstr(buf_str(&out), "DRAM_ACTIVE"));
    buf_fini(&out);
}

static void energy_is_in_millijoules(void **state)
{
    (void)state;
    char line[300];
    double joules = totals_of(totals, 0, METRIC_ENERGY).reading;
    struct buf out = page(DCGM_BOTH);
    snprintf(line, sizeof line,
             "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"
             "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" LABELS ",Hostname=\"box\"} %.0f\n",
             joules * 1000);
    assert_contains(buf_str(&out), line);
    buf_fini(&out);
}

static void a_host_that_is_not_known_is_no_label(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    show_dcgm(&out, shot, totals, DCGM_BOTH, "");
    assert_null(strstr(buf_str(&out), "ostname"));
    buf_fini(&out);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_exporter, tear_down_exporter)
    const struct CMUnitTest tests[] = {
        T(as_a_person_has_read_it),
        T(old_names_have_old_units_and_both_hosts),
        T(new_names_have_base_units_and_one_host),
        T(both_are_old_and_new_without_repetition),
        T(what_kept_its_name_kept_its_unit),
        T(what_is_not_measured_is_left_out),
        T(dram_is_both_directions),
        T(energy_is_in_millijoules),
        T(a_host_that_is_not_known_is_no_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
