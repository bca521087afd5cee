/* SPDX-License-Identifier: MIT */
/* The servers' key: from a file or the environment, never from the command line. */
#ifndef SMEFF_CMD_TOKEN_H
#define SMEFF_CMD_TOKEN_H

#include "base/error.h"

enum { TOKEN_SIZE = 4000 };

/* The first line of the file, else the variable SMEFF_TOKEN, else "". Errors name the file, never
 * what is in it. */
enum status token_read(const char *path, char dst[TOKEN_SIZE], struct error *err);

#endif
