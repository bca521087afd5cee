/* SPDX-License-Identifier: MIT */
/* Addresses to listen on, as people name them. */
#ifndef SMEFF_HTTP_LISTEN_H
#define SMEFF_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { LISTEN_SOCKETS_MAX = 8 };

/* The sockets of one address: a name can have several, loopback has one of IPv4 and one of IPv6. */
struct listener {
    int fd[LISTEN_SOCKETS_MAX];
    size_t n;
    bool is_public; /* others than this machine can connect */
};

/* Whether text is ADDR, ADDR:PORT, [ADDR]:PORT or :PORT (loopback); touches nothing. ADDR is an
 * IPv4 or IPv6 address (with a port in brackets) or a name. option is for the error. */
enum status listen_check(const char *option, const char *text, struct error *err);

/* Resolves, binds, listens; the sockets do not block and are closed on exec. otherwise: the port
 * where text has none. ERR_USAGE: as listen_check; ERR_NOT_FOUND: no such name; ERR_IO: it cannot
 * be had (a port in use). Then nothing stays open. */
enum status listen_open(struct listener *l, const char *option, const char *text,
                        const char *otherwise, struct error *err);
void listen_close(struct listener *l); /* accepts a zeroed one */

#endif
