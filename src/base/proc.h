/* SPDX-License-Identifier: MIT */
/* Child processes whose standard output we read. */
#ifndef SMEFF_BASE_PROC_H
#define SMEFF_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct proc {
    pid_t pid; /* 0 = none */
    int out;   /* read end of its standard output, non-blocking; -1 = none */
};

#define PROC_INIT                                                                                  \
    {                                                                                              \
        0, -1                                                                                      \
    }

/* Starts path with argv (NULL-terminated). Standard input is /dev/null; standard error is ours with
 * keep_stderr, else /dev/null; it gets no other descriptors. The child gets
 * SIGTERM when the calling thread ends, so that it never outlives us. */
enum status proc_start(struct proc *p, const char *path, const char *const *argv, bool keep_stderr,
                       struct error *err);

/* The same, with n (at most PROC_FDS_MAX) descriptors of ours, as 3, 4, … there, and without
 * ambient capabilities: whoever is not root has then none there. */
enum { PROC_FDS_MAX = 32 };
enum status proc_start_with(struct proc *p, const char *path, const char *const *argv,
                            bool keep_stderr, const int *fds, size_t n, struct error *err);

/* Has it ended? Then *wait_status is its status, and p->pid is 0; never blocks. */
bool proc_ended(struct proc *p, int *wait_status);

void proc_signal(const struct proc *p, int signal);

/* Ends it (SIGTERM, after grace_ms SIGKILL), reaps it, closes the descriptor. Accepts PROC_INIT. */
void proc_stop(struct proc *p, int grace_ms);

/* "killed by signal 9 (Killed)", "ended with exit code 3". Returns dst. */
const char *proc_death_text(char *dst, size_t size, int wait_status);

#endif
