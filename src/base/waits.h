/* SPDX-License-Identifier: MIT */
/* What a loop waits for: descriptors of several parts, and the first moment at which one of them
 * has something to do without being called. */
#ifndef SMEFF_BASE_WAITS_H
#define SMEFF_BASE_WAITS_H

#include <poll.h>
#include <stddef.h>

enum { WAITS_MAX = 600 };

struct waits {
    struct pollfd fd[WAITS_MAX];
    size_t n;
    int timeout_ms;
};

/* Nothing to wait for, but at most so long. */
void waits_init(struct waits *w, int most_ms);

/* fd -1 is left out. What does not fit is left out, too: its owner looks at it after the time-out.
 */
void waits_add(struct waits *w, int fd, short events);

/* Not longer than this; less than 0 = not at all. */
void waits_within(struct waits *w, long long ms);

/* Waits. Each part looks for itself at what happened. */
void waits_poll(struct waits *w);

#endif
