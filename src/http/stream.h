/* SPDX-License-Identifier: MIT */
/* What one client of an event stream still has to get: a queue of shared messages. */
#ifndef SMEFF_HTTP_STREAM_H
#define SMEFF_HTTP_STREAM_H

#include <stdbool.h>

#include "http/blob.h"

/* At ten frames and a status a second this is what comes within eleven seconds. */
enum { STREAM_QUEUE = 128 };

struct stream {
    unsigned hz;
    struct blob *queue[STREAM_QUEUE]; /* a ring of references */
    size_t first, n, done;            /* done: bytes of the first that were taken */
};

void stream_fini(struct stream *s); /* accepts a zeroed one */

/* One more message; takes a reference of its own. false: the queue is full, the client too slow. */
bool stream_push(struct stream *s, struct blob *message);

/* Takes up to size bytes of what is there. */
size_t stream_take(struct stream *s, char *dst, size_t size);

#endif
