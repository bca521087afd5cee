/* SPDX-License-Identifier: MIT */
/* The HTTP server: connections, limits and event streams around a site. One thread, never blocks.
 * Everything that knows libmicrohttpd is in server.c and mhd_api.[ch]. */
#ifndef SMEFF_HTTP_SERVER_H
#define SMEFF_HTTP_SERVER_H

#include "base/error.h"
#include "base/waits.h"
#include "http/auth.h"
#include "http/site.h"

struct server;

/* cert and key as PEM, NULL = no TLS; auth NULL = everybody may read. */
struct server_options {
    const char *cert, *key;
    struct auth *auth;
};

/* site and options->auth live as long as the server. ERR_NOT_FOUND: libmicrohttpd is not
 * installed; ERR_UNSUPPORTED: it cannot TLS; ERR_USAGE: certificate and key are no pair. */
enum status server_open(struct server **out, struct site *site,
                        const struct server_options *options, struct error *err);
void server_close(struct server *s); /* closes all connections; accepts NULL */

/* One more listening socket; the caller's, and it must not block. ERR_NOMEM: there are too many. */
enum status server_listen(struct server *s, int fd, enum http_door door, struct error *err);

/* Takes over a connection that was made already; its socket must not block. */
void server_admit(struct server *s, int fd, enum http_door door);

void server_waits(const struct server *s, struct waits *w);
void server_step(struct server *s);

/* How many are connected; how many event streams of this rate there are; 0 = of any rate. */
size_t server_guests(const struct server *s);
size_t server_streams(const struct server *s, unsigned hz);

/* Sends a message to the streams of this rate, or with 0 to all. Whoever is too slow is closed. */
void server_send(struct server *s, unsigned hz, struct blob *message);

#endif
