/* SPDX-License-Identifier: MIT */
/* "Record now": the rest of a stream into a file, at any moment, as a whole recording: what holds
 * there (GPUs, plans, …) comes first. */
#ifndef SMEFF_CMD_RECORDER_H
#define SMEFF_CMD_RECORDER_H

#include "collect/preamble.h"
#include "event/file.h"
#include "event/wire.h"

/* A zeroed one is ready. */
struct recorder {
    struct preamble holds;
    struct event_encoder *encoder; /* owned */
    struct buf text;               /* scratch */
    struct event_writer *writer;   /* owned; NULL = not recording */
    char path[256];
};

void recorder_fini(struct recorder *r);

/* Has to see every event. A file that cannot be written ends the recording, with the error. */
enum status recorder_take(struct recorder *r, const struct event *ev, struct error *err);

/* Begins a file in the current folder, named by the time; or ends the recording, with an `end`. */
enum status recorder_begin(struct recorder *r, struct error *err);
enum status recorder_end(struct recorder *r, struct error *err);

#endif
