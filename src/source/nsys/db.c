/* SPDX-License-Identifier: MIT */
#include "source/nsys/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

static const char sqlite_magic[16] = "SQLite format 3"; /* with its NUL */

/* What else people hand us, told by its first bytes. */
static const char *other_format(const unsigned char *head, size_t n)
{
    if (n >= 2 && head[0] == 0x1F && head[1] == 0x8B)
        return "a gzip file, not an SQLite export";
    if (n >= 1 && head[0] == '{')
        return "JSON, not an SQLite export";
    return "not an SQLite database (an .nsys-rep becomes one by: nsys export -t sqlite FILE)";
}

/* SQLite's file format: page size at 16 (1 = 65536), page count at 28, valid when the counters at
 * 24 and 92 agree (https://www.sqlite.org/fileformat2.html section 1.3). */
static enum status check_length(const char *path, const unsigned char *head, int64_t size,
                                struct error *err)
{
    int64_t page = head[16] << 8 | head[17];
    if (page == 1)
        page = 65536;
    int64_t pages = (int64_t)head[28] << 24 | head[29] << 16 | head[30] << 8 | head[31];
    if (memcmp(head + 24, head + 92, 4) == 0 && pages * page > size)
        return fail(err, ERR_BAD_INPUT, 0,
                    "%s: truncated: %lld bytes of %lld (copied or written only in part?)", path,
                    (long long)size, (long long)(pages * page));
    return OK;
}

static enum status check_file(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        enum status st = errno == EACCES || errno == EPERM ? ERR_PERMISSION : ERR_IO;
        return fail(err, st, errno, "%s: %s", path, strerror(errno));
    }
    enum status st = OK;
    struct stat info;
    unsigned char head[100];
    ssize_t n = 0;
    if (fstat(fd, &info) != 0)
        st = fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        st = fail(err, ERR_BAD_INPUT, 0, "%s: is a directory", path);
    else if (!S_ISREG(info.st_mode))
        st = fail(err, ERR_BAD_INPUT, 0, "%s: not a regular file", path);
    else if (info.st_size == 0)
        st = fail(err, ERR_BAD_INPUT, 0, "%s: empty file", path);
    else if ((n = pread(fd, head, sizeof head, 0)) < 0)
        st = fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
    else if ((size_t)n < sizeof sqlite_magic || memcmp(head, sqlite_magic, sizeof sqlite_magic))
        st = fail(err, ERR_BAD_INPUT, 0, "%s: %s", path, other_format(head, (size_t)n));
    else if ((size_t)n < sizeof head)
        st = fail(err, ERR_BAD_INPUT, 0, "%s: truncated: only %zd bytes", path, n);
    else
        st = check_length(path, head, (int64_t)info.st_size, err);
    close(fd);
    return st;
}

static enum status sqlite_fail(sqlite3 *db, int rc, struct error *err)
{
    switch (rc & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail(err, ERR_BAD_INPUT, rc, "another program is writing it");
    case SQLITE_NOMEM:
        return fail(err, ERR_NOMEM, rc, "out of memory");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail(err, ERR_BAD_INPUT, rc, "damaged: %s", sqlite3_errmsg(db));
    default:
        return fail(err, ERR_BAD_INPUT, rc, "%s", sqlite3_errmsg(db));
    }
}

/* SQL text in the file (views, triggers, expressions of indexes) must never run:
 * https://www.sqlite.org/security.html */
static int only_reading(void *unused, int action, const char *a, const char *b, const char *c,
                        const char *trigger_or_view)
{
    (void)unused, (void)a, (void)b, (void)c;
    if (trigger_or_view)
        return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_TRANSACTION || action == SQLITE_PRAGMA
               ? SQLITE_OK
               : SQLITE_DENY;
}

static void harden(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 16 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(db, only_reading, NULL);
    sqlite3_busy_timeout(db, 200);
}

enum status nsys_db_open(sqlite3 **out, const char *path, struct error *err)
{
    enum status st = check_file(path, err);
    if (st)
        return st;
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        harden(db);
        /* cell_size_check finds damage early; the 8 MiB cache bounds memory on any file */
        rc = sqlite3_exec(db,
                          "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-8192;"
                          "BEGIN; SELECT count(*) FROM sqlite_master;",
                          NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        st = sqlite_fail(db, rc, err);
        fail_wrap(err, st, "%s", path);
        sqlite3_close_v2(db);
        return st;
    }
    *out = db;
    return OK;
}

void nsys_db_close(sqlite3 *db)
{
    sqlite3_close_v2(db);
}

bool nsys_db_has(sqlite3 *db, const char *table, const char *column)
{
    sqlite3_stmt *stmt = NULL;
    /* a view or a virtual table has no root page */
    const char *sql = "SELECT 1 FROM sqlite_master WHERE type='table' AND rootpage>0 AND name=?1";
    bool has = false;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        has = sqlite3_step(stmt) == SQLITE_ROW;
    }
    sqlite3_finalize(stmt);
    if (!has || !column)
        return has;
    return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

enum status nsys_db_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct error *err)
{
    int rc = sqlite3_prepare_v2(db, sql, -1, out, NULL);
    return rc == SQLITE_OK ? OK : sqlite_fail(db, rc, err);
}

enum status nsys_db_step(sqlite3_stmt *stmt, bool *row, struct error *err)
{
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return sqlite_fail(sqlite3_db_handle(stmt), rc, err);
    *row = rc == SQLITE_ROW;
    return OK;
}

bool nsys_db_int(sqlite3_stmt *stmt, int column, int64_t *out)
{
    if (sqlite3_column_type(stmt, column) != SQLITE_INTEGER)
        return false;
    *out = sqlite3_column_int64(stmt, column);
    return true;
}

void nsys_db_text(sqlite3_stmt *stmt, int column, char *dst, size_t size)
{
    dst[0] = '\0';
    if (sqlite3_column_type(stmt, column) != SQLITE_TEXT)
        return;
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    int n = sqlite3_column_bytes(stmt, column);
    if (text && n > 0)
        str_clean(dst, size, text, (size_t)n);
}

bool nsys_time_ok(const struct nsys_cell *cell)
{
    static const int64_t limit = 3000000000000000000;
    return cell->is_integer && cell->v >= -limit && cell->v <= limit;
}

/* What the aggregate function smeff_each works on. */
struct each {
    enum status (*row)(void *self, const struct nsys_cell *cells, struct error *err);
    void *self;
    struct error *err;
    enum status status;
};

static void each_step(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct each *each = sqlite3_user_data(context);
    struct nsys_cell cells[NSYS_CELLS_MAX];
    for (int i = 0; i < n; i++) {
        cells[i].is_integer = sqlite3_value_type(values[i]) == SQLITE_INTEGER;
        cells[i].v = sqlite3_value_int64(values[i]);
    }
    each->status = each->row(each->self, cells, each->err);
    if (each->status)
        sqlite3_result_error(context, "stopped", -1); /* ends the query */
}

static void each_final(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

static enum status each_inside(sqlite3 *db, const char *columns, int n, const char *table,
                               struct each *each)
{
    char *sql = sqlite3_mprintf("SELECT smeff_each(%s) FROM %s", columns, table);
    int rc = sqlite3_create_function_v2(db, "smeff_each", n, SQLITE_UTF8 | SQLITE_DIRECTONLY, each,
                                        NULL, each_step, each_final, NULL);
    if (sql && rc == SQLITE_OK)
        rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    if (each->status)
        return each->status;
    return sql && rc == SQLITE_OK ? OK : sqlite_fail(db, sql ? rc : SQLITE_NOMEM, each->err);
}

enum status nsys_db_each(sqlite3 *db, const char *columns, int n, const char *table,
                         const char *order_by, int limit,
                         enum status (*row)(void *self, const struct nsys_cell *cells,
                                            struct error *err),
                         void *self, struct error *err)
{
    if (!order_by && limit == 0) {
        struct each each = {row, self, err, OK};
        return each_inside(db, columns, n, table, &each);
    }
    char *sql =
        sqlite3_mprintf("SELECT %s FROM %s%s%s LIMIT %d", columns, table,
                        order_by ? " ORDER BY " : "", order_by ? order_by : "", limit ? limit : -1);
    if (!sql)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    sqlite3_stmt *stmt = NULL;
    enum status st = nsys_db_prepare(db, &stmt, sql, err);
    bool more = true;
    while (!st && !(st = nsys_db_step(stmt, &more, err)) && more) {
        struct nsys_cell cells[NSYS_CELLS_MAX];
        for (int i = 0; i < n; i++) {
            cells[i].v = 0;
            cells[i].is_integer = nsys_db_int(stmt, i, &cells[i].v);
        }
        st = row(self, cells, err);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return st;
}
