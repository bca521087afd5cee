/* SPDX-License-Identifier: MIT */
/* One run of nsys: in a clean environment, with a deadline, leaving no process behind. */
#ifndef SMEFF_SOURCE_NSYS_TASK_H
#define SMEFF_SOURCE_NSYS_TASK_H

#include <stdint.h>

#include "base/buf.h"
#include "base/guard.h"

/* A report holds the environment that nsys ran in. So it gets only this. */
struct nsys_environment {
    char text[8][4096];
    const char *list[9];
};

/* folder: where it may write, its home and its folder for temporary files. LD_LIBRARY_PATH is
 * passed on, since the importer may need it. */
void nsys_environment_make(struct nsys_environment *e, const char *folder);

struct nsys_task {
    struct proc proc;
    struct buf said; /* its output so far, at most 64 KiB; owned */
    int64_t deadline_ns;
    int wait_status; /* valid when it has ended */
};

/* t is zeroed or was released. */
enum status nsys_task_start(struct nsys_task *t, const char *program, const char *const *argv,
                            const struct nsys_environment *e, int limit_ms, struct error *err);

/* *ended: it is gone. ERR_TIMEOUT: it took too long, and was stopped. Never waits. */
enum status nsys_task_step(struct nsys_task *t, bool *ended, struct error *err);

void nsys_task_extend(struct nsys_task *t, int limit_ms); /* a new deadline, from now */
void nsys_task_fini(struct nsys_task *t);                 /* stops it; accepts a zeroed one */

/* Runs it to its end. What it said is in t, which the caller releases, also after a failure. Its
 * exit code is the caller's to judge. */
enum status nsys_task_run(struct nsys_task *t, const char *program, const char *const *argv,
                          const struct nsys_environment *e, int limit_ms, struct error *err);

#endif
