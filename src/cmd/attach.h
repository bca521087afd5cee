/* SPDX-License-Identifier: MIT */
/* The events of a daemon that runs here: what live.h gives without one. */
#ifndef SMEFF_CMD_ATTACH_H
#define SMEFF_CMD_ATTACH_H

#include "base/waits.h"
#include "cmd/request.h"
#include "event/event.h"

struct attach;

/* Events of wanted GPUs go to sink, hello at once, the others when polled. history_s: what happened
 * in the seconds before comes first. ERR_NOT_FOUND: no daemon runs. r and sink must outlive it. */
enum status attach_open(struct attach **out, const char *run_dir, double history_s,
                        const struct request *r, const struct event_sink *sink, struct error *err);
void attach_close(struct attach *a); /* accepts NULL */

/* Does the daemon play a recording? */
bool attach_is_replay(const struct attach *a);

/* As their namesakes of live.h. */
enum status attach_poll(struct attach *a, int timeout_ms, struct error *err);
void attach_waits(const struct attach *a, struct waits *w);
bool attach_settled(const struct attach *a);
enum status attach_counters(const struct attach *a, const char **reason);
bool attach_over(const struct attach *a, enum status *status, const char **reason);

#endif
