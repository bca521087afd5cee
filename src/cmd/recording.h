/* SPDX-License-Identifier: MIT */
/* Recordings of smeff (record, measure --out) as snapshots. */
#ifndef SMEFF_CMD_RECORDING_H
#define SMEFF_CMD_RECORDING_H

#include "collect/snapshot.h"
#include "event/event.h"

/* Is it really one? So that a file that is none is said at once. */
enum status recording_check(const char *path, struct error *err);

/* All of its events. One that was cut off ends with a note that says so. */
enum status recording_read(const char *path, const struct event_sink *sink, struct error *err);

/* The statistics of all of it. ERR_BAD_INPUT: no recording, or damaged: the text names
 * the file. */
enum status recording_snapshot(const char *path, struct snapshot **out, struct error *err);

#endif
