/* SPDX-License-Identifier: MIT */
/* Programs that start others, and folders that must not stay. Both outlast a death of ours that
 * leaves no time for tidying (SIGKILL): a small process of its own does that. Start them from a
 * process with one thread. */
#ifndef SMEFF_BASE_GUARD_H
#define SMEFF_BASE_GUARD_H

#include "base/proc.h"

/* As proc_start, but with an environment (NULL-terminated) of its own, with standard error in the
 * same pipe as standard output, and with a guard in between: p is the guard. It ends as the program
 * ended, and never before all that the program started, however it detached itself, is gone too: a
 * moment after SIGTERM (proc_stop with at least GUARD_GRACE_MS), or when the calling thread ends.
 */
enum { GUARD_GRACE_MS = 1200 };
enum status guard_start(struct proc *p, const char *path, const char *const *argv,
                        const char *const *environment, struct error *err);

/* A folder of our own, mode 0700, in the folder for temporary files ($TMPDIR, else /tmp). */
struct guard_folder {
    char path[512];
    int alive;   /* the other end of this pipe waits for our end; -1 = none */
    pid_t waits; /* the process that then removes the folder */
};

#define GUARD_FOLDER_INIT                                                                          \
    {                                                                                              \
        "", -1, 0                                                                                  \
    }

/* name is the beginning of its name. The folder goes with all that is in it when the caller and
 * all guards that it started afterwards are gone, whatever ended them; or by guard_folder_remove.
 */
enum status guard_folder_make(struct guard_folder *f, const char *name, struct error *err);
void guard_folder_remove(struct guard_folder *f); /* accepts GUARD_FOLDER_INIT */

/* Removes a folder with all that is in it, or a file; follows no links. */
void guard_remove_tree(const char *path);

#endif
