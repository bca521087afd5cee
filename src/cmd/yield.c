/* SPDX-License-Identifier: MIT */
/* smeff yield: a command that needs the counters itself, while the daemon waits. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/work.h"
#include "daemon/client.h"

/* Samplers end within two seconds, else they are killed. */
enum { ANSWER_MS = 15000, LOOK_MS = 10 };

/* The daemon lends the counters for as long as the connection lives: whatever ends us gives them
 * back. *fd -1: no daemon runs, so that they are nobody's. */
static enum status borrow(const struct options *o, const char *name, int *fd, struct error *err)
{
    char request[128];
    struct buf answer = BUF_INIT;
    struct error why = ERROR_INIT;
    enum status st = client_connect(fd, o->run_dir, NULL, &why);
    if (st == ERR_NOT_FOUND)
        return OK;
    if (st)
        return fail(err, st, why.native, "%s", why.text);
    snprintf(request, sizeof request, "hold %.60s, process %d", name, (int)getpid());
    st = client_say(*fd, request, err);
    if (!st)
        st = client_hear(*fd, &answer, ANSWER_MS, err);
    buf_fini(&answer);
    return st;
}

static int run_command(char **argv)
{
    struct work w = {0};
    struct error err = ERROR_INIT;
    const struct timespec look = {0, LOOK_MS * 1000000L};
    if (work_start(&w, argv, &err)) {
        complain("%s", err.text);
        return err.native == ENOENT ? 127 : 126;
    }
    while (!w.ended) {
        if (interrupt_raised())
            work_end(&w);
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
    if (borrow(o, argv[0], &fd, &err)) {
        complain("%s", err.text);
        if (fd >= 0)
            close(fd);
        return (int)exit_code_of(err.status);
    }
    if (fd < 0)
        complain("no daemon runs, so there was nothing to release");
    int code = run_command(argv);
    if (fd >= 0)
        close(fd);
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
