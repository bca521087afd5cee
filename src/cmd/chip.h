/* SPDX-License-Identifier: MIT */
/* smeff metrics --chip NAME: which counters PM sampling would read on a chip, without such a GPU.
 * CUPTI is asked in a process like a sampler, the hidden command `smeff chip`: it says as a note
 * which CUPTI it took, and with --chip sends the plan that PM sampling would have on that chip. */
#ifndef SMEFF_CMD_CHIP_H
#define SMEFF_CMD_CHIP_H

#include "cmd/cmd.h"

/* o->chip is set; argv has the keys to show, none means all. Returns the exit code: usage when
 * CUPTI does not know the chip, failure when no CUPTI (12.8 or newer) can be loaded. */
int chip_metrics(const struct options *o, int argc, char **argv);

#endif
