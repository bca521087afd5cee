/* SPDX-License-Identifier: MIT */
#include "source/nsys/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "source/nsys/db.h"
#include "source/nsys/nsys.h"

enum { COLUMNS_MAX = 12, ROWS_PER_BEAT = 10000 };

void nsys_beat_say(const struct nsys_beat *b)
{
    if (b->say)
        b->say(b->self);
}

static bool is_version(const char *name)
{
    static const char *const names[] = {
        "EXPORT_SCHEMA_VERSION",       "EXPORT_SCHEMA_VERSION_MAJOR", "EXPORT_SCHEMA_VERSION_MINOR",
        "EXPORT_SCHEMA_VERSION_MICRO", "EXPORT_PRODUCT_NAME",         "EXPORT_PRODUCT_VERSION",
        "EXPORT_PARAM_TIME_NORMALIZE", "EXPORT_PARAM_TIME_SHIFT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_setting(const char *name)
{
    return str_starts_with(name, "GPU_METRICS_OPTIONS:");
}

static bool is_of_gpu_metrics(const char *text)
{
    return str_starts_with(text, "GPU Metrics [") ||
           str_starts_with(text, "Number of GPU Metrics events collected:");
}

/* What goes over: columns that are not there are left out. */
static const struct table {
    const char *name, *columns[COLUMNS_MAX];
    bool (*told)(const char *text); /* which rows, by the first column; NULL = all */
} kept[] = {
    {"GPU_METRICS", {"rawTimestamp", "timestamp", "typeId", "metricId", "value"}, NULL},
    {"TARGET_INFO_GPU_METRICS", {"typeId", "sourceId", "metricId", "metricName"}, NULL},
    {"GENERIC_EVENT_TYPE_FIELDS", {"typeId", "fieldIdx", "offset", "size", "type"}, NULL},
    {"TARGET_INFO_GPU",
     {"vmId", "id", "name", "busLocation", "chipName", "totalMemory", "memoryBandwidth",
      "clockRate", "smCount"},
     NULL},
    {"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, NULL},
    {"META_DATA_EXPORT", {"name", "value"}, is_version},
    {"EXPORT_META_DATA", {"name", "value"}, is_version},
    {"META_DATA_CAPTURE", {"name", "value"}, is_setting},
    {"DIAGNOSTIC_EVENT", {"text", "timestamp", "severity", "source"}, is_of_gpu_metrics},
};

static enum status sql_fail(sqlite3 *to, struct error *err)
{
    return fail(err, ERR_IO, sqlite3_errcode(to), "%s", sqlite3_errmsg(to));
}

static enum status execute(sqlite3 *to, const char *sql, struct error *err)
{
    return sqlite3_exec(to, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : sql_fail(to, err);
}

static bool is_told(const struct table *t, sqlite3_stmt *row)
{
    if (!t->told)
        return true;
    const char *text = (const char *)sqlite3_column_text(row, 0);
    return text && t->told(text);
}

/* A path can stand in any text, such as that of a metric set of one's own (file:PATH). */
static bool is_path(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text && (text[0] == '/' || strstr(text, "file:") || strstr(text, " /"));
}

/* Numbers and text; a blob could be anything. */
static void bind(sqlite3_stmt *insert, sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    if (type == SQLITE_BLOB || (type == SQLITE_TEXT && is_path(row, column)))
        sqlite3_bind_null(insert, column + 1);
    else
        sqlite3_bind_value(insert, column + 1, sqlite3_column_value(row, column));
}

static enum status copy_rows(struct nsys_db *from, const struct table *t, sqlite3_stmt *rows,
                             sqlite3 *to, sqlite3_stmt *insert, const struct nsys_beat *beat,
                             struct error *err)
{
    bool row = true;
    enum status st = OK;
    unsigned rows_done = 0;
    while (!st && !(st = nsys_db_step(from, rows, &row, err)) && row) {
        if (++rows_done % ROWS_PER_BEAT == 0)
            nsys_beat_say(beat);
        if (!is_told(t, rows))
            continue;
        for (int i = 0; i < sqlite3_column_count(rows); i++)
            bind(insert, rows, i);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
            st = sql_fail(to, err);
    }
    return st;
}

/* The SQL of a table: made of our own words alone. */
struct sql {
    struct buf create, select, insert;
};

static size_t make_sql(struct sql *q, struct nsys_db *from, const struct table *t)
{
    size_t n = 0;
    buf_printf(&q->create, "CREATE TABLE %s (", t->name);
    buf_puts(&q->select, "SELECT ");
    buf_printf(&q->insert, "INSERT INTO %s VALUES (", t->name);
    for (size_t i = 0; i < COLUMNS_MAX && t->columns[i]; i++) {
        if (!nsys_db_has(from, t->name, t->columns[i]))
            continue;
        const char *comma = n++ ? ", " : "";
        buf_printf(&q->create, "%s%s", comma, t->columns[i]);
        buf_printf(&q->select, "%s%s", comma, t->columns[i]);
        buf_printf(&q->insert, "%s?", comma);
    }
    buf_puts(&q->create, ")");
    buf_printf(&q->select, " FROM %s", t->name);
    buf_puts(&q->insert, ")");
    return n;
}

static enum status copy_table(struct nsys_db *from, sqlite3 *to, const struct table *t,
                              const struct nsys_beat *beat, struct error *err)
{
    struct sql q = {BUF_INIT, BUF_INIT, BUF_INIT};
    sqlite3_stmt *rows = NULL, *insert = NULL;
    enum status st = OK;
    if (make_sql(&q, from, t) == 0)
        goto out;
    if (q.create.failed || q.select.failed || q.insert.failed) {
        st = fail(err, ERR_NOMEM, 0, "out of memory");
        goto out;
    }
    st = execute(to, buf_str(&q.create), err);
    if (!st && sqlite3_prepare_v2(to, buf_str(&q.insert), -1, &insert, NULL) != SQLITE_OK)
        st = sql_fail(to, err);
    if (!st)
        st = nsys_db_prepare(from, &rows, buf_str(&q.select), err);
    if (!st)
        st = copy_rows(from, t, rows, to, insert, beat, err);
out:
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
    buf_fini(&q.create);
    buf_fini(&q.select);
    buf_fini(&q.insert);
    return st;
}

static enum status copy_all(struct nsys_db *from, const char *path, const struct nsys_beat *beat,
                            struct error *err)
{
    sqlite3 *to = NULL;
    enum status st =
        sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL) == SQLITE_OK
            ? execute(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", err)
            : sql_fail(to, err);
    for (size_t i = 0; !st && i < sizeof kept / sizeof kept[0]; i++)
        st = copy_table(from, to, &kept[i], beat, err);
    if (!st)
        st = execute(to, "COMMIT", err);
    if (sqlite3_close(to) != SQLITE_OK && !st)
        st = fail(err, ERR_IO, 0, "%s: cannot be closed", path);
    return st;
}

enum status nsys_scrub(const char *from, const char *path, const struct nsys_beat *beat,
                       struct error *err)
{
    struct nsys_db db = {0};
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
    close(fd);
    enum status st = nsys_db_open(&db, from, err);
    if (st)
        nsys_name_file(err, st, from);
    if (!st && !nsys_db_has(&db, "GPU_METRICS", NULL))
        st = fail(err, ERR_BAD_INPUT, 0, "%s: no GPU metrics in it", from);
    if (!st && (st = copy_all(&db, path, beat, err)))
        fail_wrap(err, st, "%s", path);
    nsys_db_close(&db);
    if (st)
        unlink(path);
    return st;
}
