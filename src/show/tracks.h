/* SPDX-License-Identifier: MIT */
/* Samples as counter tracks in the Trace Event Format, which ui.perfetto.dev and chrome://tracing
 * open: an event a sample and metric, as events they are, since a snapshot has no samples.
 *
 * Times are microseconds since a base, UNIX time in nanoseconds, which PyTorch and others write as
 * "baseTimeNanoseconds" at the top of their traces (pytorch/kineto pull request 928); with the same
 * base both lie on one time axis. */
#ifndef SMEFF_SHOW_TRACKS_H
#define SMEFF_SHOW_TRACKS_H

#include "base/buf.h"
#include "base/error.h"
#include "event/event.h"

struct show_tracks;

enum status show_tracks_create(struct show_tracks **out, int64_t base_ns, struct error *err);
void show_tracks_destroy(struct show_tracks *t); /* accepts NULL */

/* Appends what an event adds: objects with commas between them. A value that stays is not repeated;
 * a time without samples of a source, or without a value of a metric, becomes a slice "not
 * measured", since a counter track has no way to be empty. */
enum status show_tracks_take(struct show_tracks *t, const struct event *ev, struct buf *out,
                             struct error *err);

/* The end: each track ends where its last sample did, and what others measured after it is a gap.
 */
void show_tracks_end(struct show_tracks *t, struct buf *out);

/* Were GPUs or servers left out, since there are more than 64? */
bool show_tracks_is_partial(const struct show_tracks *t);

/* How many objects there are so far. */
size_t show_tracks_count(const struct show_tracks *t);

#endif
