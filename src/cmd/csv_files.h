/* SPDX-License-Identifier: MIT */
/* Files as one CSV: what analyze --csv and export --csv print. */
#ifndef SMEFF_CMD_CSV_FILES_H
#define SMEFF_CMD_CSV_FILES_H

#include "cmd/cmd.h"
#include "cmd/nsys_reports.h"

/* All files are described before the first row, so that one header fits all. Each is opened twice,
 * so that never more than one is open. Returns the exit code. */
int csv_files_print(const struct options *o, struct reports *reports, int n, char **names);

#endif
