/* SPDX-License-Identifier: MIT */
/* The last ten minutes of each metric of each GPU, for charts: buckets of a quarter of a second
 * with least, most and mean, so that a burst of milliseconds is still seen at any scale.
 *
 * Memory: 29 KB a metric and GPU, taken when its first sample comes; 8 GPUs with the core set and
 * the driver's readings take 7.5 MB. Counters (energy) and flags have no trace. */
#ifndef SMEFF_COLLECT_TRACE_H
#define SMEFF_COLLECT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/column.h"
#include "event/event.h"

#define TRACE_BUCKET_NS INT64_C(250000000)

enum { TRACE_BUCKETS = 2400, TRACE_SECONDS = 600, TRACE_GPUS_MAX = COLUMN_GPUS_MAX };

struct trace;

enum status trace_create(struct trace **out, struct error *err);
void trace_destroy(struct trace *t); /* accepts NULL */

/* A sink that feeds t. Of several sources of a metric the finest is kept, as long as it delivers.
 * Samples of a GPU or series that no plan announced are left out: the collector refuses them. */
struct event_sink trace_sink(struct trace *t);

/* The end of the newest sample of any metric, UNIX time of the stream; 0 = none yet. */
int64_t trace_newest_ns(const struct trace *t);

/* The begin of the oldest bucket that is kept; 0 = none yet. */
int64_t trace_oldest_ns(const struct trace *t);

/* Has anything announced this GPU? */
bool trace_has_gpu(const struct trace *t, unsigned gpu);

/* n columns of column_ns each (at least TRACE_BUCKET_NS, else that), the first from begin_ns on. A
 * reading that comes seldom (the driver's, GPM's) holds until the next one, two of its periods at
 * most. Everything else that was not measured stays unknown. */
void trace_columns(const struct trace *t, unsigned gpu, enum metric m, int64_t begin_ns,
                   int64_t column_ns, size_t n, struct trace_column *out);

/* One column over the time from begin_ns to end_ns. */
struct trace_column trace_span(const struct trace *t, unsigned gpu, enum metric m, int64_t begin_ns,
                               int64_t end_ns);

#endif
