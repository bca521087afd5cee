/* SPDX-License-Identifier: MIT */
/* The counters of a daemon that runs here, for a while. */
#ifndef SMEFF_CMD_BORROW_H
#define SMEFF_CMD_BORROW_H

#include "base/error.h"

/* The daemon lends them for as long as *fd is open: whatever ends us gives them back. name says who
 * has them. *fd -1: no daemon runs, or none that lets us in, so that there is nothing to borrow. */
enum status borrow(const char *run_dir, const char *name, int *fd, struct error *err);

void borrow_end(int fd); /* accepts -1 */

#endif
