/* SPDX-License-Identifier: MIT */
/* Where a server's metrics are: a URL taken apart. */
#ifndef SMEFF_LLM_TARGET_H
#define SMEFF_LLM_TARGET_H

#include <stdbool.h>

#include "base/error.h"

enum { TARGET_URL_SIZE = 512, TARGET_SOCKET_SIZE = 108 };

struct target {
    char url[TARGET_URL_SIZE];            /* what to fetch */
    char shown[TARGET_URL_SIZE];          /* for people and files: without a query */
    char unix_socket[TARGET_SOCKET_SIZE]; /* "" = TCP */
    bool is_loopback;                     /* or a Unix socket */
    bool has_path;                        /* a path was given: others are not tried */
};

/* Takes http://HOST[:PORT][/PATH], https://…, HOST:PORT, or unix:/SOCKET[:/PATH]. Without a path it
 * is /metrics. IPv6 addresses stand in brackets. ERR_USAGE for everything else, also for a URL with
 * a user or password, which belong in a file. */
enum status target_parse(const char *text, struct target *out, struct error *err);

/* The same server under another path. */
enum status target_with_path(const struct target *t, const char *path, struct target *out,
                             struct error *err);

/* Are both of one scheme, host and port? */
bool target_same_origin(const struct target *a, const struct target *b);

#endif
