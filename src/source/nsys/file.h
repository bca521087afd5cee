/* SPDX-License-Identifier: MIT */
/* A file before SQLite gets it: is it a whole SQLite database, and is nothing unfinished beside it?
 */
#ifndef SMEFF_SOURCE_NSYS_FILE_H
#define SMEFF_SOURCE_NSYS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What sqlite3_open_v2 is to get. */
struct nsys_file {
    char *name;   /* absolute path, or URI; owned */
    bool is_uri;  /* needs SQLITE_OPEN_URI */
    int64_t size; /* bytes */
};

/* Errors tell the cause alone, without the path. On success *out is the caller's: nsys_file_fini.
 */
enum status nsys_file_check(struct nsys_file *out, const char *path, struct error *err);
void nsys_file_fini(struct nsys_file *f); /* accepts a zeroed one */

#endif
