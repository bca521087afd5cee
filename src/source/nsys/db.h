/* SPDX-License-Identifier: MIT */
/* The only door to SQLite: opening a hostile file safely, probing its schema, reading rows. */
#ifndef SMEFF_SOURCE_NSYS_DB_H
#define SMEFF_SOURCE_NSYS_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Opens path as a read-only database and starts a read transaction, so that all queries see one
 * state. Errors name the file. On success *out is the caller's: nsys_db_close. */
enum status nsys_db_open(sqlite3 **out, const char *path, struct error *err);
void nsys_db_close(sqlite3 *db); /* accepts NULL */

/* Does the file have this ordinary table (no view, no virtual table) with this column?
 * column NULL asks for the table alone. Reading errors read as "no": the query that needs it
 * will meet them again. */
bool nsys_db_has(sqlite3 *db, const char *table, const char *column);

/* The SQL is ours, never the file's. */
enum status nsys_db_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct error *err);

/* *row tells whether there was one more row. */
enum status nsys_db_step(sqlite3_stmt *stmt, bool *row, struct error *err);

/* An INTEGER cell; false for NULL, text, blob and real. */
bool nsys_db_int(sqlite3_stmt *stmt, int column, int64_t *out);

/* A timestamp in ns: an INTEGER that leaves room for arithmetic (within 95 years of 0, which holds
 * for times since the session start and for normalised UTC alike). */
bool nsys_db_time(sqlite3_stmt *stmt, int column, int64_t *out);

/* A TEXT cell as clean, printable text; "" for anything else. */
void nsys_db_text(sqlite3_stmt *stmt, int column, char *dst, size_t size);

#endif
