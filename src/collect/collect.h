/* SPDX-License-Identifier: MIT */
/* Takes the events of one stream and keeps the statistics of all of it (a whole file, or the
 * whole time of a measurement), or of its newest window (collector_roll); publishes snapshots. */
#ifndef SMEFF_COLLECT_COLLECT_H
#define SMEFF_COLLECT_COLLECT_H

#include "base/error.h"
#include "collect/snapshot.h"
#include "event/event.h"

struct collector;

enum status collector_create(struct collector **out, struct error *err);
void collector_destroy(struct collector *c); /* accepts NULL */

/* A sink that feeds c; valid as long as c lives. */
struct event_sink collector_sink(struct collector *c);

/* Forgets all samples, so that another window begins; GPUs, plans, processes, servers and notes
 * stay. */
void collector_forget(struct collector *c);

/* To be called about once each window_s seconds by who shows the present: from now on a snapshot
 * has the newest window of each source that is whole (longer where samples are seldom), and what is
 * older than usual is stale. */
void collector_roll(struct collector *c, double window_s);

/* The state of things now, to be released by snapshot_destroy. */
enum status collector_snapshot(struct collector *c, struct snapshot **out, struct error *err);

#endif
