/* SPDX-License-Identifier: MIT */
#include "base/waits.h"

void waits_init(struct waits *w, int most_ms)
{
    w->n = 0;
    w->timeout_ms = most_ms;
}

void waits_add(struct waits *w, int fd, short events)
{
    if (fd >= 0 && w->n < WAITS_MAX)
        w->fd[w->n++] = (struct pollfd){fd, events, 0};
}

void waits_within(struct waits *w, long long ms)
{
    if (ms < w->timeout_ms)
        w->timeout_ms = ms < 0 ? 0 : (int)ms;
}

void waits_poll(struct waits *w)
{
    poll(w->fd, w->n, w->timeout_ms);
}
