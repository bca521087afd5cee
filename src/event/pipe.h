/* SPDX-License-Identifier: MIT */
/* Events that come through a descriptor: of a sampler, a daemon, another host. */
#ifndef SMEFF_EVENT_PIPE_H
#define SMEFF_EVENT_PIPE_H

#include <stdbool.h>

#include "base/buf.h"
#include "event/event.h"
#include "event/wire.h"

struct event_pipe {
    struct event_decoder *decoder; /* owned */
    struct buf text;               /* what was read and is not yet a line */
    size_t most;                   /* bytes that one read takes at most, about; 0 = all there is */
};

enum status event_pipe_init(struct event_pipe *p, struct error *err);
void event_pipe_fini(struct event_pipe *p); /* accepts a zeroed one */

/* Reads what is there (fd should not block) and pushes its events. *heard: something came. *closed:
 * the other end is closed. ERR_BAD_INPUT: a line is no event; what came before it was pushed. */
enum status event_pipe_read(struct event_pipe *p, int fd, const struct event_sink *sink,
                            bool *heard, bool *closed, struct error *err);

#endif
