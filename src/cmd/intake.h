/* SPDX-License-Identifier: MIT */
/* Where a command's events come from: a daemon that runs here, else samplers of its own. */
#ifndef SMEFF_CMD_INTAKE_H
#define SMEFF_CMD_INTAKE_H

#include "base/waits.h"
#include "cmd/request.h"
#include "event/event.h"

struct intake;

/* A daemon is taken unless --own or --replay is given. What it samples was decided at its start: an
 * option that asks for something else is ERR_USAGE. history_s: see attach_open. */
enum status intake_open(struct intake **out, const struct options *o, const struct request *r,
                        double history_s, const struct event_sink *sink, struct error *err);
void intake_close(struct intake *in); /* accepts NULL */

/* Do the events come from a daemon? It watches servers, too. */
bool intake_is_attached(const struct intake *in);

/* Are they of a recording? Then nothing else of this machine belongs to them. */
bool intake_is_replay(const struct intake *in);

/* As their namesakes of live.h. */
enum status intake_poll(struct intake *in, int timeout_ms, struct error *err);
void intake_waits(const struct intake *in, struct waits *w);
bool intake_settled(const struct intake *in);
enum status intake_counters(const struct intake *in, const char **reason);
bool intake_captured(const struct intake *in); /* false of a daemon's: it goes on */
bool intake_over(const struct intake *in, enum status *status, const char **reason);

#endif
