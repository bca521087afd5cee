/* SPDX-License-Identifier: MIT */
#include "http/stream.h"

#include <string.h>

static void drop_first(struct stream *s)
{
    blob_unref(s->queue[s->first]);
    s->first = (s->first + 1) % STREAM_QUEUE;
    s->done = 0;
    s->n--;
}

void stream_fini(struct stream *s)
{
    while (s->n)
        drop_first(s);
}

bool stream_push(struct stream *s, struct blob *message)
{
    if (s->n == STREAM_QUEUE)
        return false;
    s->queue[(s->first + s->n++) % STREAM_QUEUE] = blob_ref(message);
    return true;
}

size_t stream_take(struct stream *s, char *dst, size_t size)
{
    size_t taken = 0;
    while (s->n && taken < size) {
        const struct blob *b = s->queue[s->first];
        size_t n = b->len - s->done < size - taken ? b->len - s->done : size - taken;
        memcpy(dst + taken, b->data + s->done, n);
        taken += n;
        s->done += n;
        if (s->done == b->len)
            drop_first(s);
    }
    return taken;
}
