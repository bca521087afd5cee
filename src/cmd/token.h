/* SPDX-License-Identifier: MIT */
/* The servers' key: from a file or the environment, never from the command line. */
#ifndef SMEFF_CMD_TOKEN_H
#define SMEFF_CMD_TOKEN_H

#include "base/error.h"

enum { TOKEN_SIZE = 4000 };

/* Takes SMEFF_TOKEN out of the environment, for token_read to find, so that no process that is
 * started from now on has it. Before the first one is. */
void token_hide(void);

/* The first line of the file, else the variable SMEFF_TOKEN, else "". Errors name the file, never
 * what is in it. */
enum status token_read(const char *path, char dst[TOKEN_SIZE], struct error *err);

#endif
