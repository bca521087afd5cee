/* SPDX-License-Identifier: MIT */
/* The daemon's socket: any number of clients, none of them waited for.
 *
 * A client says one line and gets its answer. What the line means is the owner's business
 * (hub_ops.request); it answers with text, makes the client a viewer of the history, or both. */
#ifndef SMEFF_DAEMON_HUB_H
#define SMEFF_DAEMON_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/waits.h"
#include "collect/history.h"

struct hub;
struct hub_client;

struct hub_ops {
    /* line: what the client said, without the line feed. */
    void (*request)(void *self, struct hub_client *c, const char *line);
    /* A client that was kept (hub_keep) has gone. */
    void (*gone)(void *self, struct hub_client *c);
};

/* Listens on path (0600, with a group 0660). history and ops live as long as the hub. group
 * (gid_t)-1 = none. */
enum status hub_open(struct hub **out, const char *path, gid_t group, const struct history *history,
                     const struct hub_ops *ops, void *self, struct error *err);
void hub_close(struct hub *h); /* removes the socket; accepts NULL */

/* For the loop: what hub_step waits for. */
void hub_waits(const struct hub *h, struct waits *w);

/* Takes new clients and requests, and writes what can be written. Never blocks. A viewer that takes
 * nothing for 10 s, or that the history has left behind, is dropped. */
void hub_step(struct hub *h);

/* Is the socket still where it was? Else it is made again. */
enum status hub_check(struct hub *h, struct error *err);

/* Of viewers: now, and how many were dropped so far. */
size_t hub_viewers(const struct hub *h);
size_t hub_dropped(const struct hub *h);

/* To be called in request(): text to send; the client is closed when it has all of it, unless it is
 * kept or a viewer. */
void hub_answer(struct hub_client *c, const char *text, size_t len);

/* It stays until it closes; then gone() is called. */
void hub_keep(struct hub_client *c);

/* From an offset of the history on it gets all that comes. */
void hub_watch(struct hub_client *c, uint64_t offset);

/* Who it is: user and process. */
uid_t hub_client_user(const struct hub_client *c);
pid_t hub_client_pid(const struct hub_client *c);

#endif
