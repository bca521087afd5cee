/* SPDX-License-Identifier: MIT */
/* measure --out DIR: what the measurement rests on, for others to check. */
#ifndef SMEFF_CMD_EVIDENCE_H
#define SMEFF_CMD_EVIDENCE_H

#include "collect/snapshot.h"
#include "event/event.h"

struct evidence;

/* Makes the folder if it is not there (and then removes it when it stays empty), and in it
 * events.jsonl, the whole stream. */
enum status evidence_create(struct evidence **out, const char *folder, struct error *err);
enum status evidence_push(struct evidence *e, const struct event *ev, struct error *err);

/* Writes summary.json, summary.txt and report.html, and closes events.jsonl. A full disk is an
 * error here, too.
 */
enum status evidence_finish(struct evidence *e, const struct snapshot *s, struct error *err);
void evidence_destroy(struct evidence *e); /* accepts NULL */

#endif
