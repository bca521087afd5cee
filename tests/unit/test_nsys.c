/* SPDX-License-Identifier: MIT */
/* The rules of reading an nsys export, each on a real file or a real file changed. */
#include <math.h>

#include "support.h"

#include "nsys_file.h"

static struct metric_stats *metric(struct snapshot *s, size_t gpu, enum metric m)
{
    assert_true(gpu < s->n_gpus);
    return &s->gpus[gpu].metrics[m];
}

static void check_mean(struct snapshot *s, enum metric m, double mean)
{
    const struct metric_stats *x = metric(s, 0, m);
    if (x->value.state != VALUE_OK)
        fail_msg("%s is %s: %s", metric_info(m)->key, value_state_name(x->value.state),
                 x->value.reason);
    assert_near(x->value.v, mean, 1e-12);
}

static void check_state(struct snapshot *s, enum metric m, enum value_state state,
                        const char *reason)
{
    const struct value *v = &metric(s, 0, m)->value;
    if (v->state != state || !strstr(v->reason, reason))
        fail_msg("%s is %s (%s), expected %s (… %s …)", metric_info(m)->key,
                 value_state_name(v->state), v->reason, value_state_name(state), reason);
}

/* The means as `SELECT avg(value)` of the sqlite3 shell gives them. */
static void real_files_give_the_means_of_their_rows(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    check_mean(s, METRIC_GR_ACTIVE, 0.994);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    check_mean(s, METRIC_SM_ISSUE, 0.10);
    check_mean(s, METRIC_TENSOR_ACTIVE, 0.03);
    check_mean(s, METRIC_DRAM_READ, 82.35384615384615 / 100);
    check_mean(s, METRIC_DRAM_WRITE, 0.01);
    assert_near(metric(s, 0, METRIC_GPC_CLOCK)->value.v, 1803738828.86, 0.01);
    check_state(s, METRIC_SM_THROUGHPUT, VALUE_UNSUPPORTED, "metric set");
    check_state(s, METRIC_OCCUPANCY, VALUE_SUSPECT, "PM sampling");
    check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED, "does not have the counter");
    assert_int_equal(metric(s, 0, METRIC_SM_ACTIVE)->samples, 65);
    assert_near(metric(s, 0, METRIC_SM_ACTIVE)->resolution, 0.01, 0);
    assert_int_equal(s->n_notes, 0);
    snapshot_destroy(s);

    s = snapshot_of(MATMUL, false);
    check_mean(s, METRIC_TENSOR_ACTIVE, 0.936125);
    check_mean(s, METRIC_DRAM_READ, 0.156625);
    snapshot_destroy(s);

    s = snapshot_of(IDLE, false);
    check_mean(s, METRIC_GR_ACTIVE, 0.01);
    check_mean(s, METRIC_SM_ACTIVE, 0);
    snapshot_destroy(s);
}

static void identity_time_rate_and_coverage(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    assert_int_equal(s->n_gpus, 1);
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_string_equal(g->name, "NVIDIA H200");
    assert_string_equal(g->chip, "GH100");
    assert_string_equal(g->pci_bus, "0000:00:06.0");
    assert_near(g->rate_hz, 50, 0.01);
    assert_int_equal(g->samples, 65);
    assert_near(g->coverage, 1, 1e-9);
    assert_int_equal(g->gaps, 0);
    assert_near(gpu_snapshot_window_s(g), 1.3, 0.001);
    /* session start 06:17:18.769865363 + 0.02 … 1.30 s */
    assert_true(g->t0_ns > INT64_C(1796019438769000000) && g->t0_ns < INT64_C(1796019438770000000));
    assert_int_equal(s->time_ns, g->t1_ns);
    snapshot_destroy(s);
}

static size_t parts_of(const struct nsys_name *n)
{
    size_t count = 1;
    for (const char *const *plus = n->plus; plus && *plus; plus++)
        count++;
    return count;
}

static const char *part(const struct nsys_name *n, size_t i)
{
    static const char *const nothing[] = {"nothing", "nothing either", "nor this"};
    return i + 1 < parts_of(n) ? n->plus[i] : nothing[i];
}

/* Every name that the catalogue knows is found under any id, and under no other name. */
static void every_catalogue_name_is_found_whole(void **state)
{
    (void)state;
    for (int m = 0; m < METRIC_COUNT; m++) {
        for (const struct nsys_name *n = metric_info((enum metric)m)->nsys; n && n->name; n++) {
            char *sql = sqlite3_mprintf(
                "DELETE FROM TARGET_INFO_GPU_METRICS WHERE metricId NOT IN (2,3,4,5);"
                "UPDATE TARGET_INFO_GPU_METRICS SET metricName=%Q WHERE metricId=3;"
                "UPDATE TARGET_INFO_GPU_METRICS SET metricName=%Q WHERE metricId=2;"
                "UPDATE TARGET_INFO_GPU_METRICS SET metricName=%Q WHERE metricId=4;"
                "UPDATE TARGET_INFO_GPU_METRICS SET metricName=%Q WHERE metricId=5;"
                "UPDATE GPU_METRICS SET value=value/4 WHERE metricId IN (2,3) AND %d;"
                "UPDATE GPU_METRICS SET value=1000000 WHERE metricId IN (2,3) AND %d;"
                "UPDATE GENERIC_EVENT_TYPE_FIELDS SET size=4 WHERE fieldIdx IN (2,3) AND %d;"
                "DELETE FROM GENERIC_EVENT_TYPE_FIELDS WHERE %d",
                n->name, part(n, 0), part(n, 1), part(n, 2), n->plus != NULL, n->scale == 1,
                n->scale == 1, !strchr(n->name, '['));
            struct snapshot *s = snapshot_of(changed(DECODE, sql), false);
            sqlite3_free(sql);
            const struct metric_stats *x = metric(s, 0, (enum metric)m);
            /* SM active alone, or the sum of (86.3, 99.4) ÷ 4, whole percents, and 10 and 3 */
            double expected = n->scale == 1      ? 1e6
                              : parts_of(n) == 4 ? 0.21 + 0.244 + 0.10 + 0.03
                              : n->plus != NULL  ? 0.21 + 0.244
                                                 : 86.3076923076923 / 100;
            if (!value_has_number(&x->value) || fabs(x->value.v - expected) > 0.0045 * expected)
                fail_msg("\"%s\" as %s: %s %g", n->name, metric_info((enum metric)m)->key,
                         x->value.reason, x->value.v);
            for (int k = 0; k < METRIC_COUNT; k++)
                if (k != m && value_has_number(&metric(s, 0, (enum metric)k)->value))
                    fail_msg("\"%s\" also became %s", n->name, metric_info((enum metric)k)->key);
            snapshot_destroy(s);

            /* part of the name, another unit, another case: not the metric */
            static const char *const changes[] = {"substr(metricName,2)", "metricName||' '",
                                                  "replace(metricName,'[','(')",
                                                  "metricName||' [Avg]'"};
            for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
                if (k == 2 && !strchr(n->name, '['))
                    continue;
                sql = sqlite3_mprintf("DELETE FROM TARGET_INFO_GPU_METRICS WHERE metricId<>3;"
                                      "UPDATE TARGET_INFO_GPU_METRICS SET metricName=%Q;"
                                      "UPDATE TARGET_INFO_GPU_METRICS SET metricName=%s",
                                      n->name, changes[k]);
                s = snapshot_of(changed(DECODE, sql), false);
                sqlite3_free(sql);
                if (value_has_number(&metric(s, 0, (enum metric)m)->value))
                    fail_msg("%s of \"%s\" passed as %s", changes[k], n->name,
                             metric_info((enum metric)m)->key);
                snapshot_destroy(s);
            }
        }
    }
}

static void ids_are_not_trusted_when_names_move(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU_METRICS SET metricId=23-metricId "
                        "WHERE metricId IN (3,20);"
                        "UPDATE GPU_METRICS SET metricId=23-metricId WHERE metricId IN (3,20);"
                        "UPDATE GENERIC_EVENT_TYPE_FIELDS SET fieldIdx=23-fieldIdx "
                        "WHERE fieldIdx IN (3,20)"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    check_mean(s, METRIC_PCIE_RX_THROUGHPUT, 0.01);
    snapshot_destroy(s);
}

/* A second GPU whose set numbers its metrics otherwise. */
static void gpus_are_kept_apart_by_type_id(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "INSERT INTO GPU_METRICS SELECT rawTimestamp, timestamp+7, typeId+1, 40-metricId, "
                "value/2 FROM GPU_METRICS WHERE metricId IN (3,18);"
                "INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+1, sourceId, typeName, "
                "40-metricId, metricName FROM TARGET_INFO_GPU_METRICS WHERE metricId IN (3,18);"
                "INSERT INTO GENERIC_EVENT_TYPE_FIELDS(typeId,fieldIdx,fieldNameId,offset,size,"
                "type) SELECT typeId+1, 40-fieldIdx, 0, 0, size, type FROM "
                "GENERIC_EVENT_TYPE_FIELDS WHERE fieldIdx IN (3,18);"
                "INSERT INTO TARGET_INFO_GPU(vmId,id,name,uuid) SELECT vmId,1,'second','u2' FROM "
                "TARGET_INFO_GPU"),
        false);
    assert_int_equal(s->n_gpus, 2);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_string_equal(s->gpus[1].name, "second");
    assert_int_equal(s->gpus[1].index, 1);
    const struct value *v = &metric(s, 1, METRIC_SM_ACTIVE)->value;
    assert_int_equal(v->state, VALUE_OK);
    assert_near(v->v, 0.43, 1e-9);
    assert_int_equal(metric(s, 1, METRIC_GR_ACTIVE)->value.state, VALUE_UNSUPPORTED);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_int_equal(s->gpus[1].samples, 65);
    snapshot_destroy(s);
}

static void all_lists_the_other_metrics_of_the_file(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    assert_int_equal(s->gpus[0].n_extras, 0);
    snapshot_destroy(s);
    s = snapshot_of(DECODE, true);
    assert_int_equal(s->gpus[0].n_extras, 11);
    for (size_t i = 0; i < 11; i++) {
        const struct extra_stats *x = &s->gpus[0].extras[i];
        if (strcmp(x->name, "Unallocated Warps in Active SMs [Avg]") != 0)
            continue;
        /* the export sign-extends 4-byte values: -401,822,222.78 is 3,893,145,073.2 */
        assert_int_equal(x->stats.value.state, VALUE_OK);
        assert_near(x->stats.value.v, 4294967296.0 - 401822222.784615, 0.001);
    }
    snapshot_destroy(s);
}

static void without_any_match_there_is_no_number(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU_METRICS SET metricName='x'||metricId"), false);
    for (int m = 0; m < METRIC_COUNT; m++)
        assert_false(value_has_number(&metric(s, 0, (enum metric)m)->value));
    check_state(s, METRIC_SM_ACTIVE, VALUE_UNSUPPORTED, "metric set");
    snapshot_destroy(s);

    /* an empty name table is a name table */
    s = snapshot_of(changed(DECODE, "DELETE FROM TARGET_INFO_GPU_METRICS"), false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_UNSUPPORTED, "metric set");
    assert_true(has_note(s, "metric id without a name"));
    snapshot_destroy(s);
}

static void without_the_name_table_only_what_was_verified(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(changed(DECODE, "DROP TABLE TARGET_INFO_GPU_METRICS"), false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_true(has_note(s, "names come from GENERIC_EVENT_TYPE_FIELDS"));
    snapshot_destroy(s);

    static const char without_both[] = "DROP TABLE TARGET_INFO_GPU_METRICS;"
                                       "DROP TABLE GENERIC_EVENT_TYPE_FIELDS;";
    s = snapshot_of(changed(DECODE, without_both), false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    check_mean(s, METRIC_DRAM_READ, 82.35384615384615 / 100);
    assert_true(has_note(s, "ids are used that were verified"));
    snapshot_destroy(s);

    /* another version, set, chip or list of ids: nothing, and a warning */
    static const char *const others[] = {
        "UPDATE META_DATA_EXPORT SET value='3.21.0' WHERE name='EXPORT_SCHEMA_VERSION'",
        "UPDATE META_DATA_CAPTURE SET value='6' WHERE name LIKE '%METRIC_SET_INDEX'",
        "UPDATE TARGET_INFO_GPU SET chipName='GB202'",
        "DELETE FROM GPU_METRICS WHERE metricId=21",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char sql[512];
        snprintf(sql, sizeof sql, "%s%s", without_both, others[i]);
        s = snapshot_of(changed(DECODE, sql), false);
        check_state(s, METRIC_SM_ACTIVE, VALUE_UNSUPPORTED, "ids are not trusted");
        assert_true(has_note(s, "no values"));
        snapshot_destroy(s);
    }
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(" TYPE_ID
                                    "," TYPE_ID ",'',3,'Something else [Throughput %]')"),
                    false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_FAILED, "contradicts itself");
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(" TYPE_ID
                                    "," TYPE_ID ",'',99,'SMs Active [Throughput %]')"),
                    false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_FAILED, "contradicts itself");
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "INSERT INTO GENERIC_EVENT_TYPE_FIELDS(typeId,fieldIdx,"
                                    "fieldNameId,offset,size,type) VALUES(" TYPE_ID ",3,0,0,4,2)"),
                    false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_FAILED, "contradicts itself");
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "INSERT INTO GPU_METRICS SELECT rawTimestamp,timestamp,typeId,"
                                    "metricId,1 FROM GPU_METRICS WHERE metricId=3 LIMIT 5"),
                    false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "two values");
    assert_near(metric(s, 0, METRIC_SM_ACTIVE)->value.v, 86.3076923076923 / 100, 1e-12);
    snapshot_destroy(s);
}

static void values_follow_their_declared_storage(void **state)
{
    (void)state;
    static const struct {
        int type, size;
        long long payload;
        double expected; /* NaN = refused */
    } cases[] = {
        {1, 1, 0, 0},
        {1, 1, 255, 255},
        {1, 1, 256, NAN},
        {1, 1, -1, NAN},
        {1, 4, -401822222, 3893145074.0},
        {1, 4, 4294967295, 4294967295.0},
        {1, 4, 4294967296, NAN},
        {1, 4, -2147483649, NAN},
        {0, 1, -5, -5},
        {0, 1, 200, NAN},
        {0, 4, -401822222, -401822222},
        {2, 4, 1069547520, 1.5},          /* bits of 1.5f */
        {2, 4, 2139095040, NAN},          /* +inf */
        {3, 8, 4609434218613702656, 1.5}, /* bits of 1.5 */
        {3, 8, 9221120237041090560, NAN}, /* nan */
        {1, 8, -1, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sql[400];
        snprintf(sql, sizeof sql,
                 "UPDATE TARGET_INFO_GPU_METRICS SET metricName='N [Units]' WHERE metricId=3;"
                 "UPDATE GENERIC_EVENT_TYPE_FIELDS SET type=%d,size=%d WHERE fieldIdx=3;"
                 "UPDATE GPU_METRICS SET value=%lld WHERE metricId=3",
                 cases[i].type, cases[i].size, cases[i].payload);
        struct snapshot *s = snapshot_of(changed(DECODE, sql), true);
        const struct extra_stats *x = NULL;
        for (size_t k = 0; k < s->gpus[0].n_extras; k++)
            if (strcmp(s->gpus[0].extras[k].name, "N [Units]") == 0)
                x = &s->gpus[0].extras[k];
        assert_non_null(x);
        if (isnan(cases[i].expected)) {
            if (value_has_number(&x->stats.value))
                fail_msg("case %zu reads %g", i, x->stats.value.v);
            assert_contains(x->stats.value.reason, "no valid numbers");
        } else if (fabs(x->stats.value.v - cases[i].expected) > 1e-9) {
            fail_msg("case %zu reads %g", i, x->stats.value.v);
        }
        snapshot_destroy(s);
    }
}

static void impossible_percents_and_clocks_are_suspect(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "UPDATE GPU_METRICS SET value=250 WHERE metricId=3 AND timestamp<100000000"),
        false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "above 100 %");
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET value=-3 WHERE metricId=3 AND "
                                    "timestamp<100000000"),
                    false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "5 of 65 values");
    assert_true(metric(s, 0, METRIC_SM_ACTIVE)->min > 0.8);
    snapshot_destroy(s);
    /* a clock in megahertz would be a million times too slow: refused, never scaled by guess */
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET value=1803 WHERE metricId=0"), false);
    check_state(s, METRIC_GPC_CLOCK, VALUE_FAILED, "no valid numbers");
    snapshot_destroy(s);
}

static void wrapped_32_bit_counts_are_recognised(void **state)
{
    (void)state;
    static const char name[] = "Unallocated Warps in Active SMs [Avg]";
    static const struct {
        const char *sql;
        enum value_state state;
    } cases[] = {
        {"", VALUE_OK},
        /* 107.9 warps a cycle cannot be 0.89e9 in 36e6 cycles: 3e9 were lost to the wrap */
        {"UPDATE GPU_METRICS SET value=value-3000000000+4294967296 WHERE metricId=16",
         VALUE_SUSPECT},
        /* nothing to check against, and above 2^31 */
        {"UPDATE TARGET_INFO_GPU_METRICS SET metricName='other' WHERE metricId=17", VALUE_SUSPECT},
        {"UPDATE TARGET_INFO_GPU_METRICS SET metricName='other' WHERE metricId=17;"
         "UPDATE GPU_METRICS SET value=1000 WHERE metricId=16",
         VALUE_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct snapshot *s = snapshot_of(changed(DECODE, cases[i].sql), true);
        bool found = false;
        for (size_t k = 0; k < s->gpus[0].n_extras; k++) {
            const struct extra_stats *x = &s->gpus[0].extras[k];
            if (strcmp(x->name, name) != 0)
                continue;
            found = true;
            if (x->stats.value.state != cases[i].state)
                fail_msg("case %zu is %s: %s", i, value_state_name(x->stats.value.state),
                         x->stats.value.reason);
        }
        assert_true(found);
        snapshot_destroy(s);
    }
}

static void cells_that_are_no_numbers_are_left_out_and_told(void **state)
{
    (void)state;
    static const char *const cells[] = {"'86'", "x'38'", "86.5", "'a lot'"};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char sql[600];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE t AS SELECT * FROM GPU_METRICS; DROP TABLE GPU_METRICS;"
                 "CREATE TABLE GPU_METRICS(rawTimestamp,timestamp,typeId,metricId,value);"
                 "INSERT INTO GPU_METRICS SELECT * FROM t;"
                 "UPDATE GPU_METRICS SET value=%s WHERE metricId=3 AND timestamp<100000000",
                 cells[i]);
        struct snapshot *s = snapshot_of(changed(DECODE, sql), false);
        check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "5 of 65 values");
        assert_int_equal(metric(s, 0, METRIC_SM_ACTIVE)->samples, 60);
        assert_true(metric(s, 0, METRIC_SM_ACTIVE)->min >= 0.86);
        check_mean(s, METRIC_GR_ACTIVE, 0.994);
        snapshot_destroy(s);
    }
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "CREATE TABLE t AS SELECT * FROM GPU_METRICS; DROP TABLE GPU_METRICS;"
                "CREATE TABLE GPU_METRICS(rawTimestamp,timestamp,typeId,metricId,value);"
                "INSERT INTO GPU_METRICS SELECT * FROM t;"
                "UPDATE GPU_METRICS SET value=NULL WHERE metricId=3;"
                "UPDATE GPU_METRICS SET timestamp='soon' WHERE metricId=4 AND timestamp<50000000;"
                "UPDATE GPU_METRICS SET typeId=NULL WHERE metricId=5 AND timestamp<50000000"),
        false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_FAILED, "65 of 65 values");
    assert_true(isnan(metric(s, 0, METRIC_SM_ACTIVE)->min));
    assert_int_equal(metric(s, 0, METRIC_SM_ISSUE)->samples, 63);
    assert_true(has_note(s, "4 rows of GPU_METRICS have no usable time or typeId"));
    snapshot_destroy(s);
}

static void gaps_and_coverage_are_computed(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "DELETE FROM GPU_METRICS WHERE timestamp BETWEEN 300000000 AND 700000000"),
        false);
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_int_equal(g->samples, 45);
    assert_int_equal(g->gaps, 1);
    assert_near(g->longest_gap_s, 0.40, 0.001);
    assert_near(g->coverage, 45.0 / 65, 0.001);
    assert_near(g->rate_hz, 50, 0.01);
    snapshot_destroy(s);
}

static void order_of_rows_does_not_matter(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY timestamp DESC;"
                        "DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_int_equal(s->gpus[0].gaps, 0);
    assert_near(s->gpus[0].coverage, 1, 1e-9);
    assert_true(has_note(s, "sorted"));
    snapshot_destroy(s);
    /* metric by metric instead of sample by sample */
    s = snapshot_of(
        changed(DECODE, "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY metricId,timestamp;"
                        "DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_int_equal(s->gpus[0].samples, 65);
    snapshot_destroy(s);
}

static void negative_and_extreme_times_are_survived(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp-500000000"), false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=-9223372036854775808 WHERE "
                                    "timestamp<50000000;"
                                    "UPDATE GPU_METRICS SET timestamp=9223372036854775807 WHERE "
                                    "timestamp BETWEEN 50000000 AND 100000000"),
                    false);
    assert_true(has_note(s, "no usable time"));
    assert_int_equal(s->gpus[0].samples, 60);
    snapshot_destroy(s);
}

static void one_sample_has_values_but_no_rate(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "DELETE FROM GPU_METRICS WHERE timestamp>21000000"), false);
    const struct gpu_snapshot *g = &s->gpus[0];
    assert_int_equal(g->samples, 1);
    assert_near(g->rate_hz, 0, 0);
    assert_true(isnan(g->coverage));
    assert_near(metric(s, 0, METRIC_SM_ACTIVE)->value.v, metric(s, 0, METRIC_SM_ACTIVE)->p95, 0);
    snapshot_destroy(s);
}

static void diagnostics_are_shown_and_lost_data_is_suspect(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "INSERT INTO DIAGNOSTIC_EVENT VALUES(5,1,2,3,"
                                    "'GPU Metrics [0]: Sampling buffer overflow',1),"
                                    "(6,1,2,2,'a warning of nsys',1)"),
                    false);
    assert_true(has_note(s, "Sampling buffer overflow"));
    assert_true(has_note(s, "a warning of nsys"));
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "samples were lost");
    snapshot_destroy(s);
}

static void older_schemas_are_probed(void **state)
{
    (void)state;
    /* 2023.4 (schema 3.7.2): no rawTimestamp, no field descriptions */
    struct snapshot *s =
        snapshot_of(changed(DECODE, "ALTER TABLE GPU_METRICS DROP COLUMN rawTimestamp;"
                                    "DELETE FROM GENERIC_EVENT_TYPE_FIELDS;"
                                    "UPDATE META_DATA_EXPORT SET value='3.7.2' WHERE "
                                    "name='EXPORT_SCHEMA_VERSION'"),
                    true);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_near(metric(s, 0, METRIC_GPC_CLOCK)->value.v, 1803738828.86, 0.01);
    for (size_t i = 0; i < s->gpus[0].n_extras; i++) /* counts cannot be decoded there */
        if (strstr(s->gpus[0].extras[i].name, "[Avg]"))
            assert_int_equal(s->gpus[0].extras[i].stats.value.state, VALUE_FAILED);
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "UPDATE META_DATA_EXPORT SET value='4.0.0' WHERE "
                                    "name='EXPORT_SCHEMA_VERSION'"),
                    false);
    assert_true(has_note(s, "newer than any"));
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "DROP TABLE TARGET_INFO_SESSION_START_TIME"), false);
    assert_true(has_note(s, "no session start time"));
    assert_true(s->time_ns < 2000000000);
    snapshot_destroy(s);
    s = snapshot_of(changed(DECODE, "UPDATE META_DATA_EXPORT SET value='true' WHERE "
                                    "name='EXPORT_PARAM_TIME_NORMALIZE';"
                                    "UPDATE GPU_METRICS SET timestamp=timestamp+"
                                    "1796019438769865363"),
                    false);
    assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.3, 0.001);
    assert_true(s->time_ns > INT64_C(1796019439000000000) &&
                s->time_ns < INT64_C(1796019441000000000));
    snapshot_destroy(s);
}

static void unusable_files_are_refused_with_their_cause(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *cause;
    } cases[] = {
        {"DELETE FROM GPU_METRICS", "GPU_METRICS is empty"},
        {"DROP TABLE GPU_METRICS", "no GPU metrics in this export (nsys 2025.3.2.0"},
        {"ALTER TABLE GPU_METRICS RENAME COLUMN value TO val", "no column value"},
        {"DROP TABLE GPU_METRICS; CREATE TABLE GENERIC_EVENTS(rawTimestamp,timestamp,typeId,data);"
         "UPDATE META_DATA_EXPORT SET value='3.0.0' WHERE name='EXPORT_SCHEMA_VERSION'",
         "too old: nsys 2025.3.2.0, schema 3.0.0"},
        {"ALTER TABLE GPU_METRICS RENAME TO g; CREATE VIEW GPU_METRICS AS SELECT * FROM g",
         "no GPU metrics"},
        {"DROP TABLE GPU_METRICS; DROP TABLE META_DATA_EXPORT; DROP TABLE TARGET_INFO_GPU",
         "no nsys export"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = ERROR_INIT;
        struct snapshot *s = NULL;
        assert_int_equal(read_export(changed(DECODE, cases[i].sql), false, &s, &err),
                         ERR_BAD_INPUT);
        assert_contains(err.text, temp_path());
        assert_contains(err.text, cases[i].cause);
        assert_null(s);
    }
}

static void ten_thousand_metrics_are_listed(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "WITH RECURSIVE r(n) AS (SELECT 100 UNION ALL SELECT n+1 FROM r WHERE n<10099) "
                "INSERT INTO TARGET_INFO_GPU_METRICS SELECT " TYPE_ID "," TYPE_ID
                ",'',n,'Metric '||n||' [Ratio %]' FROM r;"
                "WITH RECURSIVE r(n) AS (SELECT 100 UNION ALL SELECT n+1 FROM r WHERE n<10099) "
                "INSERT INTO GPU_METRICS SELECT 20000000,20000000," TYPE_ID ",n,n%100 FROM r"),
        true);
    assert_int_equal(s->gpus[0].n_extras, 10011);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
    struct error err = ERROR_INIT;
    assert_int_equal(
        read_export(changed(DECODE,
                            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE "
                            "n<30000) INSERT INTO TARGET_INFO_GPU_METRICS SELECT " TYPE_ID
                            "," TYPE_ID ",'',n,'M'||n FROM r"),
                    true, &s, &err),
        ERR_BAD_INPUT);
    assert_contains(err.text, "more than 20000 metrics");
}

static void hostile_names_come_out_clean(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU_METRICS SET metricName='\x1b[2J\"q\",\n[Ratio %]' "
                        "WHERE metricId=6;"
                        "UPDATE TARGET_INFO_GPU SET name='evil'||char(27)||'[31m'"),
        true);
    assert_string_equal(s->gpus[0].name, "evil\xEF\xBF\xBD[31m");
    bool found = false;
    for (size_t i = 0; i < s->gpus[0].n_extras; i++) {
        assert_null(strpbrk(s->gpus[0].extras[i].name, "\x1b\n"));
        found |= strstr(s->gpus[0].extras[i].name, "\"q\"") != NULL;
    }
    assert_true(found);
    snapshot_destroy(s);
}

static void a_file_that_is_being_written_is_refused(void **state)
{
    (void)state;
    const char *path = changed(DECODE, "");
    sqlite3 *writer = NULL;
    assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(writer, "BEGIN EXCLUSIVE; DELETE FROM GPU_METRICS", NULL, NULL, NULL),
        SQLITE_OK);
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, "another program is writing it");
    sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(writer);
    s = snapshot_of(path, false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
}

static int remove_temp(void **state)
{
    (void)state;
    unlink(temp_path());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_give_the_means_of_their_rows),
        cmocka_unit_test(identity_time_rate_and_coverage),
        cmocka_unit_test(every_catalogue_name_is_found_whole),
        cmocka_unit_test(ids_are_not_trusted_when_names_move),
        cmocka_unit_test(gpus_are_kept_apart_by_type_id),
        cmocka_unit_test(all_lists_the_other_metrics_of_the_file),
        cmocka_unit_test(without_any_match_there_is_no_number),
        cmocka_unit_test(without_the_name_table_only_what_was_verified),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(values_follow_their_declared_storage),
        cmocka_unit_test(impossible_percents_and_clocks_are_suspect),
        cmocka_unit_test(wrapped_32_bit_counts_are_recognised),
        cmocka_unit_test(cells_that_are_no_numbers_are_left_out_and_told),
        cmocka_unit_test(gaps_and_coverage_are_computed),
        cmocka_unit_test(order_of_rows_does_not_matter),
        cmocka_unit_test(negative_and_extreme_times_are_survived),
        cmocka_unit_test(one_sample_has_values_but_no_rate),
        cmocka_unit_test(diagnostics_are_shown_and_lost_data_is_suspect),
        cmocka_unit_test(older_schemas_are_probed),
        cmocka_unit_test(unusable_files_are_refused_with_their_cause),
        cmocka_unit_test(ten_thousand_metrics_are_listed),
        cmocka_unit_test(hostile_names_come_out_clean),
        cmocka_unit_test(a_file_that_is_being_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
