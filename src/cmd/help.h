/* SPDX-License-Identifier: MIT */
#ifndef SMEFF_CMD_HELP_H
#define SMEFF_CMD_HELP_H

#include "base/buf.h"
#include "cmd/cmd.h"

void help_all(struct buf *out);
void help_command(struct buf *out, const struct command *c);

#endif
