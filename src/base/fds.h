/* SPDX-License-Identifier: MIT */
/* Descriptors on their way to a program that we start. Libraries open some that are not closed on
 * exec (libcurl's sockets), and whoever started us may have given us some (a lock, a pipe). */
#ifndef SMEFF_BASE_FDS_H
#define SMEFF_BASE_FDS_H

#include <stdbool.h>

/* Remembers which descriptors are open now, above standard error: those that we were started with.
 * First of all in main; without it there are none. */
void fds_remember(void);

/* Between fork and exec (async-signal-safe): closes on exec all above standard error, but with
 * keep_given those that we were started with: a shell's <(…), make's jobserver. */
void fds_close_on_exec(bool keep_given);

#endif
