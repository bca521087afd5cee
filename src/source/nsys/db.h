/* SPDX-License-Identifier: MIT */
/* The only door to SQLite: opening a hostile file safely, probing its schema, reading rows. */
#ifndef SMEFF_SOURCE_NSYS_DB_H
#define SMEFF_SOURCE_NSYS_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* An open file, and what it may cost to read it. In a forged one pages can be part of a table over
 * and over, so that its rows never end; what is left of these bounds them by the file's length. It
 * must stay where it was opened. */
struct nsys_db {
    sqlite3 *sql;
    int64_t size;       /* bytes of the file */
    int64_t steps_left; /* of SQLite's machine, for the statement that runs */
    int64_t bytes_left; /* of text and blobs that it reads */
};

/* Opens path as a read-only database and starts a read transaction, so that all queries see one
 * state. Never writes anything beside the file. Errors tell the cause alone, without the path. On
 * success *out is open: nsys_db_close. */
enum status nsys_db_open(struct nsys_db *out, const char *path, struct error *err);
void nsys_db_close(struct nsys_db *db); /* accepts a zeroed one */

/* Views, virtual tables and tables with generated or hidden columns are odd: to read one would run
 * SQL of the file. Reading errors read as "missing": the query that needs it meets them again. */
enum nsys_table { NSYS_TABLE_MISSING, NSYS_TABLE_ODD, NSYS_TABLE_ORDINARY };
enum nsys_table nsys_db_table(struct nsys_db *db, const char *name);

/* Does the file have this ordinary table with this column? column NULL asks for the table alone. */
bool nsys_db_has(struct nsys_db *db, const char *table, const char *column);

/* A cell of a row of numbers; v is meaningful only for an INTEGER (not NULL, text, blob, real). */
struct nsys_cell {
    bool is_integer;
    int64_t v;
};

enum { NSYS_CELLS_MAX = 4 };

/* Calls row for each row of "SELECT columns FROM table [ORDER BY order_by] [LIMIT limit]"
 * (order_by NULL, limit 0 = without), with n <= NSYS_CELLS_MAX columns, until it fails; passes its
 * failure on. More rows than the file has room for are ERR_BAD_INPUT. Without order and limit the
 * whole table runs in one call of SQLite, which is what makes millions of rows fast. */
enum status nsys_db_each(struct nsys_db *db, const char *columns, int n, const char *table,
                         const char *order_by, int limit,
                         enum status (*row)(void *self, const struct nsys_cell *cells,
                                            struct error *err),
                         void *self, struct error *err);

/* Is it a time in ns that leaves room for arithmetic (within 95 years of 0, which holds for times
 * since the session start and for normalised UTC alike)? Inline, since every row asks. */
static inline bool nsys_time_ok(const struct nsys_cell *cell)
{
    const int64_t limit = INT64_C(3000000000000000000);
    return cell->is_integer && cell->v >= -limit && cell->v <= limit;
}

/* The SQL is ours, never the file's. */
enum status nsys_db_prepare(struct nsys_db *db, sqlite3_stmt **out, const char *sql,
                            struct error *err);

/* *row tells whether there was one more row. */
enum status nsys_db_step(struct nsys_db *db, sqlite3_stmt *stmt, bool *row, struct error *err);

/* An INTEGER cell; false for NULL, text, blob and real. */
bool nsys_db_int(sqlite3_stmt *stmt, int column, int64_t *out);

/* A TEXT cell as clean, printable text; "" for anything else. */
void nsys_db_text(sqlite3_stmt *stmt, int column, char *dst, size_t size);

#endif
