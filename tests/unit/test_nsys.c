/* SPDX-License-Identifier: MIT */
/* The rules of reading an nsys export, each on a real file or a real file changed. */
#include <math.h>
#include <time.h>

#include "support.h"

#include "base/str.h"
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
    static const char nameless[] = "DROP TABLE TARGET_INFO_GPU_METRICS;";
    struct snapshot *s = snapshot_of(changed(DECODE, nameless), false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    check_mean(s, METRIC_DRAM_READ, 82.35384615384615 / 100);
    assert_near(metric(s, 0, METRIC_GPC_CLOCK)->value.v, 1803738828.86, 0.01);
    assert_true(has_note(s, "ids are used that were verified"));
    snapshot_destroy(s);
    /* nsys stores counts in one byte where they are small: in the idle capture all were 0 */
    s = snapshot_of(changed(IDLE, nameless), false);
    check_mean(s, METRIC_GR_ACTIVE, 0.01);
    snapshot_destroy(s);

    /* another version, set, chip, list of ids or storage: nothing, and a warning */
    static const char *const others[] = {
        "UPDATE META_DATA_EXPORT SET value='3.21.0' WHERE name='EXPORT_SCHEMA_VERSION'",
        "UPDATE META_DATA_CAPTURE SET value='6' WHERE name LIKE '%METRIC_SET_INDEX'",
        "UPDATE TARGET_INFO_GPU SET chipName='GB202'",
        "DELETE FROM GPU_METRICS WHERE metricId=21",
        "INSERT INTO GPU_METRICS SELECT rawTimestamp,timestamp,typeId,22,0 FROM GPU_METRICS "
        "WHERE metricId=3",
        "DROP TABLE GENERIC_EVENT_TYPE_FIELDS",
        "DELETE FROM GENERIC_EVENT_TYPE_FIELDS WHERE fieldIdx=7",
        "UPDATE GENERIC_EVENT_TYPE_FIELDS SET size=4 WHERE fieldIdx=10",
        "UPDATE GENERIC_EVENT_TYPE_FIELDS SET size=1 WHERE fieldIdx=0",
        "UPDATE GENERIC_EVENT_TYPE_FIELDS SET size=8 WHERE fieldIdx=13",
        "UPDATE GENERIC_EVENT_TYPE_FIELDS SET type=0 WHERE fieldIdx=3",
        "INSERT INTO GENERIC_EVENT_TYPE_FIELDS(typeId,fieldIdx,fieldNameId,offset,size,type) "
        "VALUES(" TYPE_ID ",22,0,0,1,1)",
        "INSERT INTO GENERIC_EVENT_TYPE_FIELDS(typeId,fieldIdx,fieldNameId,offset,size,type) "
        "VALUES(" TYPE_ID ",3,0,0,1,1)",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char sql[512];
        snprintf(sql, sizeof sql, "%s%s", nameless, others[i]);
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

static const struct extra_stats *extra(const struct snapshot *s, const char *name)
{
    for (size_t i = 0; i < s->gpus[0].n_extras; i++)
        if (strcmp(s->gpus[0].extras[i].name, name) == 0)
            return &s->gpus[0].extras[i];
    fail_msg("no \"%s\"", name);
    return NULL;
}

/* "Unallocated Warps in Active SMs [Avg]" is id 16, its "[Avg Warps per Cycle]" 17, the clock 0.
 * 107.9 warps a cycle and 36.1e6 cycles give 3.9e9: 3e9 less is what a wrap could look like. */
#define ONE_WRAPPED                                                                                \
    "UPDATE GPU_METRICS SET value=value-3000000000+4294967296 WHERE metricId=16 AND timestamp "    \
    "BETWEEN 390000000 AND 410000000;"
#define NO_SIBLING "UPDATE TARGET_INFO_GPU_METRICS SET metricName='other' WHERE metricId=17;"
#define NO_CLOCK   "UPDATE TARGET_INFO_GPU_METRICS SET metricName='other clock' WHERE metricId=0;"
#define AT_1_KHZ   "UPDATE GPU_METRICS SET timestamp=timestamp/20;"
#define FEW        "UPDATE GPU_METRICS SET value=1000 WHERE metricId=16;"

static void wrapped_32_bit_counts_are_refused(void **state)
{
    (void)state;
    static const char name[] = "Unallocated Warps in Active SMs [Avg]";
    static const struct {
        const char *sql;
        enum value_state state;
        unsigned samples;
        const char *reason;
    } cases[] = {
        {"", VALUE_OK, 65, ""},
        {ONE_WRAPPED, VALUE_SUSPECT, 64, "1 of 65 values ran over 32 bits"},
        /* also the first sample, whose length only the second tells */
        {"UPDATE GPU_METRICS SET value=500000000 WHERE metricId=16 AND timestamp<30000000",
         VALUE_SUSPECT, 64, "1 of 65"},
        {"UPDATE GPU_METRICS SET value=value-3000000000+4294967296 WHERE metricId=16", VALUE_FAILED,
         0, "65 of 65"},
        /* the clock under its other name */
        {ONE_WRAPPED "UPDATE TARGET_INFO_GPU_METRICS SET metricName='GPC Frequency [MHz]' "
                     "WHERE metricId=0",
         VALUE_SUSPECT, 64, "1 of 65"},
        /* nothing to check against: can 128 a cycle of the clock reach 2^32 in one sample? */
        {NO_SIBLING FEW, VALUE_SUSPECT, 65, "can run over"},
        {NO_SIBLING FEW AT_1_KHZ, VALUE_OK, 65, ""},
        {NO_CLOCK FEW, VALUE_SUSPECT, 65, "can run over"},
        {NO_CLOCK FEW AT_1_KHZ, VALUE_OK, 65, ""},
        /* in one sample the sibling is missing */
        {"DELETE FROM GPU_METRICS WHERE metricId=17 AND timestamp<30000000", VALUE_SUSPECT, 65,
         "can run over"},
        /* one sample alone tells no length; the capture's 50 Hz do */
        {NO_SIBLING FEW "DELETE FROM GPU_METRICS WHERE timestamp>21000000", VALUE_SUSPECT, 1,
         "can run over"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct snapshot *s = snapshot_of(changed(DECODE, cases[i].sql), true);
        const struct metric_stats *x = &extra(s, name)->stats;
        if (x->value.state != cases[i].state || x->samples != cases[i].samples ||
            !strstr(x->value.reason, cases[i].reason))
            fail_msg("case %zu is %s with %llu samples: %s", i, value_state_name(x->value.state),
                     (unsigned long long)x->samples, x->value.reason);
        if (i == 1) /* what is left is sound */
            assert_true(x->min > 3.8e9);
        snapshot_destroy(s);
    }
    /* a sum over all units grows faster than a mean over them */
    struct snapshot *s = snapshot_of(
        changed(DECODE, AT_1_KHZ "UPDATE TARGET_INFO_GPU_METRICS SET metricName='L2 Bytes [Bytes]' "
                                 "WHERE metricId=16"),
        true);
    assert_int_equal(extra(s, "L2 Bytes [Bytes]")->stats.value.state, VALUE_SUSPECT);
    snapshot_destroy(s);
    /* clocks and one-byte counts cannot run over unseen */
    s = snapshot_of(changed(DECODE, NO_SIBLING), true);
    check_mean(s, METRIC_SYS_CLOCK, metric(s, 0, METRIC_SYS_CLOCK)->value.v);
    assert_int_equal(extra(s, "other")->stats.value.state, VALUE_OK);
    snapshot_destroy(s);
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

/* Samples are missing right after the first: only the 50 Hz that were asked for show it. */
static void gap_after_the_first_sample_is_seen(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "DELETE FROM GPU_METRICS WHERE timestamp BETWEEN 30000000 AND 230000000"),
        false);
    assert_int_equal(s->gpus[0].samples, 55);
    assert_int_equal(s->gpus[0].gaps, 1);
    assert_near(s->gpus[0].longest_gap_s, 0.20, 0.001);
    assert_near(s->gpus[0].coverage, 55.0 / 65, 0.001);
    snapshot_destroy(s);
    /* but what was asked for is not what was done: sampled at 10 Hz, steadily */
    s = snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp*5"), false);
    assert_near(s->gpus[0].rate_hz, 10, 0.01);
    assert_true(has_note(s, "sampled at 10 Hz, asked for 50 Hz"));
    assert_int_equal(s->gpus[0].gaps, 1); /* until the second interval confirmed the first */
    assert_near(s->gpus[0].coverage, 1, 0.03);
    snapshot_destroy(s);
}

/* One sample comes early: that is not the new period, or everything after it would be a gap. */
static void one_odd_interval_changes_nothing(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "UPDATE GPU_METRICS SET timestamp=timestamp-15000000 WHERE "
                                    "timestamp BETWEEN 590000000 AND 610000000"),
                    false);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_int_equal(s->gpus[0].gaps, 1);
    assert_near(s->gpus[0].longest_gap_s, 0.015, 0.0001);
    assert_near(s->gpus[0].coverage, 1 - 0.015 / 1.3, 0.001);
    assert_near(s->gpus[0].rate_hz, 50, 0.01);
    snapshot_destroy(s);
}

/* Where the SYS clock triggers the samples, their distance moves with it. */
static void spacing_may_follow_the_clock(void **state)
{
    (void)state;
    static const char slower[] = "UPDATE GPU_METRICS SET timestamp=timestamp+(timestamp-660000000)"
                                 "*7/10 WHERE timestamp>660000000;";
    static const char *const chips[] = {"TU102", "GA100"};
    for (size_t i = 0; i < 2; i++) {
        char sql[400];
        snprintf(sql, sizeof sql, "%sUPDATE TARGET_INFO_GPU SET chipName='%s'", slower, chips[i]);
        struct snapshot *s = snapshot_of(changed(DECODE, sql), false);
        assert_int_equal(s->gpus[0].samples, 65);
        assert_int_equal(s->gpus[0].gaps, 0);
        assert_near(s->gpus[0].coverage, 1, 1e-9);
        snapshot_destroy(s);
    }
    /* elsewhere a timer triggers them: a longer interval means lost samples, until eight in a row
     * say that this is the period now */
    struct snapshot *s = snapshot_of(changed(DECODE, slower), false);
    assert_int_equal(s->gpus[0].gaps, 7);
    assert_near(s->gpus[0].longest_gap_s, 0.014, 0.0001);
    snapshot_destroy(s);
    /* even there ten periods are a gap */
    s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU SET chipName='TU102';"
                        "DELETE FROM GPU_METRICS WHERE timestamp BETWEEN 300000000 AND 480000000"),
        false);
    assert_int_equal(s->gpus[0].gaps, 1);
    snapshot_destroy(s);
}

/* Four GPUs, of which three start after the rows that are looked at first. */
static void gpus_that_start_late_have_rate_and_coverage(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "DELETE FROM GPU_METRICS;"
                "WITH RECURSIVE gpu(g) AS (SELECT 1 UNION ALL SELECT g+1 FROM gpu WHERE g<3) "
                "INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+g,sourceId,'',metricId,"
                "metricName FROM gpu,TARGET_INFO_GPU_METRICS WHERE metricId=3;"
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<70000) "
                "INSERT INTO GPU_METRICS SELECT 0,n*20000000," TYPE_ID ",3,50 FROM r;"
                "WITH RECURSIVE gpu(g) AS (SELECT 1 UNION ALL SELECT g+1 FROM gpu WHERE g<3),"
                "r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<100) "
                "INSERT INTO GPU_METRICS SELECT 0,n*g*10000000," TYPE_ID "+g,3,10*g FROM r,gpu"),
        false);
    static const double hz[] = {50, 100, 50, 100.0 / 3};
    assert_int_equal(s->n_gpus, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct gpu_snapshot *g = &s->gpus[i];
        assert_int_equal(g->samples, i ? 100 : 70000);
        assert_near(g->rate_hz, hz[i], 1e-6);
        assert_near(gpu_snapshot_window_s(g), i ? 100 / hz[i] : 1400, 1e-6);
        assert_near(g->coverage, 1, 1e-9);
        assert_int_equal(g->gaps, 0);
    }
    assert_near(metric(s, 3, METRIC_SM_ACTIVE)->value.v, 0.30, 1e-9);
    snapshot_destroy(s);
}

/* Names for more GPUs than have rows: they are listed, and say that they have nothing. */
static void gpus_without_rows_have_no_numbers(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "WITH RECURSIVE gpu(g) AS (SELECT 1 UNION ALL SELECT g+1 FROM gpu WHERE g<250) "
                "INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+g,sourceId,'',metricId,"
                "metricName FROM gpu,TARGET_INFO_GPU_METRICS WHERE metricId=3"),
        false);
    assert_int_equal(s->n_gpus, 251);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    const struct value *v = &metric(s, 250, METRIC_SM_ACTIVE)->value;
    assert_int_equal(v->state, VALUE_FAILED);
    assert_contains(v->reason, "no value");
    assert_near(s->gpus[250].rate_hz, 0, 0);
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

#define SECOND_GPU                                                                                 \
    "INSERT INTO GPU_METRICS SELECT rawTimestamp,timestamp,typeId+1,metricId,value FROM "          \
    "GPU_METRICS;"                                                                                 \
    "INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+1,sourceId,typeName,metricId,metricName "   \
    "FROM TARGET_INFO_GPU_METRICS;"

static void diagnostics_are_shown_and_lost_data_is_suspect(void **state)
{
    (void)state;
    static const char overflow[] = "INSERT INTO DIAGNOSTIC_EVENT VALUES(5,1,2,3,"
                                   "'GPU Metrics [0]: Sampling buffer overflow',1),"
                                   "(6,1,2,2,'a warning of nsys',1)";
    struct snapshot *s = snapshot_of(changed(DECODE, overflow), false);
    assert_true(has_note(s, "Sampling buffer overflow"));
    assert_true(has_note(s, "a warning of nsys"));
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "samples were lost");
    assert_null(strstr(metric(s, 0, METRIC_SM_ACTIVE)->value.reason, "another"));
    snapshot_destroy(s);
    /* the number in brackets is none of ours */
    char sql[1000];
    snprintf(sql, sizeof sql, SECOND_GPU "%s", overflow);
    s = snapshot_of(changed(DECODE, sql), false);
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "may concern another one");
    snapshot_destroy(s);
    /* somebody else's buffer */
    s = snapshot_of(changed(DECODE, "INSERT INTO DIAGNOSTIC_EVENT VALUES(5,1,2,3,"
                                    "'CUPTI: Buffer overflow of the activity buffers',1)"),
                    false);
    assert_true(has_note(s, "activity buffers"));
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
}

/* Severity 4 is "verbose", not worse than an error. */
static void errors_come_before_what_is_less(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<2000) "
                "INSERT INTO DIAGNOSTIC_EVENT SELECT n,1,2,4,'talk '||n,1 FROM r;"
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<200) "
                "INSERT INTO DIAGNOSTIC_EVENT SELECT n,1,2,2,'warning '||n,1 FROM r;"
                "INSERT INTO DIAGNOSTIC_EVENT VALUES(9000,1,2,3,'the error',1),"
                "(9001,1,2,1,'GPU Metrics [0]: NVPA_STATUS_ERROR - API function: "
                "Nvpw.GPU_PeriodicSampler_DecodeCounters_V2',1)"),
        false);
    assert_true(s->n_notes > 2);
    assert_string_equal(s->notes[0].text, "nsys: the error");
    assert_int_equal(s->notes[0].level, NOTE_ERROR);
    assert_string_equal(s->notes[1].text, "nsys: warning 1");
    assert_false(has_note(s, "talk"));
    /* 80 of these 202 lines are shown */
    assert_true(has_note(s, "122 further errors and warnings left out"));
    check_state(s, METRIC_SM_ACTIVE, VALUE_SUSPECT, "samples were lost");
    /* lines of long ago still explain */
    check_state(s, METRIC_NVLINK_TX_THROUGHPUT, VALUE_UNSUPPORTED, "nvltx__bytes_packet");
    snapshot_destroy(s);
}

static void skipped_metrics_quote_nsys(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED,
                "nsys skipped NVLRX.TriageCompute.nvlrx__bytes_packet_request_data_protocol.avg."
                "pct_of_peak_sustained_elapsed: requires unsupported counter");
    /* of bytes, nsys would have no row on any machine */
    check_state(s, METRIC_NVLINK_RX, VALUE_UNSUPPORTED, "only the share of the link's peak");
    check_state(s, METRIC_NVLINK_RX, VALUE_UNSUPPORTED, "nvlink_rx_throughput");
    check_state(s, METRIC_PCIE_TX, VALUE_UNSUPPORTED, "pcie_tx_throughput");
    check_state(s, METRIC_DRAM_READ_BYTES, VALUE_UNSUPPORTED, "peak: dram_read");
    snapshot_destroy(s);

    /* [1] is the second selected device */
    s = snapshot_of(changed(DECODE, SECOND_GPU "UPDATE DIAGNOSTIC_EVENT SET "
                                               "text=replace(text,'[0]','[1]')"),
                    false);
    check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED, "metric set");
    assert_contains(metric(s, 1, METRIC_NVLINK_RX_THROUGHPUT)->value.reason, "nsys skipped NVLRX");
    snapshot_destroy(s);
    static const char *const others[] = {"[7]", "[-1]", "[]", "(0)", "[99999999999999999999]"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE DIAGNOSTIC_EVENT SET text=replace(text,'[0]','%s')",
                 others[i]);
        s = snapshot_of(changed(DECODE, sql), false);
        check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED, "metric set");
        snapshot_destroy(s);
    }
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
    static const char *const unknown[] = {
        "UPDATE META_DATA_EXPORT SET value='new' WHERE name='EXPORT_SCHEMA_VERSION'",
        "DELETE FROM META_DATA_EXPORT WHERE name='EXPORT_SCHEMA_VERSION'",
    };
    for (size_t i = 0; i < 2; i++) {
        s = snapshot_of(changed(DECODE, unknown[i]), false);
        assert_true(has_note(s, "is not known"));
        check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
        snapshot_destroy(s);
    }
}

static void wall_clock_times_need_a_start(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "DROP TABLE TARGET_INFO_SESSION_START_TIME"), false);
    assert_true(has_note(s, "no session start time"));
    assert_true(s->time_ns < 2000000000);
    snapshot_destroy(s);
    static const char normalized[] = "UPDATE META_DATA_EXPORT SET value='true' WHERE "
                                     "name='EXPORT_PARAM_TIME_NORMALIZE';"
                                     "UPDATE GPU_METRICS SET timestamp=timestamp+"
                                     "1796019438769865363;";
    s = snapshot_of(changed(DECODE, normalized), false);
    assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.3, 0.001);
    assert_true(s->time_ns > INT64_C(1796019439000000000) &&
                s->time_ns < INT64_C(1796019441000000000));
    snapshot_destroy(s);

    /* somebody moved all times on export: they tell no wall-clock time, even when they look so */
    static const char *const shifts[] = {"5000", "-1", "1h"};
    for (size_t i = 0; i < 6; i++) {
        char sql[600];
        snprintf(sql, sizeof sql,
                 "%sUPDATE META_DATA_EXPORT SET value='%s' WHERE name='EXPORT_PARAM_TIME_SHIFT'",
                 i < 3 ? "" : normalized, shifts[i % 3]);
        s = snapshot_of(changed(DECODE, sql), false);
        assert_true(has_note(s, "no wall-clock time"));
        assert_true(s->time_ns < 2000000000);
        assert_near(gpu_snapshot_window_s(&s->gpus[0]), 1.3, 0.001);
        snapshot_destroy(s);
    }
}

#define EVENTS                                                                                     \
    "DROP TABLE GPU_METRICS; CREATE TABLE GENERIC_EVENTS(rawTimestamp,timestamp,typeId,data);"

/* GPU_METRICS without NOT NULL */
#define LOOSE                                                                                      \
    "CREATE TABLE t AS SELECT * FROM GPU_METRICS; DROP TABLE GPU_METRICS;"                         \
    "CREATE TABLE GPU_METRICS(rawTimestamp,timestamp,typeId,metricId,value);"                      \
    "INSERT INTO GPU_METRICS SELECT * FROM t;"

static void unusable_files_are_refused_with_their_cause(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *cause;
    } cases[] = {
        {"DELETE FROM GPU_METRICS", "GPU_METRICS is empty"},
        {"DROP TABLE GPU_METRICS", "no GPU metrics in this export (nsys 2025.3.2.0"},
        {"ALTER TABLE GPU_METRICS RENAME COLUMN value TO val", "no column value"},
        {LOOSE "DROP TABLE TARGET_INFO_GPU_METRICS; UPDATE GPU_METRICS SET typeId=NULL",
         "GPU_METRICS has no usable row"},
        {EVENTS "UPDATE META_DATA_EXPORT SET value='3.0.0' WHERE name='EXPORT_SCHEMA_VERSION'",
         "too old: nsys 2025.3.2.0, schema 3.0.0"},
        {EVENTS "UPDATE META_DATA_EXPORT SET value='2.7.1' WHERE name='EXPORT_SCHEMA_VERSION'",
         "too old: nsys 2025.3.2.0, schema 2.7.1"},
        /* events of other collectors */
        {EVENTS "INSERT INTO GENERIC_EVENTS VALUES(1,1,7,'{\"comm\": \"bash\"}'),(2,2,7,NULL)",
         "no GPU metrics in this export"},
        {EVENTS "INSERT INTO GENERIC_EVENTS VALUES(1,1,7,'{\"GR Active\": \"12\"}')", "too old: "},
        {EVENTS "INSERT INTO GENERIC_EVENTS VALUES(1,1," TYPE_ID ",NULL)", "too old: "},
        {"ALTER TABLE GPU_METRICS RENAME TO g; CREATE VIEW GPU_METRICS AS SELECT * FROM g",
         "GPU_METRICS is not an ordinary table"},
        {"CREATE TABLE n AS SELECT * FROM TARGET_INFO_GPU_METRICS; DROP TABLE "
         "TARGET_INFO_GPU_METRICS; CREATE VIEW TARGET_INFO_GPU_METRICS AS SELECT * FROM n",
         "TARGET_INFO_GPU_METRICS is not an ordinary table"},
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

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a generated column computes is SQL of the file: it must never run. */
static void generated_columns_are_refused_at_once(void **state)
{
    (void)state;
    static const char *const kinds[] = {"VIRTUAL", "STORED"};
    for (size_t i = 0; i < 2; i++) {
        char sql[600];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE t AS SELECT * FROM GPU_METRICS; DROP TABLE GPU_METRICS;"
                 "CREATE TABLE GPU_METRICS(rawTimestamp,timestamp,typeId,metricId,v,value AS "
                 "(length(hex(zeroblob(%d)))) %s);"
                 "INSERT INTO GPU_METRICS(rawTimestamp,timestamp,typeId,metricId,v) "
                 "SELECT * FROM t",
                 i ? 1 : 8000000, kinds[i]);
        struct error err = ERROR_INIT;
        struct snapshot *s = NULL;
        const char *path = changed(DECODE, sql);
        double start = seconds_now();
        assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
        assert_contains(err.text, "GPU_METRICS is not an ordinary table");
        assert_true(seconds_now() - start < 2); /* computing it takes minutes */
    }
    /* in a table that can be done without: as if it were not there */
    struct snapshot *s = snapshot_of(
        changed(DECODE, "ALTER TABLE TARGET_INFO_GPU ADD COLUMN x AS (hex(zeroblob(8000000)));"
                        "ALTER TABLE DIAGNOSTIC_EVENT ADD COLUMN x AS (hex(zeroblob(8000000)))"),
        false);
    assert_string_equal(s->gpus[0].name, "");
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED, "metric set");
    snapshot_destroy(s);
}

static void refused(const char *path, const char *cause)
{
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, cause);
    assert_contains(err.text, strrchr(path, '/'));
}

static bool exists(const char *path, const char *suffix)
{
    char name[300];
    struct stat info;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return lstat(name, &info) == 0;
}

/* A folder of this test's own, whose name a URI must escape. */
static const char *temp_folder(void)
{
    static char folder[80];
    if (!folder[0])
        snprintf(folder, sizeof folder, "/tmp/smeff 100%%25?#&=\xC3\xA4-%d", (int)getpid());
    return folder;
}

static const char *in_folder(const char *name)
{
    static char path[4][120];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", temp_folder(), name);
    return p;
}

static void remove_folder(void)
{
    static const char *const names[] = {"x.sqlite", "x.sqlite-wal", "x.sqlite-shm",
                                        "x.sqlite-journal", "link.sqlite"};
    chmod(temp_folder(), 0700);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_folder(names[i]));
    rmdir(temp_folder());
}

/* A complete file in WAL mode is read, and nothing appears beside it. */
static void wal_files_are_read_without_a_trace(void **state)
{
    (void)state;
    remove_folder();
    assert_int_equal(mkdir(temp_folder(), 0700), 0);
    const char *path = in_folder("x.sqlite"), *link = in_folder("link.sqlite");
    copy_file(DECODE, path);
    run_sql(path, "PRAGMA journal_mode=WAL");
    assert_int_equal(symlink("x.sqlite", link), 0);
    for (int i = 0; i < 3; i++) {
        struct snapshot *s = snapshot_of(i == 1 ? link : path, false);
        check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
        snapshot_destroy(s);
        assert_false(exists(path, "-shm"));
        assert_int_equal(exists(path, "-wal"), i == 2);
        if (i == 1) /* an empty one holds nothing */
            close(open(in_folder("x.sqlite-wal"), O_CREAT | O_WRONLY, 0600));
    }
    /* nor in a folder that this user may only read */
    unlink(in_folder("x.sqlite-wal"));
    chmod(path, 0444);
    chmod(temp_folder(), 0555);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    struct snapshot *s = snapshot_of(path, false);
    if (root)
        assert_int_equal(seteuid(0), 0);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    snapshot_destroy(s);
    remove_folder();
}

/* What a program left behind that died while it wrote, as its files at that moment. */
static void unfinished_writes_are_refused(void **state)
{
    (void)state;
    static const char *const modes[] = {"WAL", "DELETE"}, *const suffix[] = {"-wal", "-journal"};
    for (int i = 0; i < 2; i++) {
        char sql[300], beside[300];
        remove_folder();
        assert_int_equal(mkdir(temp_folder(), 0700), 0);
        const char *path = changed(DECODE, "");
        sqlite3 *writer = NULL;
        assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
        /* a small cache, so that changes reach the file before the end of the transaction */
        snprintf(sql, sizeof sql,
                 "PRAGMA journal_mode=%s; PRAGMA cache_size=2; BEGIN; DELETE FROM GPU_METRICS; "
                 "DROP TABLE TARGET_INFO_GPU_METRICS; %s",
                 modes[i], i ? "" : "COMMIT");
        assert_int_equal(sqlite3_exec(writer, sql, NULL, NULL, NULL), SQLITE_OK);
        snprintf(beside, sizeof beside, "%s%s", path, suffix[i]);
        const char *copy = in_folder("x.sqlite");
        copy_file(path, copy);
        copy_file(beside, in_folder(i ? "x.sqlite-journal" : "x.sqlite-wal"));
        sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
        sqlite3_close(writer);
        refused(copy, "unfinished write");
        refused(copy, "open it once with sqlite3");
        assert_false(exists(copy, "-shm"));
        assert_true(exists(copy, suffix[i])); /* untouched */
        run_sql(copy, "SELECT count(*) FROM sqlite_master");
        if (i) { /* rolled back: all there again */
            struct snapshot *s = snapshot_of(copy, false);
            check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
            snapshot_destroy(s);
        } else {
            refused(copy, "GPU_METRICS is empty");
        }
        remove_folder();
    }
}

/* The name of a file is a name, whatever SQLite would see in it. */
static void names_are_no_uris(void **state)
{
    (void)state;
    char *before = getcwd(NULL, 0);
    remove_folder();
    assert_int_equal(mkdir(temp_folder(), 0700), 0);
    assert_int_equal(chdir(temp_folder()), 0);
    static const char *const names[] = {"file:x?mode=memory", ":memory:", "-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        copy_file(DECODE, names[i]);
        struct snapshot *s = snapshot_of(names[i], false);
        check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
        snapshot_destroy(s);
        unlink(names[i]);
    }
    assert_int_equal(chdir(before), 0);
    free(before);
    remove_folder();
}

static void a_long_path_does_not_hide_the_cause(void **state)
{
    (void)state;
    char path[2000] = "/tmp";
    while (strlen(path) < 1500)
        strncat(path, "/./././././././././././././././.", sizeof path - strlen(path) - 1);
    strncat(path, strrchr(temp_path(), '/'), sizeof path - strlen(path) - 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "hello", 5), 5);
    close(fd);
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, ": not an SQLite database (an .nsys-rep becomes one by: nsys export "
                              "-t sqlite FILE)");
    assert_contains(err.text, strrchr(temp_path(), '/'));
    assert_true(str_starts_with(err.text, "/tmp/./"));
    assert_int_equal(nsys_export_open(&(struct nsys_export *){NULL}, path, false, NULL),
                     ERR_BAD_INPUT);
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
        cmocka_unit_test(wrapped_32_bit_counts_are_refused),
        cmocka_unit_test(cells_that_are_no_numbers_are_left_out_and_told),
        cmocka_unit_test(gaps_and_coverage_are_computed),
        cmocka_unit_test(gap_after_the_first_sample_is_seen),
        cmocka_unit_test(one_odd_interval_changes_nothing),
        cmocka_unit_test(spacing_may_follow_the_clock),
        cmocka_unit_test(gpus_that_start_late_have_rate_and_coverage),
        cmocka_unit_test(gpus_without_rows_have_no_numbers),
        cmocka_unit_test(order_of_rows_does_not_matter),
        cmocka_unit_test(negative_and_extreme_times_are_survived),
        cmocka_unit_test(one_sample_has_values_but_no_rate),
        cmocka_unit_test(diagnostics_are_shown_and_lost_data_is_suspect),
        cmocka_unit_test(errors_come_before_what_is_less),
        cmocka_unit_test(skipped_metrics_quote_nsys),
        cmocka_unit_test(older_schemas_are_probed),
        cmocka_unit_test(wall_clock_times_need_a_start),
        cmocka_unit_test(unusable_files_are_refused_with_their_cause),
        cmocka_unit_test(ten_thousand_metrics_are_listed),
        cmocka_unit_test(hostile_names_come_out_clean),
        cmocka_unit_test(generated_columns_are_refused_at_once),
        cmocka_unit_test(wal_files_are_read_without_a_trace),
        cmocka_unit_test(unfinished_writes_are_refused),
        cmocka_unit_test(names_are_no_uris),
        cmocka_unit_test(a_long_path_does_not_hide_the_cause),
        cmocka_unit_test(a_file_that_is_being_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
