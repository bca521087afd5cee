/* SPDX-License-Identifier: MIT */
/* Nsys exports that contradict themselves, are forged or too large. */
#include <math.h>

#include "support.h"

#include "nsys_file.h"

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
        {2, 4, -1082130432, -1},          /* bits of -1.0f, sign-extended */
        {2, 4, 1069547520 + (1LL << 40), NAN},
        {2, 8, 1069547520, NAN}, /* no such types */
        {3, 4, 1069547520, NAN},
        {4, 4, 7, NAN},
        {1, 0, 7, NAN},
        {1, 9, 7, NAN},
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
            bool odd = strstr(x->stats.value.reason, "in a way that is not known") != NULL;
            if (!odd)
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
        {LOOSE "UPDATE GPU_METRICS SET timestamp=timestamp+0.5", "GPU_METRICS has no usable row"},
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
    /* of all GPUs together */
    assert_int_equal(
        read_export(changed(DECODE,
                            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE "
                            "n<30000) INSERT INTO TARGET_INFO_GPU_METRICS SELECT " TYPE_ID
                            "+n%10," TYPE_ID ",'',n,'M'||n FROM r"),
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

/* 12,000 metrics and 8,000 samples of one: as many cells as no file of this size has. */
static void metrics_times_samples_are_bounded(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    const char *path = changed(
        DECODE, "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i+1 FROM n WHERE i<12100) "
                "INSERT INTO TARGET_INFO_GPU_METRICS SELECT " TYPE_ID "," TYPE_ID
                ",'',i,'Forged '||i||' [Throughput %]' FROM n;"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<8000) "
                "INSERT INTO GPU_METRICS SELECT 0,10000000000+i*20000000," TYPE_ID ",3,50 FROM n");
    assert_int_equal(read_export(path, true, &s, &err), ERR_BAD_INPUT);
    assert_contains(err.text, "more than the file has room for");
}

/* Ids 6 and 7 as the two parts of occupancy. */
#define TWO_PARTS                                                                                  \
    "DELETE FROM TARGET_INFO_GPU_METRICS WHERE metricId=12;"                                       \
    "UPDATE TARGET_INFO_GPU_METRICS SET metricName='Async CS SM Warps [Occupancy %]' "             \
    "WHERE metricId=6;"                                                                            \
    "UPDATE TARGET_INFO_GPU_METRICS SET metricName='Sync CS SM Warps [Occupancy %]' "              \
    "WHERE metricId=7;"                                                                            \
    "UPDATE GPU_METRICS SET value=30 WHERE metricId=6;"                                            \
    "UPDATE GPU_METRICS SET value=5 WHERE metricId=7;"

/* Twice the one part is not the sum of two. */
static void a_part_twice_is_no_sum(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, TWO_PARTS
                            "UPDATE GPU_METRICS SET metricId=6, value=30 WHERE metricId=7 AND "
                            "timestamp<210000000"),
                    false);
    check_state(s, METRIC_OCCUPANCY, VALUE_SUSPECT, "two values");
    assert_int_equal(metric(s, 0, METRIC_OCCUPANCY)->samples, 55);
    assert_near(metric(s, 0, METRIC_OCCUPANCY)->max, 0.35, 0);
    snapshot_destroy(s);
}

/* What is there in a few samples tells nothing of the others. */
static void rare_metrics_are_suspect(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, TWO_PARTS
                            "DELETE FROM GPU_METRICS WHERE metricId=2 AND timestamp>50000000;"
                            "DELETE FROM GPU_METRICS WHERE metricId=7 AND timestamp>650000000;"
                            "DELETE FROM GPU_METRICS WHERE metricId=3 AND timestamp>670000000"),
                    false);
    check_state(s, METRIC_GR_ACTIVE, VALUE_SUSPECT, "only 2 of 65 samples have it");
    check_state(s, METRIC_OCCUPANCY, VALUE_SUSPECT, "only 32 of 65 samples have it");
    assert_int_equal(metric(s, 0, METRIC_SM_ACTIVE)->value.state, VALUE_OK); /* 33 */
    snapshot_destroy(s);
    /* rows that have no name make no samples in which all else is missing */
    s = snapshot_of(changed(DECODE,
                            "INSERT INTO GPU_METRICS SELECT rawTimestamp,timestamp+n*4000000,"
                            "typeId,999,1 FROM GPU_METRICS,(SELECT 1 n UNION SELECT 2) "
                            "WHERE metricId=3"),
                    false);
    check_mean(s, METRIC_GR_ACTIVE, 0.994);
    assert_int_equal(s->gpus[0].samples, 65);
    assert_near(s->gpus[0].rate_hz, 50, 0.01);
    assert_near(s->gpus[0].coverage, 1, 1e-9);
    assert_true(has_note(s, "130 rows of GPU_METRICS have a metric id without a name"));
    snapshot_destroy(s);
}

/* Finite values whose sum is not. */
static void sums_beyond_all_numbers_are_no_values(void **state)
{
    (void)state;
    /* the bits of 1.7e308, and of it and its negative in turn */
    static const char *const values[] = {
        "9214618609366041440",
        "CASE timestamp/20000000%2 WHEN 0 THEN 9214618609366041440 ELSE -8753427670813341 END"};
    for (size_t i = 0; i < 2; i++) {
        char sql[500];
        snprintf(sql, sizeof sql,
                 "UPDATE TARGET_INFO_GPU_METRICS SET metricName='N [Units]' WHERE metricId=3;"
                 "UPDATE GENERIC_EVENT_TYPE_FIELDS SET type=3,size=8 WHERE fieldIdx=3;"
                 "UPDATE GPU_METRICS SET value=%s+(timestamp/20000000%%7) WHERE metricId=3",
                 values[i]);
        struct snapshot *s = snapshot_of(changed(DECODE, sql), true);
        const struct metric_stats *x = &extra(s, "N [Units]")->stats;
        assert_int_equal(x->value.state, VALUE_FAILED);
        assert_contains(x->value.reason, "too large");
        assert_true(isnan(x->max));
        snapshot_destroy(s);
    }
}

/* 300 typeIds more than a file can have: the others count all the same. */
static void too_many_gpus_cost_only_themselves(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<300) "
                        "INSERT INTO GPU_METRICS SELECT 1400000000,1400000000," TYPE_ID
                        "+n*65536,3,1 FROM r"),
        false);
    assert_int_equal(s->n_gpus, 256);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_true(has_note(s, "more than 256 GPUs (typeIds); only the first 256 are read"));
    assert_true(has_note(s, "45 rows of GPU_METRICS have a typeId that is none of the GPUs"));
    snapshot_destroy(s);
    s = snapshot_of(
        changed(DECODE, "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<256) "
                        "INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+n,sourceId,'',metricId,"
                        "metricName FROM r,TARGET_INFO_GPU_METRICS WHERE metricId=3"),
        false);
    check_mean(s, METRIC_SM_ACTIVE, 86.3076923076923 / 100);
    assert_true(has_note(s, "more than 256 GPUs"));
    snapshot_destroy(s);
}

static unsigned be(const unsigned char *p, int bytes)
{
    unsigned v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}

enum { PAGE = 512, TABLE_INTERIOR = 5 };

/* The page of an interior one's child: of its cells, or the rightmost one's (i = cells). */
static unsigned char *child(unsigned char *page, unsigned i)
{
    return i < be(page + 3, 2) ? page + be(page + 12 + 2 * i, 2) : page + 8;
}

/* Makes all children of the root one interior page, all of that another one, and so on for five
 * floors: some 45 to the fifth leaves of 20 rows in half a megabyte. */
static void forge_tree(const char *path, const char *table)
{
    static unsigned char file[8 << 20];
    int fd = open(path, O_RDWR);
    ssize_t size = read(fd, file, sizeof file);
    assert_true(size > 0 && (size_t)size < sizeof file);
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_master WHERE name=?1", -1, &stmt, NULL);
    sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    unsigned char *page = file + (sqlite3_column_int(stmt, 0) - 1) * PAGE;
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    unsigned char floors[5][4];
    assert_true(be(page + 3, 2) >= 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(page[0], TABLE_INTERIOR);
        memcpy(floors[i], child(page, i), 4);
        assert_int_equal(file[(be(floors[i], 4) - 1) * PAGE], TABLE_INTERIOR);
    }
    for (unsigned floor = 0; floor < 5; floor++) {
        for (unsigned i = 0; i <= be(page + 3, 2); i++)
            memcpy(child(page, i), floors[floor], 4);
        page = file + (be(floors[floor], 4) - 1) * PAGE;
    }
    assert_int_equal(pwrite(fd, file, (size_t)size, 0), size);
    close(fd);
}

/* Pages that belong to a table again and again: without a bound, reading takes days or fills the
 * disk. */
static void endless_tables_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *table, *row, *columns;
    } cases[] = {
        {"GPU_METRICS", "1,1," TYPE_ID ",3,n%100", ""},
        {"GPU_METRICS", "n,n," TYPE_ID ",3,n%100", ""}, /* not in order: sorted */
        {"TARGET_INFO_GPU_METRICS", "0," TYPE_ID ",'some longer text',n,'M'||n%7", ""},
        {"TARGET_INFO_GPU_METRICS", TYPE_ID "," TYPE_ID ",'some longer text',n%7,'M'||n%7", ""},
        {"GENERIC_EVENT_TYPE_FIELDS", TYPE_ID ",n,0,0,1,1",
         "(typeId,fieldIdx,fieldNameId,offset,size,type)"},
        {"META_DATA_EXPORT", "'name '||n,'value '||n", ""},
        {"DIAGNOSTIC_EVENT", "n,1,2,1,'text '||n,1", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *sql = sqlite3_mprintf(
            "PRAGMA page_size=512; VACUUM; DELETE FROM %s;"
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<15000) "
            "INSERT INTO %s%s SELECT %s FROM r",
            cases[i].table, cases[i].table, cases[i].columns, cases[i].row);
        const char *path = changed(DECODE, sql);
        sqlite3_free(sql);
        forge_tree(path, cases[i].table);
        struct error err = ERROR_INIT;
        struct snapshot *s = NULL;
        double start = seconds_now();
        assert_int_equal(read_export(path, false, &s, &err), ERR_BAD_INPUT);
        if (!strstr(err.text, "more rows than the file has room for") &&
            !strstr(err.text, "more than 20000 metrics"))
            fail_msg("case %zu: %s", i, err.text);
        assert_true(seconds_now() - start < 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(values_follow_their_declared_storage),
        cmocka_unit_test(impossible_percents_and_clocks_are_suspect),
        cmocka_unit_test(cells_that_are_no_numbers_are_left_out_and_told),
        cmocka_unit_test(unusable_files_are_refused_with_their_cause),
        cmocka_unit_test(ten_thousand_metrics_are_listed),
        cmocka_unit_test(metrics_times_samples_are_bounded),
        cmocka_unit_test(a_part_twice_is_no_sum),
        cmocka_unit_test(rare_metrics_are_suspect),
        cmocka_unit_test(sums_beyond_all_numbers_are_no_values),
        cmocka_unit_test(too_many_gpus_cost_only_themselves),
        cmocka_unit_test(endless_tables_are_refused),
        cmocka_unit_test(hostile_names_come_out_clean),
        cmocka_unit_test(generated_columns_are_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
