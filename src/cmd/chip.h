/* SPDX-License-Identifier: MIT */
/* smeff metrics --chip NAME: which counters PM sampling would read on a chip, without such a GPU.
 * CUPTI is asked in a process like a sampler, the hidden command `smeff chip`: it says as a note
 * which CUPTI it took, and with --chip sends the plan that PM sampling would have on that chip. */
#ifndef SMEFF_CMD_CHIP_H
#define SMEFF_CMD_CHIP_H

#include "cmd/cmd.h"

/* Does the command line ask for a chip (--chip, or SMEFF_CHIP)? */
bool chip_is_asked(int argc, char **argv);

#endif
