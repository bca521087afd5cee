/* SPDX-License-Identifier: MIT */
/* smeff yield: a command that needs the counters itself, while the daemon waits. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "cmd/borrow.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/work.h"

enum { LOOK_MS = 10 };

/* A daemon that was started anew knows nothing of what the one before had lent. */
static void keep_borrowed(const struct options *o, const char *name, int *fd)
{
    struct error err = ERROR_INIT;
    if (*fd >= 0 && !borrow_is_over(*fd))
        return;
    if (*fd >= 0)
        complain("the daemon has gone; its next one is asked for the counters again");
    borrow_end(*fd);
    *fd = -1;
    borrow(o->run_dir, name, fd, &err);
}

static int run_command(const struct options *o, char **argv, int *fd)
{
    struct work w = {0};
    struct error err = ERROR_INIT;
    const struct timespec look = {0, LOOK_MS * 1000000L};
    bool borrowed = *fd >= 0;
    int passed_on = 0;
    interrupt_leave();
    if (work_start(&w, argv, &err)) {
        complain("%s", err.text);
        return err.native == ENOENT ? 127 : 126;
    }
    for (int turn = 0; !w.ended; turn++) {
        for (; passed_on < interrupt_terms(); passed_on++)
            work_signal(&w, SIGTERM);
        if (borrowed && turn % 20 == 0)
            keep_borrowed(o, argv[0], fd);
        nanosleep(&look, NULL);
        work_check(&w);
    }
    return work_code(&w);
}

static int yield(const struct options *o, int argc, char **argv)
{
    int fd = -1;
    struct error err = ERROR_INIT;
    if (argc == 0)
        return usage_error(&command_yield, "which command? smeff yield -- COMMAND…");
    interrupt_catch();
    if (borrow(o->run_dir, argv[0], &fd, &err)) {
        complain("%s", err.text);
        return (int)exit_code_of(err.status);
    }
    if (fd < 0)
        complain("no daemon runs, so there was nothing to release");
    int code = run_command(o, argv, &fd);
    borrow_end(fd);
    return code;
}

const struct command command_yield = {
    .name = "yield",
    .arguments = "-- COMMAND...",
    .summary = "runs a command with the daemon's counters released",
    .details =
        "For ncu, nsys and everything else that reads performance counters: the daemon lets\n"
        "go of them, COMMAND runs, the daemon takes them back, also when yield is killed.\n"
        "COMMAND's exit code is passed on; 126 and 127 when it cannot be started. Where no\n"
        "daemon runs, COMMAND runs all the same.",
    .example = "smeff yield -- ncu --set full ./app",
    .options = OPTION(RUN_DIR),
    .run = yield,
};
