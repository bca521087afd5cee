/* SPDX-License-Identifier: MIT */
/* Proofs, and the doubts that are remembered of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support.h"

#include "base/file.h"
#include "cmd/doubts.h"
#include "folder.h"
#include "judge/proof.h"

static struct proof p;

static void claim(enum metric metric, enum proof_relation relation, double expected,
                  double tolerance, double pm, double gpm)
{
    const double read[] = {pm, gpm};
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
    claim(METRIC_OCCUPANCY, PROOF_EQUAL, 0.5, 0.01, 0.509, 0.512);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
    assert_string_equal(p.by[PROOF_PM].reason, "");
    assert_string_equal(p.by[PROOF_GPM].reason,
                        "read 51.2 % during the load gemv, where 50.0 % ± 1.00 % is true");
    claim(METRIC_OCCUPANCY, PROOF_EQUAL, 0.5, 0.01, 0.491, NAN);
    gives(PROOF_PASS, PROOF_UNCHECKED, PROOF_PASS);
    assert_string_equal(p.by[PROOF_GPM].reason, "not here");
}

static void bounds(void **state)
{
    (void)state;
    claim(METRIC_GR_ACTIVE, PROOF_AT_LEAST, 0.95, 0, 0.96, 0.94);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
    assert_contains(p.by[PROOF_GPM].reason, "where at least 95.0 % is true");
    claim(METRIC_SM_ACTIVE, PROOF_AT_MOST, 0.01, 0, 0.009, 0.011);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
    claim(METRIC_DRAM_READ_BYTES, PROOF_AT_LEAST, 1e12, 0.02e12, 0.985e12, 0.97e12);
    gives(PROOF_PASS, PROOF_FAIL, PROOF_FAIL);
}

/* Agreement proves less than the truth, and disagreement leaves both in doubt. */
static void without_a_known_value(void **state)
{
    (void)state;
    claim(METRIC_SM_ACTIVE, PROOF_EQUAL, NAN, NAN, 0.5, 0.52);
    gives(PROOF_AGREE, PROOF_AGREE, PROOF_AGREE);
    claim(METRIC_SM_ACTIVE, PROOF_EQUAL, NAN, NAN, 0.5, 0.54);
    gives(PROOF_FAIL, PROOF_FAIL, PROOF_FAIL);
    assert_contains(p.by[PROOF_PM].reason, "PM sampling read 50.0 % and GPM 54.0 %");
    claim(METRIC_PCIE_RX, PROOF_EQUAL, NAN, NAN, 100e9, 98e9);
    gives(PROOF_AGREE, PROOF_AGREE, PROOF_AGREE);
    claim(METRIC_PCIE_RX, PROOF_EQUAL, NAN, NAN, 100e9, 96e9);
    gives(PROOF_FAIL, PROOF_FAIL, PROOF_FAIL);
    claim(METRIC_SM_ACTIVE, PROOF_EQUAL, NAN, NAN, 0.5, NAN);
    gives(PROOF_UNCHECKED, PROOF_UNCHECKED, PROOF_UNCHECKED);
    assert_string_equal(p.by[PROOF_PM].reason, "nobody knows");
}

/* ---- doubts ---- */

static const char uuid[] = "GPU-00000000-0000-0000-0000-000000000001";

static void doubts_are_kept_for_one_gpu(void **state)
{
    (void)state;
    struct doubts d = {0}, back = {0};
    struct proof list[3];
    claim(METRIC_OCCUPANCY, PROOF_EQUAL, 0.5, 0.01, 0.6, 0.5);
    list[0] = p;
    claim(METRIC_OCCUPANCY, PROOF_EQUAL, 0.5, 0.01, 0.7, 0.5);
    list[1] = p;
    claim(METRIC_SM_ACTIVE, PROOF_EQUAL, 0.5, 0.01, 0.5, 0.9);
    list[2] = p;
    doubts_collect(&d, list, 3);
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
    d.n = 0; /* a self-test that passes takes them back */
    assert_int_equal(doubts_save(&d, uuid, NULL), OK);
    doubts_load(&back, uuid);
    assert_int_equal(back.n, 0);
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
        "{\"uuid\":\"GPU-00000000-0000-0000-0000-000000000001\",\"driver\":\"\",\"failed\":[7,"
        "{\"metric\":\"nonsense\",\"source\":\"pm\",\"reason\":\"x\"},"
        "{\"metric\":\"occupancy\",\"source\":\"nsys\",\"reason\":\"x\"},"
        "{\"metric\":\"occupancy\",\"source\":\"pm\"}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_doubts(texts[i]);
        doubts_load(&d, uuid);
        assert_int_equal(d.n, 0);
    }
    assert_int_equal(doubts_save(&d, "../../etc/passwd", NULL), ERR_IO);
    assert_int_equal(doubts_save(&d, "", NULL), ERR_IO);
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
                       .list = {{SOURCE_PM, METRIC_OCCUPANCY, "read 3"},
                                {SOURCE_PM, METRIC_FMA_ACTIVE, "read 4"}}};
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
    int rc = make_folder(state);
    return rc ? rc : setenv("SMEFF_STATE", folder, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_source_is_compared_with_the_truth),
        cmocka_unit_test(bounds),
        cmocka_unit_test(without_a_known_value),
        cmocka_unit_test(doubts_are_kept_for_one_gpu),
        cmocka_unit_test(doubts_that_cannot_be_understood),
        cmocka_unit_test(doubts_mark_a_plan),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
