/* SPDX-License-Identifier: MIT */
/* Who may read: a bearer token, or users with passwords (basic). Checking a password takes a tenth
 * of a second by design; a thread does that, one at a time, and what it found right is remembered,
 * so that a scraper costs it once. */
#ifndef SMEFF_HTTP_AUTH_H
#define SMEFF_HTTP_AUTH_H

#include <stdbool.h>

#include "base/error.h"

struct auth;

enum auth_answer {
    AUTH_YES,
    AUTH_NO,
    AUTH_LATER, /* auth_next will tell */
    AUTH_FULL,  /* too many wait */
};

/* token "" or NULL = none; users_file NULL = none. With neither *out is NULL: everybody may read.
 * Errors as users_read's. */
enum status auth_create(struct auth **out, const char *token, const char *users_file,
                        struct error *err);
void auth_destroy(struct auth *a); /* accepts NULL */

/* Starts the thread, after privileges were given up: they are each thread's own. */
enum status auth_start(struct auth *a, struct error *err); /* accepts NULL */

/* authorization: the header, NULL = none. who: given back by auth_next after AUTH_LATER. may_wait:
 * whether a password may be queued; else it is AUTH_FULL. A token, and what is known to be right,
 * need no queue. */
enum auth_answer auth_ask(struct auth *a, const char *authorization, void *who, bool may_wait);

/* Readable when auth_next has something to tell; -1 = never. */
int auth_fd(const struct auth *a);

/* One more answer to AUTH_LATER; false: there is none now. */
bool auth_next(struct auth *a, void **who, bool *is_right);

/* Who asked has gone: a password of theirs that waits is forgotten. Of one that is being checked,
 * auth_next tells with who = NULL. */
void auth_forget(struct auth *a, const void *who);

/* For WWW-Authenticate; static. */
const char *auth_challenge(const struct auth *a);

#endif
