/* SPDX-License-Identifier: MIT */
/* Which inference servers to ask: those that are named, else those found on this machine. */
#ifndef SMEFF_CMD_PLACES_H
#define SMEFF_CMD_PLACES_H

#include "llm/discover.h"
#include "llm/watch.h"

/* Of --server: watch no server. */
bool places_is_none(const char *list);

/* token "" = none. ERR_USAGE for a text that is no URL. */
enum status places_add_named(struct watch *w, const char *url, const char *token,
                             struct error *err);

/* URLs with commas between them, as several --server become one text; NULL and "none" add nothing.
 */
enum status places_add_list(struct watch *w, const char *list, const char *token,
                            struct error *err);

/* Looks for servers of this machine without asking anybody; at most DISCOVER_MAX. */
size_t places_find(struct discover_place out[DISCOVER_MAX]);

/* These, by loopback, as far as there is room; they never get a key. */
enum status places_add_found(struct watch *w, const struct discover_place *list, size_t n,
                             struct error *err);

/* The port of a place on this machine's loopback; 0 for others, also for Unix sockets. */
unsigned places_port(const struct target *t);

/* What answers at a usual port and is no inference server is nobody's business. */
bool places_is_shown(const struct watch_view *v);

#endif
