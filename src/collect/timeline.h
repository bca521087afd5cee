/* SPDX-License-Identifier: MIT */
/* All of a stream, however long, in a bounded number of columns with least, most and mean: what a
 * report draws. Columns begin with 10 ms and become twice as wide whenever they do not suffice.
 *
 * Memory: 24 KB a metric that has samples. */
#ifndef SMEFF_COLLECT_TIMELINE_H
#define SMEFF_COLLECT_TIMELINE_H

#include "collect/column.h"
#include "event/event.h"

enum { TIMELINE_COLUMNS = 1024, TIMELINE_SERVERS_MAX = 16 };

struct timeline;

enum status timeline_create(struct timeline **out, struct error *err);
void timeline_destroy(struct timeline *t); /* accepts NULL */

/* A sink that feeds t. It begins with the first sample; what lies before is left out. Of several
 * sources of a metric the finest is kept, as long as it delivers. */
struct event_sink timeline_sink(struct timeline *t);

/* UNIX time; 0 = no sample yet. */
int64_t timeline_begin_ns(const struct timeline *t);
int64_t timeline_end_ns(const struct timeline *t);

int64_t timeline_column_ns(const struct timeline *t);

/* Were GPUs (beyond 64) or servers (beyond 16) left out? */
bool timeline_is_partial(const struct timeline *t);

/* The columns from the begin to the end, at most TIMELINE_COLUMNS; returns how many. A reading
 * without a length stands for the time since the one before it; what was not measured stays
 * unknown. */
size_t timeline_gpu(const struct timeline *t, unsigned gpu, enum metric m,
                    struct trace_column *out);

/* The same of a server's metric; url as in the events. */
size_t timeline_server(const struct timeline *t, const char *url, enum metric m,
                       struct trace_column *out);

#endif
