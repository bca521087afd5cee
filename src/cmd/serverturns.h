/* SPDX-License-Identifier: MIT */
/* Watching inference servers, turn by turn: asking them once a second, taking what came, and
 * looking for servers that started or were started anew. All of it in one thread, which may take
 * its time. */
#ifndef SMEFF_CMD_SERVERTURNS_H
#define SMEFF_CMD_SERVERTURNS_H

#include "cmd/cmd.h"
#include "cmd/serverreport.h"

struct serverturns;

/* Who takes reports. index counts servers in the order in which they came. */
struct report_sink {
    void (*take)(void *self, size_t index, const struct server_report *report);
    void *self;
};

/* The servers of --server; without one, those that serverturns_find will find. window_s: how long a
 * window lasts; 0 = from one serverturns_mark to the next. */
enum status serverturns_create(struct serverturns **out, const struct options *o, double window_s,
                               struct error *err);
void serverturns_destroy(struct serverturns *t); /* accepts NULL */

/* Looks through /proc for servers, and for who listens where known ones were, when anything there
 * changed that could matter: sockets that listen, or GPUs' processes (changed). At most every 10 s,
 * or after 1 s when the process of a server is gone; after a minute in any case. */
enum status serverturns_find(struct serverturns *t, bool changed, struct error *err);

/* Asks who owes no answer, whoever's turn it is. */
void serverturns_ask(struct serverturns *t);

/* The newest answers begin a window. */
void serverturns_mark(struct serverturns *t);

/* Asks when it is time, and takes what came, waiting at most timeout_ms: a report for an answer or
 * failure. Takes one answer a call: the others' times are read while they wait. */
void serverturns_step(struct serverturns *t, int timeout_ms, const struct on_gpus *on,
                      const struct report_sink *sink);

/* Reports of those that had none since the last mark. */
void serverturns_finish(struct serverturns *t, const struct on_gpus *on,
                        const struct report_sink *sink);

/* Does somebody owe an answer? */
bool serverturns_is_waiting(const struct serverturns *t);

/* When the next turn is, monotonic. */
int64_t serverturns_next_ns(const struct serverturns *t);

#endif
