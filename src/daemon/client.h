/* SPDX-License-Identifier: MIT */
/* The other end of the daemon's socket. */
#ifndef SMEFF_DAEMON_CLIENT_H
#define SMEFF_DAEMON_CLIENT_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/place.h"

/* Connects to the daemon that runs in this folder, or, with NULL, for this user or this machine. fd
 * is the caller's to close; where (may be NULL) is its folder. ERR_NOT_FOUND: none runs;
 * ERR_PERMISSION: one runs, and does not let us in. */
enum status client_connect(int *fd, const char *run_dir, struct place *where, struct error *err);

/* Says one line. */
enum status client_say(int fd, const char *line, struct error *err);

/* One line of the answer, without the line feed, within timeout_ms. */
enum status client_hear(int fd, struct buf *out, int timeout_ms, struct error *err);

/* Connects, says a line, and takes all of the answer. An answer that begins with "error " is the
 * daemon's refusal: ERR_PERMISSION when it is about rights, else ERR_IO, with its text. */
enum status client_ask(const char *run_dir, const char *line, struct buf *out, int timeout_ms,
                       struct error *err);

#endif
