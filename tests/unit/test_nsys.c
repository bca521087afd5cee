/* SPDX-License-Identifier: MIT */
/* The rules of reading an nsys export, each on a real file or a real file changed. */
#include <math.h>

#include "support.h"

#include "nsys_file.h"

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

/* The rows hold hertz; their name says megahertz, and so does the number. */
static void other_clocks_are_in_the_unit_of_their_name(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE,
                "UPDATE TARGET_INFO_GPU_METRICS SET metricName='VID Clock [MHz]' WHERE metricId=6;"
                "UPDATE GENERIC_EVENT_TYPE_FIELDS SET size=4 WHERE fieldIdx=6;"
                "UPDATE GPU_METRICS SET value=1500000000 WHERE metricId=6"),
        true);
    assert_near(extra(s, "VID Clock [MHz]")->stats.value.v, 1500, 0);
    assert_int_equal(extra(s, "VID Clock [MHz]")->stats.value.state, VALUE_OK);
    assert_near(metric(s, 0, METRIC_GPC_CLOCK)->value.v, 1803738828.86, 0.01);
    snapshot_destroy(s);
}

/* Each row is rounded by itself, their sum is divided once: 0.30 + 0.54 + 0.05 + 0.11 would be
 * above 1. */
static void parts_are_added_before_they_are_divided(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU_METRICS SET metricName=CASE metricId "
                        "WHEN 6 THEN 'NVLink RX Requests Protocol Data [Throughput %]' "
                        "WHEN 7 THEN 'NVLink RX Requests User Data [Throughput %]' "
                        "WHEN 8 THEN 'NVLink RX Responses Protocol Data [Throughput %]' "
                        "ELSE 'NVLink RX Responses User Data [Throughput %]' END "
                        "WHERE metricId BETWEEN 6 AND 9;"
                        "UPDATE GPU_METRICS SET value=CASE metricId WHEN 6 THEN 30 WHEN 7 THEN 54 "
                        "WHEN 8 THEN 5 ELSE 11 END "
                        "WHERE metricId BETWEEN 6 AND 9"),
        false);
    const struct metric_stats *x = metric(s, 0, METRIC_NVLINK_RX_THROUGHPUT);
    check_mean(s, METRIC_NVLINK_RX_THROUGHPUT, 1);
    assert_int_equal(x->samples, 65);
    assert_near(x->min, 1, 0);
    assert_near(x->max, 1, 0);
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
    check_state(s, METRIC_SM_ACTIVE, VALUE_UNSUPPORTED, "names no metrics of this GPU");
    assert_true(has_note(s, "metric id without a name"));
    assert_int_equal(s->gpus[0].samples, 65);
    snapshot_destroy(s);

    /* names for one GPU alone */
    s = snapshot_of(changed(DECODE,
                            "INSERT INTO GPU_METRICS SELECT rawTimestamp,timestamp,typeId+1,"
                            "metricId,value FROM GPU_METRICS"),
                    false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_contains(metric(s, 1, METRIC_SM_ACTIVE)->value.reason, "names no metrics of this GPU");
    assert_contains(metric(s, 1, METRIC_POWER)->value.reason, "no driver readings");
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
    check_state(s, METRIC_NVLINK_TX_THROUGHPUT, VALUE_UNSUPPORTED, "nsys skipped it");
    snapshot_destroy(s);
}

static void skipped_metrics_quote_nsys(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED,
                "nsys skipped it: requires unsupported counter");
    /* one cause, one reason: they stand together */
    assert_string_equal(metric(s, 0, METRIC_NVLINK_RX_THROUGHPUT)->value.reason,
                        metric(s, 0, METRIC_NVLINK_TX_THROUGHPUT)->value.reason);
    /* of bytes, nsys would have no row on any machine */
    check_state(s, METRIC_NVLINK_RX, VALUE_UNSUPPORTED, "only the share of the peak");
    check_state(s, METRIC_PCIE_TX, VALUE_UNSUPPORTED, "only the share of the peak");
    check_state(s, METRIC_DRAM_READ_BYTES, VALUE_UNSUPPORTED, "only the share of the peak");
    snapshot_destroy(s);

    /* [1] is the second selected device */
    s = snapshot_of(changed(DECODE, SECOND_GPU "UPDATE DIAGNOSTIC_EVENT SET "
                                               "text=replace(text,'[0]','[1]')"),
                    false);
    check_state(s, METRIC_NVLINK_RX_THROUGHPUT, VALUE_UNSUPPORTED, "metric set");
    assert_contains(metric(s, 1, METRIC_NVLINK_RX_THROUGHPUT)->value.reason, "nsys skipped it");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_give_the_means_of_their_rows),
        cmocka_unit_test(identity_time_rate_and_coverage),
        cmocka_unit_test(every_catalogue_name_is_found_whole),
        cmocka_unit_test(ids_are_not_trusted_when_names_move),
        cmocka_unit_test(gpus_are_kept_apart_by_type_id),
        cmocka_unit_test(all_lists_the_other_metrics_of_the_file),
        cmocka_unit_test(other_clocks_are_in_the_unit_of_their_name),
        cmocka_unit_test(parts_are_added_before_they_are_divided),
        cmocka_unit_test(without_any_match_there_is_no_number),
        cmocka_unit_test(without_the_name_table_only_what_was_verified),
        cmocka_unit_test(wrapped_32_bit_counts_are_refused),
        cmocka_unit_test(gpus_without_rows_have_no_numbers),
        cmocka_unit_test(diagnostics_are_shown_and_lost_data_is_suspect),
        cmocka_unit_test(errors_come_before_what_is_less),
        cmocka_unit_test(skipped_metrics_quote_nsys),
        cmocka_unit_test(older_schemas_are_probed),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
