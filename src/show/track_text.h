/* SPDX-License-Identifier: MIT */
/* Objects of the Trace Event Format, one after another, with commas between them. */
#ifndef SMEFF_SHOW_TRACK_TEXT_H
#define SMEFF_SHOW_TRACK_TEXT_H

#include <stdint.h>

#include "base/buf.h"

struct track_text {
    int64_t base_ns; /* times are written relative to it */
    size_t count;    /* objects so far */
};

/* Names a process and puts it at a place in the list; names a thread. */
void track_process(struct track_text *t, struct buf *out, long pid, const char *name, long order);
void track_thread(struct track_text *t, struct buf *out, long pid, int tid, const char *name);

/* A value from t_ns on. v is finite. */
void track_counter(struct track_text *t, struct buf *out, long pid, const char *name, int64_t t_ns,
                   double v);

/* A slice of a thread. */
void track_slice(struct track_text *t, struct buf *out, long pid, int tid, const char *name,
                 int64_t from_ns, int64_t to_ns);

#endif
