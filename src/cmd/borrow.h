/* SPDX-License-Identifier: MIT */
/* The counters of a daemon that runs here, for a while. */
#ifndef SMEFF_CMD_BORROW_H
#define SMEFF_CMD_BORROW_H

#include <stdbool.h>

#include "base/error.h"

/* The daemon lends them for as long as *fd is open: whatever ends us gives them back. name says who
 * has them. *fd -1 and OK: no daemon runs, so that there is nothing to borrow. ERR_PERMISSION: one
 * runs, and does not let us in. */
enum status borrow(const char *run_dir, const char *name, int *fd, struct error *err);

/* Has the daemon gone? Then what it lent may be taken by its next one. */
bool borrow_is_over(int fd);

void borrow_end(int fd); /* accepts -1 */

#endif
