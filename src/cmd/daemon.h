/* SPDX-License-Identifier: MIT */
/* The long-running sampler: its loop, and what is asked of it. */
#ifndef SMEFF_CMD_DAEMON_H
#define SMEFF_CMD_DAEMON_H

#include "cmd/request.h"

/* Runs until it is stopped; returns an exit code. */
int daemon_run(const struct options *o, const struct request *r);

#endif
