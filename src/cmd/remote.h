/* SPDX-License-Identifier: MIT */
/* The events of another place: another host over ssh, a daemon's socket, or standard input. */
#ifndef SMEFF_CMD_REMOTE_H
#define SMEFF_CMD_REMOTE_H

#include "base/waits.h"
#include "cmd/cmd.h"
#include "event/event.h"

struct remote;

/* host: `ssh -- HOST smeff stream`; from: "-" for standard input, or a daemon's socket, whose last
 * history_s seconds come first. One of both is NULL. sink must outlive it. */
enum status remote_open(struct remote **out, const char *host, const char *from, double history_s,
                        const struct event_sink *sink, struct error *err);
void remote_close(struct remote *r); /* accepts NULL */

void remote_waits(const struct remote *r, struct waits *w);

/* Takes what is there, without waiting. ERR_BAD_INPUT: a line is no event. */
enum status remote_poll(struct remote *r, struct error *err);

/* Has the stream ended? Then *reason says how; the status is OK where it said so itself. */
bool remote_over(const struct remote *r, enum status *status, const char **reason);

#endif
