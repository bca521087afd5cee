/* SPDX-License-Identifier: MIT */
/* Live counters of this machine: which sampler processes a request needs, and their events. */
#ifndef SMEFF_CMD_LIVE_H
#define SMEFF_CMD_LIVE_H

#include "cmd/request.h"
#include "collect/sampler.h"

struct live;

/* Starts samplers: the driver's readings of all GPUs, GPM as second source, PM sampling of each
 * GPU, and nsys, as the backend says. Events of wanted GPUs go to sink. r must outlive the live
 * object. */
enum status live_open(struct live **out, const struct request *r, const struct event_sink *sink,
                      struct error *err);

/* Waits up to timeout_ms and handles what comes. */
enum status live_poll(struct live *l, int timeout_ms, struct error *err);

/* For loops that wait for other things, too: what live_poll would wait for. */
void live_waits(const struct live *l, struct waits *w);

/* Lets go of the performance counters, so that another program can have them, until they are taken
 * back; what the driver and GPM tell goes on. why says in a line who has them. They are free when
 * this returns. */
enum status live_hold(struct live *l, const char *why, struct error *err);
enum status live_release(struct live *l, struct error *err);

/* Do hardware counters come, or is it clear that none will? False while that is open. */
bool live_settled(const struct live *l);

/* Why there are no hardware counters: OK when there are, else the status and reason of the best
 * source that failed. */
enum status live_counters(const struct live *l, const char **reason);

/* Of a request for one capture of nsys: has it ended, well or not? */
bool live_captured(const struct live *l);

/* Has everything ended (no driver, no GPU)? Then *reason and the status say why. */
bool live_over(const struct live *l, enum status *status, const char **reason);

void live_close(struct live *l); /* accepts NULL */

#endif
