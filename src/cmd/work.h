/* SPDX-License-Identifier: MIT */
/* A user's command that we run: measure -- COMMAND, yield -- COMMAND. */
#ifndef SMEFF_CMD_WORK_H
#define SMEFF_CMD_WORK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* A zeroed one is none. */
struct work {
    pid_t pid; /* 0 = none */
    int status;
    bool ended;
};

/* Starts argv[0] as a shell would find it, with our input, output and terminal. */
enum status work_start(struct work *w, char **argv, struct error *err);

/* Looks whether it has ended. */
void work_check(struct work *w);

/* Sends it a signal, if it still runs. */
void work_signal(const struct work *w, int signal);

/* Ends it with SIGTERM and waits for it: Ctrl-C reaches it through the terminal, SIGTERM does not.
 */
void work_end(struct work *w);

/* Its exit code as a shell tells it: 128 + the signal that ended it. */
int work_code(const struct work *w);

#endif
