/* SPDX-License-Identifier: MIT */
/* From an nsys export to a snapshot: the one way that commands, tests and fuzzing take. */
#ifndef SMEFF_CMD_NSYS_SNAPSHOT_H
#define SMEFF_CMD_NSYS_SNAPSHOT_H

#include <stdbool.h>

#include "base/error.h"
#include "collect/snapshot.h"

/* Reads all of the file at path, sorted by time when it is not in that order. all = also the
 * metrics that are not in the catalogue. *out is released by snapshot_destroy. err's text begins
 * with path. */
enum status nsys_snapshot(const char *path, bool all, struct snapshot **out, struct error *err);

#endif
