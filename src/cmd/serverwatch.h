/* SPDX-License-Identifier: MIT */
/* Inference servers watched beside the counters: their events, without ever waiting for a server.
 * All functions accept NULL, which watches nobody. */
#ifndef SMEFF_CMD_SERVERWATCH_H
#define SMEFF_CMD_SERVERWATCH_H

#include "cmd/cmd.h"
#include "event/event.h"

struct serverwatch;

/* The servers of --server, else those found on this machine; *out NULL with --server none and where
 * there is none. window_s: how long a window lasts; 0 = from one serverwatch_mark to the next.
 * Events go to sink. Only servers that are named can make it fail. */
enum status serverwatch_open(struct serverwatch **out, const struct options *o, double window_s,
                             const struct event_sink *sink, struct error *err);
void serverwatch_close(struct serverwatch *w);

/* Shows it an event of the stream: it learns which processes are on GPUs. */
void serverwatch_see(struct serverwatch *w, const struct event *ev);

/* Asks whose turn it is, takes what came, and sends an event for each answer or failure. Returns at
 * once; fails only when the sink does. */
enum status serverwatch_step(struct serverwatch *w, struct error *err);

/* How long may a caller sleep until the next step? At most most_ms. */
int serverwatch_wait_ms(const struct serverwatch *w, int most_ms);

/* Asks everybody now, without waiting for the next turn. */
void serverwatch_ask(struct serverwatch *w);

/* Does somebody still owe an answer? */
bool serverwatch_is_waiting(const struct serverwatch *w);

/* The newest answers begin a window. */
void serverwatch_mark(struct serverwatch *w);

/* An event of each server that had none since the last mark. */
enum status serverwatch_finish(struct serverwatch *w, struct error *err);

#endif
