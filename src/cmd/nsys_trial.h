/* SPDX-License-Identifier: MIT */
/* The third witness of a self-test: Nsight Systems captures the same load. It needs the hardware
 * counters for itself, so nothing else may sample meanwhile. */
#ifndef SMEFF_CMD_NSYS_TRIAL_H
#define SMEFF_CMD_NSYS_TRIAL_H

#include "base/error.h"
#include "collect/snapshot.h"

/* Runs a load, captures some seconds of its steady part with this nsys (a path, or a name to look
 * for in PATH), and reads what came out. Temporary files are removed. *out is released by
 * snapshot_destroy. */
enum status nsys_trial_run(const char *nsys, unsigned gpu, const char *load, double seconds,
                           struct snapshot **out, struct error *err);

#endif
