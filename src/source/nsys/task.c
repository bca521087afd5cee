/* SPDX-License-Identifier: MIT */
#include "source/nsys/task.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { SAID_MAX = 65536, LOOK_MS = 20 };

void nsys_environment_make(struct nsys_environment *e, const char *folder)
{
    const char *libraries = getenv("LD_LIBRARY_PATH");
    size_t n = 0, size = sizeof e->text[0];
    snprintf(e->text[n++], size,
             "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    snprintf(e->text[n++], size, "HOME=%s", folder);
    snprintf(e->text[n++], size, "TMPDIR=%s", folder);
    snprintf(e->text[n++], size, "LANG=C");
    snprintf(e->text[n++], size, "LC_ALL=C");
    if (libraries && *libraries)
        snprintf(e->text[n++], size, "LD_LIBRARY_PATH=%s", libraries);
    for (size_t i = 0; i < n; i++)
        e->list[i] = e->text[i];
    e->list[n] = NULL;
}

void nsys_task_extend(struct nsys_task *t, int limit_ms)
{
    t->deadline_ns = clock_monotonic_ns() + limit_ms * INT64_C(1000000);
}

enum status nsys_task_start(struct nsys_task *t, const char *program, const char *const *argv,
                            const struct nsys_environment *e, int limit_ms, struct error *err)
{
    *t = (struct nsys_task){.proc = PROC_INIT};
    nsys_task_extend(t, limit_ms);
    return guard_start(&t->proc, program, argv, e->list, err);
}

static void drain(struct nsys_task *t)
{
    char chunk[4096];
    ssize_t n;
    while (t->proc.out >= 0 && (n = read(t->proc.out, chunk, sizeof chunk)) > 0)
        if (t->said.len + (size_t)n <= SAID_MAX)
            buf_add(&t->said, chunk, (size_t)n);
}

enum status nsys_task_step(struct nsys_task *t, bool *ended, struct error *err)
{
    bool gone = proc_ended(&t->proc, &t->wait_status); /* first: all it said is in the pipe then */
    drain(t);
    *ended = gone;
    if (gone) {
        close(t->proc.out);
        t->proc = (struct proc)PROC_INIT;
        return OK;
    }
    if (clock_monotonic_ns() < t->deadline_ns)
        return OK;
    proc_stop(&t->proc, GUARD_GRACE_MS);
    return fail(err, ERR_TIMEOUT, 0, "nsys hung and was stopped: it did not end in time");
}

void nsys_task_fini(struct nsys_task *t)
{
    if (t->proc.pid || t->said.data) {
        proc_stop(&t->proc, GUARD_GRACE_MS);
        buf_fini(&t->said);
    }
    *t = (struct nsys_task){.proc = PROC_INIT};
}

enum status nsys_task_run(struct nsys_task *t, const char *program, const char *const *argv,
                          const struct nsys_environment *e, int limit_ms, struct error *err)
{
    bool ended = false;
    enum status st = nsys_task_start(t, program, argv, e, limit_ms, err);
    while (!st && !(st = nsys_task_step(t, &ended, err)) && !ended) {
        struct pollfd fd = {t->proc.out, POLLIN, 0};
        if (poll(&fd, 1, LOOK_MS) > 0 && (fd.revents & POLLHUP)) {
            const struct timespec tick = {0, 2000000};
            nanosleep(&tick, NULL); /* its output is closed: it is ending */
        }
    }
    return st;
}
