/* SPDX-License-Identifier: MIT */
#include "cmd/work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fds.h"

enum status work_start(struct work *w, char **argv, struct error *err)
{
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fail(err, ERR_IO, errno, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        fds_close_on_exec(true);
        signal(SIGPIPE, SIG_DFL); /* ignored by us; the command must not inherit that */
        execvp(argv[0], argv);
        int why = errno;
        ssize_t ignored = write(pipe_ends[1], &why, sizeof why);
        (void)ignored;
        _exit(127);
    }
    close(pipe_ends[1]);
    int why = errno;
    bool failed = pid < 0 || read(pipe_ends[0], &why, sizeof why) == sizeof why;
    close(pipe_ends[0]);
    if (failed) {
        if (pid > 0)
            waitpid(pid, NULL, 0);
        return fail(err, ERR_IO, why, "%s: %s", argv[0], strerror(why));
    }
    w->pid = pid;
    return OK;
}

void work_check(struct work *w)
{
    if (w->pid && !w->ended && waitpid(w->pid, &w->status, WNOHANG) > 0)
        w->ended = true;
}

void work_signal(const struct work *w, int signal)
{
    if (w->pid && !w->ended)
        kill(w->pid, signal);
}

void work_end(struct work *w)
{
    if (!w->pid || w->ended)
        return;
    kill(w->pid, SIGTERM);
    while (waitpid(w->pid, &w->status, 0) < 0 && errno == EINTR)
        ;
    w->ended = true;
}

int work_code(const struct work *w)
{
    return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}
