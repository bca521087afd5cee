/* SPDX-License-Identifier: MIT */
/* The plans of a stream: what both ends of the wire must remember to name their samples. */
#ifndef SMEFF_EVENT_BOOK_H
#define SMEFF_EVENT_BOOK_H

#include "event/event.h"

/* Wide enough for every set and batch of ours; more is no stream of ours. */
enum { BOOK_SERIES_MAX = 20000, BOOK_SAMPLES_MAX = 1000000, BOOK_GPUS_MAX = 1024 };

struct book_series {
    char *name; /* owned */
    enum unit unit;
};

struct book_plan {
    unsigned gpu;
    enum source_id source;
    size_t n;
    struct book_series *series;
};

struct book {
    struct book_plan *plans;
    size_t n;
};

void book_fini(struct book *b); /* accepts a zeroed one */

/* Replaces the plan of this GPU and source. */
enum status book_remember(struct book *b, const struct event_plan *plan, struct error *err);

/* NULL when there is none. Valid until the next book_remember. */
const struct book_plan *book_find(const struct book *b, unsigned gpu, enum source_id source);

/* The index of the series of this name, -1 when there is none. hint: where to look first. */
long book_series_index(const struct book_plan *plan, const char *name, size_t hint);

#endif
