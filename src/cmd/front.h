/* SPDX-License-Identifier: MIT */
/* The daemon's HTTP side: a process of its own (`smeff http`), which only views, without any
 * privilege. Here: its listening sockets, which outlast it, and its supervision. */
#ifndef SMEFF_CMD_FRONT_H
#define SMEFF_CMD_FRONT_H

#include "base/waits.h"
#include "cmd/cmd.h"

struct front;

/* Are the options that concern HTTP sound, as far as words go? Else ERR_USAGE. */
enum status front_check(const struct options *o, struct error *err);

/* Opens the sockets that the options ask for; *out NULL when they ask for none. */
enum status front_open(struct front **out, const struct options *o, struct error *err);

/* Starts the process and waits until it serves. folder: of the daemon's socket, which must listen
 * already. Errors are what the process says: a missing file, a missing library. Accepts NULL, as
 * all of these. */
enum status front_start(struct front *f, const char *folder, struct error *err);

void front_waits(const struct front *f, struct waits *w);

/* Starts it anew when it has ended or hangs, after a pause that grows; the log says why. */
void front_step(struct front *f);

void front_close(struct front *f);

#endif
