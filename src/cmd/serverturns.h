/* SPDX-License-Identifier: MIT */
/* Watching inference servers, turn by turn: asking them once a second, taking what came, and
 * looking for servers that started or were started anew. All of it in one thread, which may take
 * its time. */
#ifndef SMEFF_CMD_SERVERTURNS_H
#define SMEFF_CMD_SERVERTURNS_H

#include "cmd/cmd.h"
#include "cmd/serverreport.h"

struct serverturns;

/* Who takes reports; the URL is a server's name. */
struct report_sink {
    void (*take)(void *self, const struct server_report *report);
    void *self;
};

/* A server that was found is watched no more when nobody has listened there for so long. */
enum { SERVERTURNS_GONE_S = 60 };

/* How long things last, in seconds. */
struct serverturns_times {
    double window_s; /* of rates; 0 = from one serverturns_mark to the next: then none is gone */
    double gone_s;
};

/* The servers of --server; without one, those that serverturns_find will find. */
enum status serverturns_create(struct serverturns **out, const struct options *o,
                               struct serverturns_times times, struct error *err);
void serverturns_destroy(struct serverturns *t); /* accepts NULL */

/* Looks through /proc for servers, and for who listens where known ones were, when anything there
 * changed that could matter: sockets that listen, or GPUs' processes (changed). At most every 10 s,
 * or after 1 s when the process of a server is gone; after a minute in any case. */
enum status serverturns_find(struct serverturns *t, bool changed, struct error *err);

/* The processes on GPUs are others than those that serverturns_step saw last. */
void serverturns_gpus_changed(struct serverturns *t);

/* Asks who owes no answer, whoever's turn it is. */
void serverturns_ask(struct serverturns *t);

/* The newest answers begin a window. */
void serverturns_mark(struct serverturns *t);

/* Asks when it is time, and takes what came, waiting at most timeout_ms: a report for an answer or
 * failure. Takes one answer a call: the others' times are read while they wait. Who is gone has a
 * last report that says so. */
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
