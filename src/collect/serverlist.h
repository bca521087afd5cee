/* SPDX-License-Identifier: MIT */
/* The inference servers of a stream: the newest event of each URL, bounded. */
#ifndef SMEFF_COLLECT_SERVERLIST_H
#define SMEFF_COLLECT_SERVERLIST_H

#include "base/error.h"
#include "collect/snapshot.h"

/* The sound readings of a metric in one window. */
struct server_readings {
    uint64_t n;
    double mean, max; /* meaningful only with at least one */
};

struct server_entry {
    struct server_snapshot newest;
    struct server_readings before[SERVER_METRICS]; /* of the window before, where lists roll */
};

/* A zeroed one is empty. */
struct serverlist {
    struct server_entry *list; /* owned */
    size_t n;
    bool rolls; /* shows the present: readings are those of the newest window and the one before */
};

void serverlist_fini(struct serverlist *l);

/* Servers beyond a number that no machine has are left out; one that is gone is taken out. */
enum status serverlist_take(struct serverlist *l, const struct event_server *ev, struct error *err);

/* Forgets the readings of a window; the servers stay. */
void serverlist_forget(struct serverlist *l);

/* A copy for a snapshot. */
enum status serverlist_copy(const struct serverlist *l, struct server_snapshot **out, size_t *n,
                            struct error *err);

#endif
