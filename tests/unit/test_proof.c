/* SPDX-License-Identifier: MIT */
/* Proofs, and the doubts that are remembered of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#include "base/file.h"
#include "cmd/doubts.h"
#include "folder.h"
#include "judge/proof.h"

static struct proof p;

static void claim(enum metric metric, enum relation relation, double expected, double tolerance,
                  double pm, double gpm)
{
    const double read[] = {pm, gpm, NAN};
    p = (struct proof){.load = "gemv",
                       .metric = metric,
                       .relation = relation,
                       .expected = expected,
                       .tolerance = tolerance,
                       .how = "nobody knows"};
    for (int i = 0; i < PROOF_SOURCES; i++) {
        if (isnan(read[i]))
            value_set_state(&p.by[i].value, proof_source(i), VALUE_UNSUPPORTED, "not here");
        else
            value_set(&p.by[i].value, proof_source(i), 1, read[i]);
    }
    proof_judge(&p);
}

static void gives(enum proof_verdict pm, enum proof_verdict gpm, enum proof_verdict all)
{
    assert_int_equal(p.by[PROOF_PM].verdict, pm);
    assert_int_equal(p.by[PROOF_GPM].verdict, gpm);
    assert_int_equal(proof_verdict(&p), all);
}

static void each_source_is_compared_with_the_truth(void **state)
{
    (void)state;
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.509, 0.512);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
    assert_string_equal(p.by[PROOF_PM].reason, "");
    assert_string_equal(p.by[PROOF_GPM].reason,
                        "read 51.2 % during the load gemv, where 50.0 % ± 1.00 % is true");
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.491, NAN);
    gives(PROOF_PASS, PROOF_UNCHECKED, PROOF_PASS);
    assert_string_equal(p.by[PROOF_GPM].reason, "not here");
}

static void bounds(void **state)
{
    (void)state;
    claim(METRIC_GR_ACTIVE, RELATION_AT_LEAST, 0.95, 0, 0.96, 0.94);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
    assert_contains(p.by[PROOF_GPM].reason, "where at least 95.0 % is true");
    claim(METRIC_SM_ACTIVE, RELATION_AT_MOST, 0.01, 0, 0.009, 0.011);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
    claim(METRIC_DRAM_READ_BYTES, RELATION_AT_LEAST, 1e12, 0.02e12, 0.985e12, 0.97e12);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
}

/* Agreement proves less than the truth, and disagreement leaves both in doubt. */
static void without_a_known_value(void **state)
{
    (void)state;
    claim(METRIC_SM_ACTIVE, RELATION_EQUAL, NAN, NAN, 0.5, 0.52);
    gives(PROOF_AGREE, PROOF_AGREE, PROOF_AGREE);
    claim(METRIC_SM_ACTIVE, RELATION_EQUAL, NAN, NAN, 0.5, 0.54);
    gives(PROOF_FAIL, PROOF_FAIL, PROOF_FAIL);
    assert_contains(p.by[PROOF_PM].reason, "PM sampling read 50.0 % and GPM 54.0 %");
    claim(METRIC_PCIE_RX, RELATION_EQUAL, NAN, NAN, 100e9, 98e9);
    gives(PROOF_AGREE, PROOF_AGREE, PROOF_AGREE);
    claim(METRIC_PCIE_RX, RELATION_EQUAL, NAN, NAN, 100e9, 96e9);
    gives(PROOF_FAIL, PROOF_FAIL, PROOF_FAIL);
    claim(METRIC_SM_ACTIVE, RELATION_EQUAL, NAN, NAN, 0.5, NAN);
    gives(PROOF_UNCHECKED, PROOF_UNCHECKED, PROOF_UNCHECKED);
    assert_string_equal(p.by[PROOF_PM].reason, "nobody knows");
}

static void ask_nsys(double read, enum value_state state)
{
    value_set(&p.by[PROOF_NSYS].value, SOURCE_NSYS, 1, read);
    if (state != VALUE_OK)
        value_set_state(&p.by[PROOF_NSYS].value, SOURCE_NSYS, state, "known to be wrong");
    proof_judge(&p);
}

/* It gives whole percents, and some of its rows are known to be wrong. */
static void nsys_is_a_third_witness(void **state)
{
    (void)state;
    claim(METRIC_TENSOR_ACTIVE, RELATION_EQUAL, 0.93, 0.02, 0.93, NAN);
    ask_nsys(0.96, VALUE_OK);
    assert_int_equal(p.by[PROOF_NSYS].verdict, PROOF_PASS);
    ask_nsys(0.97, VALUE_OK);
    assert_int_equal(p.by[PROOF_NSYS].verdict, PROOF_FAIL);
    claim(METRIC_SM_ACTIVE, RELATION_EQUAL, NAN, NAN, 0.86, 0.86);
    ask_nsys(0.87, VALUE_OK);
    gives(PROOF_AGREE, PROOF_AGREE, PROOF_AGREE);
    ask_nsys(0.5, VALUE_OK);
    gives(PROOF_FAIL, PROOF_AGREE, PROOF_FAIL);
    assert_contains(p.by[PROOF_NSYS].reason, "PM sampling read 86.0 % and nsys 50.0 %");
    ask_nsys(0.5, VALUE_SUSPECT);
    gives(PROOF_AGREE, PROOF_AGREE, PROOF_AGREE);
    assert_int_equal(p.by[PROOF_NSYS].verdict, PROOF_UNCHECKED);
}

/* ---- doubts ---- */

static const char uuid[] = "GPU-00000000-0000-0000-0000-000000000001";

static void doubts_are_kept_for_one_gpu(void **state)
{
    (void)state;
    struct doubts d = {0}, back = {0};
    struct proof list[3];
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.6, 0.5);
    list[0] = p;
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.7, 0.5);
    list[1] = p;
    claim(METRIC_SM_ACTIVE, RELATION_EQUAL, 0.5, 0.01, 0.5, 0.9);
    list[2] = p;
    doubts_update(&d, list, 3);
    assert_int_equal(d.n, 2); /* the first reason of a source and metric */
    assert_int_equal(doubts_save(&d, uuid, NULL), OK);
    doubts_load(&back, uuid);
    assert_int_equal(back.n, 2);
    assert_int_equal(back.list[0].source, SOURCE_PM);
    assert_int_equal(back.list[0].metric, METRIC_OCCUPANCY);
    assert_string_equal(back.list[0].reason, "self-test: read 60.0 % during the load gemv, where "
                                             "50.0 % ± 1.00 % is true");
    assert_int_equal(back.list[1].source, SOURCE_GPM);
    doubts_load(&back, "GPU-00000000-0000-0000-0000-000000000002");
    assert_int_equal(back.n, 0);
}

/* Only the same load, read again, takes a doubt back; what was not read proves nothing. */
static void doubts_stay_until_they_are_disproved(void **state)
{
    (void)state;
    struct doubts d = {0};
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.6, NAN);
    doubts_update(&d, &p, 1);
    assert_int_equal(d.n, 1);
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, NAN, 0.5); /* not read by that source */
    doubts_update(&d, &p, 1);
    assert_int_equal(d.n, 1);
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.5, NAN);
    snprintf(p.load, sizeof p.load, "another");
    doubts_update(&d, &p, 1);
    assert_int_equal(d.n, 1);
    assert_contains(d.list[0].reason, "during the load gemv");
    doubts_update(&d, &p, 0); /* a self-test that ran nothing */
    assert_int_equal(d.n, 1);
    claim(METRIC_OCCUPANCY, RELATION_EQUAL, 0.5, 0.01, 0.5, NAN);
    doubts_update(&d, &p, 1);
    assert_int_equal(d.n, 0);
}

static void write_doubts_at(const char *dir, const char *driver, const char *metric)
{
    char path[400], text[300];
    assert_int_equal(file_make_folders(dir, 0755, NULL), OK);
    snprintf(path, sizeof path, "%s/selftest-%s.json", dir, uuid);
    snprintf(text, sizeof text,
             "{\"uuid\":\"%s\",\"driver\":\"%s\",\"failed\":[{\"metric\":\"%s\",\"source\":"
             "\"pm\",\"load\":\"l\",\"reason\":\"x\"}]}",
             uuid, driver, metric);
    assert_int_equal(file_replace(path, text, strlen(text), 0644, NULL), OK);
}

/* Where a user's own are: as anybody but root. */
static void folders_of_a_user(void **state)
{
    (void)state;
    char dir[300];
    struct doubts d;
    unsetenv("SMEFF_STATE");
    snprintf(dir, sizeof dir, "%s/xdg/smeff", folder);
    write_doubts_at(dir, "580.1.2", "sm_active");
    snprintf(dir, sizeof dir, "%s/home/.local/state/smeff", folder);
    write_doubts_at(dir, "580.1.2", "occupancy");
    snprintf(dir, sizeof dir, "%s/xdg", folder);
    setenv("XDG_STATE_HOME", dir, 1);
    snprintf(dir, sizeof dir, "%s/home", folder);
    setenv("HOME", dir, 1);
    if (getuid() == 0)
        assert_int_equal(seteuid(65534), 0);
    doubts_load(&d, uuid);
    assert_int_equal(d.n, 1);
    assert_int_equal(d.list[0].metric, METRIC_SM_ACTIVE);
    setenv("XDG_STATE_HOME", "relative", 1); /* is to be ignored */
    doubts_load(&d, uuid);
    assert_int_equal(d.n, 1);
    assert_int_equal(d.list[0].metric, METRIC_OCCUPANCY);
    unsetenv("HOME");
    doubts_load(&d, uuid); /* nothing to look for but the system's */
    assert_int_equal(seteuid(getuid()), 0);
    setenv("SMEFF_STATE", folder, 1);
}

static void write_doubts(const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/selftest-%s.json", folder, uuid);
    assert_int_equal(file_replace(path, text, strlen(text), 0644, NULL), OK);
}

static void doubts_that_cannot_be_understood(void **state)
{
    (void)state;
    struct doubts d;
    static const char *const texts[] = {
        "", "{", "[]", "{\"uuid\":\"GPU-00000000-0000-0000-0000-000000000001\"}",
        /* another driver's: what is true of one need not be of the next */
        "{\"uuid\":\"GPU-00000000-0000-0000-0000-000000000001\",\"driver\":\"1.2.3\","
        "\"failed\":[{\"metric\":\"occupancy\",\"source\":\"pm\",\"reason\":\"x\"}]}",
        "{\"uuid\":\"GPU-00000000-0000-0000-0000-000000000001\",\"driver\":\"580.1.2\",\"failed\":["
        "7,"
        "{\"metric\":\"nonsense\",\"source\":\"pm\",\"load\":\"l\",\"reason\":\"x\"},"
        "{\"metric\":\"occupancy\",\"source\":\"nsys\",\"load\":\"l\",\"reason\":\"x\"},"
        "{\"metric\":\"occupancy\",\"source\":\"pm\"}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_doubts(texts[i]);
        doubts_load(&d, uuid);
        assert_int_equal(d.n, 0);
    }
    assert_int_equal(doubts_save(&d, "../../etc/passwd", NULL), ERR_IO);
    assert_int_equal(doubts_save(&d, "", NULL), ERR_IO);
    setenv("SMEFF_PROC", "/nonexistent", 1); /* a doubt of an unknown driver would never end */
    assert_int_equal(doubts_save(&d, uuid, NULL), ERR_NOT_FOUND);
    setenv("SMEFF_PROC", folder, 1);
}

static void doubts_mark_a_plan(void **state)
{
    (void)state;
    struct plan_series series[METRIC_COUNT];
    const struct plan_series plain[] = {
        {METRIC_OCCUPANCY, "occupancy", UNIT_RATIO, VALUE_OK, "", "c", 0},
        {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0},
        {METRIC_FMA_ACTIVE, "fma_active", UNIT_RATIO, VALUE_UNSUPPORTED, "no", "", 0}};
    struct event_plan plan = {.gpu = 0, .source = SOURCE_PM, .n = 3, .series = plain};
    struct doubts d = {.n = 2,
                       .list = {{SOURCE_PM, METRIC_OCCUPANCY, "l", "read 3"},
                                {SOURCE_PM, METRIC_FMA_ACTIVE, "l", "read 4"}}};
    struct event_plan marked = doubts_apply(&d, &plan, series);
    assert_int_equal(marked.n, 3);
    assert_int_equal(marked.series[0].state, VALUE_SUSPECT);
    assert_string_equal(marked.series[0].reason, "read 3");
    assert_string_equal(marked.series[0].counter, "c");
    assert_int_equal(marked.series[1].state, VALUE_OK);
    assert_int_equal(marked.series[2].state, VALUE_UNSUPPORTED); /* there is no number to doubt */
    plan.source = SOURCE_GPM;
    marked = doubts_apply(&d, &plan, series);
    assert_int_equal(marked.series[0].state, VALUE_OK);
}

static int set_up(void **state)
{
    static const char version[] = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1.2  x\n";
    char path[200];
    int rc = make_folder(state);
    chmod(folder, 0755);
    snprintf(path, sizeof path, "%s/proc/driver/nvidia", folder);
    file_make_folders(path, 0755, NULL);
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", folder);
    file_replace(path, version, strlen(version), 0644, NULL);
    setenv("SMEFF_PROC", folder, 1);
    return rc ? rc : setenv("SMEFF_STATE", folder, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_source_is_compared_with_the_truth),
        cmocka_unit_test(bounds),
        cmocka_unit_test(without_a_known_value),
        cmocka_unit_test(nsys_is_a_third_witness),
        cmocka_unit_test(doubts_are_kept_for_one_gpu),
        cmocka_unit_test(doubts_stay_until_they_are_disproved),
        cmocka_unit_test(folders_of_a_user),
        cmocka_unit_test(doubts_that_cannot_be_understood),
        cmocka_unit_test(doubts_mark_a_plan),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
