/* SPDX-License-Identifier: MIT */
/* Users and the hashes of their passwords, as crypt(3) makes them: bcrypt, yescrypt, SHA-512. */
#ifndef SMEFF_HTTP_USERS_H
#define SMEFF_HTTP_USERS_H

#include <stdbool.h>

#include "base/error.h"

enum { USERS_CREDENTIALS_SIZE = 512 };

struct users;

/* Reads lines USER:HASH; empty ones and those that begin with # are left out. libcrypt is loaded.
 * It is asked once for each method and cost, which takes as long as one check of a password.
 * ERR_USAGE: no such file, a line that is none, a hash that libcrypt does not know (the text says
 * which line, never what is in it). ERR_NOT_FOUND: no libcrypt. */
enum status users_read(struct users **out, const char *path, struct error *err);
void users_destroy(struct users *u); /* accepts NULL */

/* credentials: USER:PASSWORD. Takes as long as a hash was made to take, for an unknown user, too.
 * Not for two threads at once. */
bool users_check(const struct users *u, const char *credentials);

#endif
