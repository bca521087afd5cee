/* SPDX-License-Identifier: MIT */
/* The inference servers of a stream: the newest event of each URL, bounded. */
#ifndef SMEFF_COLLECT_SERVERLIST_H
#define SMEFF_COLLECT_SERVERLIST_H

#include "base/error.h"
#include "collect/snapshot.h"

/* A zeroed one is empty. */
struct serverlist {
    struct server_snapshot *list; /* owned */
    size_t n;
};

void serverlist_fini(struct serverlist *l);

/* Servers beyond a number that no machine has are left out. */
enum status serverlist_take(struct serverlist *l, const struct event_server *ev, struct error *err);

/* Forgets the readings of a window; the servers stay. */
void serverlist_forget(struct serverlist *l);

/* A copy for a snapshot. */
enum status serverlist_copy(const struct serverlist *l, struct server_snapshot **out, size_t *n,
                            struct error *err);

#endif
