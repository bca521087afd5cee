/* SPDX-License-Identifier: MIT */
/* Inference servers watched beside the counters, by a thread of their own: reading large answers
 * and looking through /proc takes its time there, and the counters' loop only sends what is ready.
 * One thread calls these functions. All of them accept NULL, which watches nobody. */
#ifndef SMEFF_CMD_SERVERWATCH_H
#define SMEFF_CMD_SERVERWATCH_H

#include "cmd/cmd.h"
#include "event/event.h"

struct serverwatch;

/* The servers of --server, else those that are found on this machine, now or later; *out NULL with
 * --server none. window_s: how long a window lasts; 0 = from one serverwatch_mark to the next.
 * Events go to sink. Only servers that are named can make it fail. */
enum status serverwatch_open(struct serverwatch **out, const struct options *o, double window_s,
                             const struct event_sink *sink, struct error *err);
void serverwatch_close(struct serverwatch *w);

/* Shows it an event of the stream: it learns which processes are on GPUs. */
void serverwatch_see(struct serverwatch *w, const struct event *ev);

/* Sends an event for each answer or failure since the last step (of one server at most one, the
 * newest). Returns at once; fails only when the sink does. */
enum status serverwatch_step(struct serverwatch *w, struct error *err);

/* How long may a caller sleep until the next step? At most most_ms. */
int serverwatch_wait_ms(struct serverwatch *w, int most_ms);

/* Asks everybody now, without waiting for the next turn. */
void serverwatch_ask(struct serverwatch *w);

/* Does somebody still owe an answer, or are servers looked for? */
bool serverwatch_is_waiting(struct serverwatch *w);

/* The newest answers begin a window. */
void serverwatch_mark(struct serverwatch *w);

/* An event of each server that had none since the last mark; waits for answers that are being read,
 * for at most 2 s. */
enum status serverwatch_finish(struct serverwatch *w, struct error *err);

#endif
