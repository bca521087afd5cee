/* SPDX-License-Identifier: MIT */
/* HTTP: one request in flight for each server, connections kept, everything bounded. No call waits
 * longer than it is told to, so that a slow server costs nobody else anything. */
#ifndef SMEFF_LLM_FETCH_H
#define SMEFF_LLM_FETCH_H

#include <stdint.h>

#include "base/buf.h"
#include "llm/target.h"
#include "metric/value.h"

enum {
    FETCH_DEADLINE_MS = 1000,
    FETCH_BODY_MAX = 8 * 1024 * 1024,
    FETCH_REDIRECTS_MAX = 3,
    FETCH_MARK_SIZE = 40,
};

struct fetcher;

/* What the last request of a server came to. */
struct fetch_result {
    enum value_state state; /* VALUE_OK: there is a body; VALUE_WARMING: none has ended yet */
    char reason[VALUE_REASON_SIZE];
    bool is_absent;           /* nobody listens there */
    int status;               /* HTTP, 0 = none */
    const struct buf *body;   /* of the fetcher's, until the next fetcher_begin for this server */
    int64_t mono_ns, unix_ns; /* when the answer began */
    double seconds;           /* from the request to its end */
    char start_mark[FETCH_MARK_SIZE]; /* the header Process-Start-Time-Unix; "" = none */
};

enum status fetcher_create(struct fetcher **out, struct error *err);

/* Other bounds than the defaults above, for servers that are added from now on. */
void fetcher_limit(struct fetcher *f, int deadline_ms, size_t body_max);
void fetcher_destroy(struct fetcher *f); /* accepts NULL */

/* Adds a server; *index counts from 0. token NULL = none; it is copied, and goes to this origin
 * alone, never into a text. */
enum status fetcher_add(struct fetcher *f, const struct target *t, const char *token, size_t *index,
                        struct error *err);

/* Ends its request; those behind it move up by one. */
void fetcher_remove(struct fetcher *f, size_t index);

/* Another path of the same server, for the next request. */
void fetcher_change(struct fetcher *f, size_t index, const struct target *t);

/* Starts a request, unless this server still owes an answer. */
enum status fetcher_begin(struct fetcher *f, size_t index, struct error *err);

/* Moves all requests on, waiting at most timeout_ms (0: not at all); returns how many are left. */
size_t fetcher_step(struct fetcher *f, int timeout_ms);

bool fetcher_is_busy(const struct fetcher *f, size_t index);
const struct fetch_result *fetcher_result(const struct fetcher *f, size_t index);

#endif
