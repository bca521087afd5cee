/* SPDX-License-Identifier: MIT */
/* Where the panel's events come from: this machine (its daemon, or samplers of our own), a
 * recording, or another place; and the inference servers that are watched beside it. */
#ifndef SMEFF_CMD_ORIGIN_H
#define SMEFF_CMD_ORIGIN_H

#include "base/waits.h"
#include "cmd/request.h"
#include "event/event.h"

struct origin;

/* o and r must outlive it. sink gets all events but end. */
enum status origin_open(struct origin **out, const struct options *o, const struct request *r,
                        const struct event_sink *sink, struct error *err);
void origin_close(struct origin *o); /* accepts NULL */

/* In a few words: "daemon", "live", "replay decode.jsonl.gz", "user@host". o may be NULL for a
 * recording. */
void origin_name(const struct options *options, const struct origin *o, char *dst, size_t size);

void origin_waits(const struct origin *o, struct waits *w);

/* Takes what is there, without waiting. */
enum status origin_poll(struct origin *o, struct error *err);

/* Do hardware counters come, or is it clear that none will? */
bool origin_settled(const struct origin *o);

/* Will nothing more come? Then why. */
bool origin_over(const struct origin *o, enum status *status, const char **reason);

#endif
