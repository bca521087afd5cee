/* SPDX-License-Identifier: MIT */
/* The quick way for lines of samples, which are nearly all of a stream: exactly as event_encode
 * writes them, without building a tree of JSON values first. Whatever looks otherwise, however
 * valid, is left to the general decoder; both give the same (tests/fuzz/fuzz_wire.c). */
#ifndef SMEFF_EVENT_QUICK_H
#define SMEFF_EVENT_QUICK_H

#include "event/book.h"

/* Memory that is used again for each line. Owned; zeroed at first. */
struct quick {
    int64_t *t0_ns, *t1_ns;
    uint32_t *series;
    double *values;
    uint64_t *seen; /* of each series of a plan: the last line that had it */
    uint64_t line;
    size_t room0, room1, columns, cells, marks; /* how many there is room for */
};

void quick_fini(struct quick *q);

/* True: *out is the line's batch, valid until the next call. False: it is not for the quick way, or
 * memory ran out. */
bool quick_samples(struct quick *q, const struct book *book, const char *line, size_t len,
                   struct event_samples *out);

#endif
