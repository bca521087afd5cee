/* SPDX-License-Identifier: MIT */
#include "source/nsys/db.h"

#include <string.h>

#include "base/str.h"
#include "source/nsys/file.h"

/* The shortest row: two bytes where it lies, its length, its number, and a header of one byte. */
enum { ROW_BYTES_MIN = 5 };

/* A row costs some 16 steps, when it is sorted, and a real one has 20 bytes and more. */
enum { STEPS_PER_BYTE = 8, STEPS_AT_ONCE = 10000, STEPS_ALWAYS = 1000000 };

/* UTF-16 becomes longer as UTF-8. */
enum { TEXT_PER_BYTE = 2, TEXT_ALWAYS = 1 << 20 };

static enum status too_much(struct error *err)
{
    return fail(err, ERR_BAD_INPUT, 0, "damaged: a table has more rows than the file has room for");
}

/* Before each statement. */
static void allow(struct nsys_db *db)
{
    db->steps_left = STEPS_PER_BYTE * db->size + STEPS_ALWAYS;
    db->bytes_left = TEXT_PER_BYTE * db->size + TEXT_ALWAYS;
}

static int count_steps(void *self)
{
    struct nsys_db *db = self;
    db->steps_left -= STEPS_AT_ONCE;
    return db->steps_left < 0;
}

static enum status sqlite_fail(sqlite3 *db, int rc, struct error *err)
{
    switch (rc & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail(err, ERR_BAD_INPUT, rc, "another program is writing it");
    case SQLITE_READONLY: /* a journal that must be rolled back first, which is writing */
        return fail(err, ERR_BAD_INPUT, rc,
                    "an unfinished write lies beside it (its -journal file): open it once with "
                    "sqlite3 (sqlite3 FILE .tables)");
    case SQLITE_INTERRUPT: /* by count_steps */
        return too_much(err);
    case SQLITE_NOMEM:
        return fail(err, ERR_NOMEM, rc, "out of memory");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail(err, ERR_BAD_INPUT, rc, "damaged: %s", sqlite3_errmsg(db));
    default:
        return fail(err, ERR_BAD_INPUT, rc, "%s", sqlite3_errmsg(db));
    }
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (; name && *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Allows what our own statements do, and nothing else (https://www.sqlite.org/security.html).
 * SQLite asks when it compiles a statement, so this stops views and triggers, which become part of
 * ours, and functions in them. It is not asked for what belongs to a table's definition: generated
 * columns are compiled unseen, which is why nsys_db_table refuses tables that have any. CHECK
 * constraints run only on writing, and expressions of indexes and partial indexes only where a
 * query contains the same expression; none of ours has one. */
static int only_reading(void *unused, int action, const char *a, const char *b, const char *c,
                        const char *trigger_or_view)
{
    static const char *const functions[] = {"smeff_each", NULL};
    static const char *const pragmas[] = {"cell_size_check", "mmap_size", "cache_size",
                                          "table_xinfo", NULL};
    (void)unused, (void)c;
    if (trigger_or_view)
        return SQLITE_DENY;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_TRANSACTION:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return is_one_of(b, functions) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return is_one_of(a, pragmas) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static void harden(struct nsys_db *out)
{
    sqlite3 *db = out->sql;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    /* a long cell that nobody asks for must not cost the file, and none can be longer than that;
     * what is read of them all is bounded in nsys_db_step */
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 30);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(db, only_reading, NULL);
    sqlite3_busy_timeout(db, 200);
    sqlite3_progress_handler(db, STEPS_AT_ONCE, count_steps, out);
    allow(out);
}

enum status nsys_db_open(struct nsys_db *out, const char *path, struct error *err)
{
    struct nsys_file file = {0};
    enum status st = nsys_file_check(&file, path, err);
    if (st)
        return st;
    struct nsys_db db = {.size = file.size};
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (file.is_uri ? SQLITE_OPEN_URI : 0);
    int rc = sqlite3_open_v2(file.name, &db.sql, flags, NULL);
    nsys_file_fini(&file);
    *out = db;
    if (rc == SQLITE_OK) {
        harden(out);
        /* cell_size_check finds damage early; the 8 MiB cache bounds memory on any file; the query
         * reads the schema and takes the lock */
        rc = sqlite3_exec(out->sql,
                          "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-8192;"
                          "BEGIN; SELECT rootpage FROM sqlite_master;",
                          NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        st = sqlite_fail(out->sql, rc, err);
        nsys_db_close(out);
        return st;
    }
    return OK;
}

void nsys_db_close(struct nsys_db *db)
{
    sqlite3_close_v2(db->sql);
    *db = (struct nsys_db){0};
}

/* Is there an object of this name, and is it a table on pages of the file's own? A view or a
 * virtual table has no root page. */
static enum nsys_table look_up(struct nsys_db *db, const char *name)
{
    sqlite3_stmt *stmt = NULL;
    enum nsys_table found = NSYS_TABLE_MISSING;
    const char *sql = "SELECT type='table' AND rootpage>0 FROM sqlite_master WHERE name=?1";
    if (nsys_db_prepare(db, &stmt, sql, NULL) == OK) {
        sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(stmt) == SQLITE_ROW)
            found = sqlite3_column_int(stmt, 0) ? NSYS_TABLE_ORDINARY : NSYS_TABLE_ODD;
    }
    sqlite3_finalize(stmt);
    return found;
}

/* Also looks for a column of the table. */
static enum nsys_table look_into(struct nsys_db *db, const char *name, const char *column,
                                 bool *has)
{
    enum { COLUMN_NAME = 1, COLUMN_HIDDEN = 6 }; /* of PRAGMA table_xinfo's result */
    enum nsys_table found = look_up(db, name);
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("PRAGMA table_xinfo(%Q)", name);
    *has = false;
    if (found != NSYS_TABLE_ORDINARY || !sql || nsys_db_prepare(db, &stmt, sql, NULL)) {
        sqlite3_free(sql);
        return found == NSYS_TABLE_ORDINARY ? NSYS_TABLE_ODD : found;
    }
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, COLUMN_NAME);
        if (sqlite3_column_int(stmt, COLUMN_HIDDEN))
            found = NSYS_TABLE_ODD;
        *has |= column && text && sqlite3_stricmp(text, column) == 0;
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return found;
}

enum nsys_table nsys_db_table(struct nsys_db *db, const char *name)
{
    bool has;
    return look_into(db, name, NULL, &has);
}

bool nsys_db_has(struct nsys_db *db, const char *table, const char *column)
{
    bool has;
    return look_into(db, table, column, &has) == NSYS_TABLE_ORDINARY && (has || !column);
}

enum status nsys_db_prepare(struct nsys_db *db, sqlite3_stmt **out, const char *sql,
                            struct error *err)
{
    allow(db);
    int rc = sqlite3_prepare_v2(db->sql, sql, -1, out, NULL);
    return rc == SQLITE_OK ? OK : sqlite_fail(db->sql, rc, err);
}

enum status nsys_db_step(struct nsys_db *db, sqlite3_stmt *stmt, bool *row, struct error *err)
{
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return sqlite_fail(db->sql, rc, err);
    *row = rc == SQLITE_ROW;
    for (int i = 0; *row && i < sqlite3_column_count(stmt); i++) {
        int type = sqlite3_column_type(stmt, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            db->bytes_left -= sqlite3_column_bytes(stmt, i);
    }
    return db->bytes_left < 0 ? too_much(err) : OK;
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

/* What the aggregate function smeff_each works on. */
struct each {
    enum status (*row)(void *self, const struct nsys_cell *cells, struct error *err);
    void *self;
    struct error *err;
    enum status status;
    int64_t rows_left;
    struct nsys_db *db;
};

__attribute__((cold, noinline)) static void charge(struct each *each, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) /* many can share one chain of pages */
        each->db->bytes_left -= sqlite3_value_bytes(value);
}

static void each_step(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct each *each = sqlite3_user_data(context);
    struct nsys_cell cells[NSYS_CELLS_MAX];
    for (int i = 0; i < n; i++) {
        cells[i].is_integer = sqlite3_value_type(values[i]) == SQLITE_INTEGER;
        cells[i].v = cells[i].is_integer ? sqlite3_value_int64(values[i]) : 0;
        if (!cells[i].is_integer)
            charge(each, values[i]);
    }
    each->status = each->rows_left-- > 0 && each->db->bytes_left >= 0
                       ? each->row(each->self, cells, each->err)
                       : too_much(each->err);
    if (each->status)
        sqlite3_result_error(context, "stopped", -1); /* ends the query */
}

static void each_final(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

static enum status each_inside(struct nsys_db *db, const char *columns, int n, const char *table,
                               struct each *each)
{
    char *sql = sqlite3_mprintf("SELECT smeff_each(%s) FROM %s NOT INDEXED", columns, table);
    int rc = sqlite3_create_function_v2(db->sql, "smeff_each", n, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                        each, NULL, each_step, each_final, NULL);
    allow(db);
    if (sql && rc == SQLITE_OK)
        rc = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    if (each->status)
        return each->status;
    return sql && rc == SQLITE_OK ? OK : sqlite_fail(db->sql, sql ? rc : SQLITE_NOMEM, each->err);
}

static enum status count_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)self, (void)cells, (void)err;
    return OK;
}

/* Row by row, for the first ones or for sorted ones. */
static enum status each_outside(struct nsys_db *db, const char *sql, int n, struct each *each)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = sql ? nsys_db_prepare(db, &stmt, sql, each->err)
                         : fail(each->err, ERR_NOMEM, 0, "out of memory");
    bool more = true;
    while (!st && !(st = nsys_db_step(db, stmt, &more, each->err)) && more) {
        struct nsys_cell cells[NSYS_CELLS_MAX];
        for (int i = 0; i < n; i++) {
            cells[i].v = 0;
            cells[i].is_integer = nsys_db_int(stmt, i, &cells[i].v);
        }
        st = each->row(each->self, cells, each->err);
    }
    sqlite3_finalize(stmt);
    return st;
}

enum status nsys_db_each(struct nsys_db *db, const char *columns, int n, const char *table,
                         const char *order_by, int limit,
                         enum status (*row)(void *self, const struct nsys_cell *cells,
                                            struct error *err),
                         void *self, struct error *err)
{
    const int64_t rows_max = db->size / ROW_BYTES_MIN;
    struct each each = {row, self, err, OK, rows_max, db};
    struct each count = {count_row, NULL, err, OK, rows_max, db};
    if (!order_by && limit == 0)
        return each_inside(db, columns, n, table, &each);
    /* sorting writes all rows to a temporary file before it returns the first one */
    enum status st = order_by ? each_inside(db, columns, n, table, &count) : OK;
    if (st)
        return st;
    char *sql =
        sqlite3_mprintf("SELECT %s FROM %s NOT INDEXED%s%s LIMIT %d", columns, table,
                        order_by ? " ORDER BY " : "", order_by ? order_by : "", limit ? limit : -1);
    st = each_outside(db, sql, n, &each);
    sqlite3_free(sql);
    return st;
}
