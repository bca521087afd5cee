/* SPDX-License-Identifier: MIT */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fds.h"

/* A process that gets descriptors is one that gives up its privileges: what a sandbox forbids there
 * (capset) is not needed, since an exec without ambient capabilities leaves none to a user. */
static void shed_capabilities(void)
{
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* Those given become 3, 4, …: first copies above all of them, since one may be another's place. */
static bool give(const int *fds, size_t n)
{
    int copy[PROC_FDS_MAX];
    for (size_t i = 0; i < n; i++) {
        copy[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1 + PROC_FDS_MAX);
        if (copy[i] < 0)
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (dup2(copy[i], STDERR_FILENO + 1 + (int)i) < 0) /* not closed on exec */
            return false;
    return true;
}

/* Between fork and exec: async-signal-safe calls only. */
static void become(const char *path, const char *const *argv, int out, bool keep_stderr,
                   const int *fds, size_t n, pid_t parent)
{
    /* before asking who the parent is: it may just have gone */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        (!keep_stderr && dup2(null, STDERR_FILENO) < 0))
        _exit(127);
    fds_close_on_exec(false);
    if (n) {
        shed_capabilities();
        if (!give(fds, n))
            _exit(127);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    execv(path, (char *const *)argv);
    _exit(127);
}

enum status proc_start(struct proc *p, const char *path, const char *const *argv, bool keep_stderr,
                       struct error *err)
{
    return proc_start_with(p, path, argv, keep_stderr, NULL, 0, err);
}

enum status proc_start_with(struct proc *p, const char *path, const char *const *argv,
                            bool keep_stderr, const int *fds, size_t n, struct error *err)
{
    int ends[2];
    if (n > PROC_FDS_MAX)
        return fail(err, ERR_USAGE, 0, "too many descriptors for a child");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(err, ERR_IO, errno, "pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(path, argv, ends[1], keep_stderr, fds, n, parent);
    int why = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return fail(err, ERR_IO, why, "fork: %s", strerror(why));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *p = (struct proc){pid, ends[0]};
    return OK;
}

bool proc_ended(struct proc *p, int *wait_status)
{
    if (p->pid == 0 || waitpid(p->pid, wait_status, WNOHANG) != p->pid)
        return false;
    p->pid = 0;
    return true;
}

void proc_signal(const struct proc *p, int signal)
{
    if (p->pid > 0)
        kill(p->pid, signal);
}

void proc_stop(struct proc *p, int grace_ms)
{
    int status;
    const struct timespec tick = {0, 2000000};
    proc_signal(p, SIGTERM);
    proc_signal(p, SIGCONT); /* a stopped process takes no SIGTERM */
    for (int waited_ms = 0; p->pid && waited_ms < grace_ms; waited_ms += 2)
        if (!proc_ended(p, &status))
            nanosleep(&tick, NULL);
    if (p->pid) {
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (p->out >= 0)
        close(p->out);
    *p = (struct proc)PROC_INIT;
}

const char *proc_death_text(char *dst, size_t size, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        snprintf(dst, size, "killed by signal %d (%s)", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    else
        snprintf(dst, size, "ended with exit code %d", WEXITSTATUS(wait_status));
    return dst;
}
