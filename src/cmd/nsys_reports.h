/* SPDX-License-Identifier: MIT */
/* Files of analyze: an SQLite export is read as it is, a report of nsys is exported first, by an
 * nsys of this machine, into a folder of our own. */
#ifndef SMEFF_CMD_NSYS_REPORTS_H
#define SMEFF_CMD_NSYS_REPORTS_H

#include "base/error.h"

struct reports;

/* Looks at the names: nsys is only looked for when one ends in .nsys-rep (or .qdrep, as it was
 * called until 2021). nsys: as --nsys, or NULL. paths must outlive it. */
enum status reports_open(struct reports **out, int n, char *const *paths, const char *nsys,
                         struct error *err);
void reports_close(struct reports *r); /* removes the exports; accepts NULL */

/* The file to read in place of file i. Fails when there is none, with the file's name. */
enum status reports_file(struct reports *r, int i, const char **path, struct error *err);

/* Lets an error that names an export name the report that it was made of. */
void reports_rename(const struct reports *r, int i, struct error *err);

#endif
