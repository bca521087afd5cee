/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fds.h"
#include "base/os.h"

/* How long a program may take to end in order. Together with the killing it must stay below
 * GUARD_GRACE_MS. */
enum { ORDER_MS = 500, TICK_MS = 10 };

/* ---- the guard's own process ---- */

static void pause_ms(int ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL); /* a signal may end it early */
}

static void kill_child(void *self, const struct os_process *p)
{
    const pid_t *guard = self;
    if (p->parent == *guard)
        kill(p->pid, SIGKILL);
}

/* What a child left behind is ours then (PR_SET_CHILD_SUBREAPER): so again until none is left. */
static void kill_family(void)
{
    pid_t self = getpid(), pid = 0;
    for (;;) {
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            return;
        os_each_process("", kill_child, &self);
        pause_ms(TICK_MS);
    }
}

/* Waits for its end, or for SIGTERM, which is passed on; then SIGKILL. */
static int wait_for(pid_t program, const sigset_t *awaited)
{
    const struct timespec order = {ORDER_MS / 1000, ORDER_MS % 1000 * 1000000L},
                          long_time = {60, 0};
    bool told = false;
    for (int status = 0;;) {
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == program)
            return status;
        if (pid > 0)
            continue; /* a grandchild that was left to us */
        int number = sigtimedwait(awaited, NULL, told ? &order : &long_time);
        if (number == SIGTERM && !told) {
            told = true;
            kill(program, SIGTERM);
            kill(program, SIGCONT); /* a stopped process takes no SIGTERM */
        } else if (number < 0 && errno == EAGAIN && told) {
            kill(program, SIGKILL);
        }
    }
}

/* As the program ended. */
static _Noreturn void end_as(int status)
{
    if (WIFSIGNALED(status)) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_DUMPABLE, 0); /* its core is its own affair */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static _Noreturn void become_program(const char *path, const char *const *argv,
                                     const char *const *environment)
{
    sigset_t none;
    fds_close_on_exec(false);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execve(path, (char *const *)argv, (char *const *)environment);
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

static _Noreturn void be_guard(const char *path, const char *const *argv,
                               const char *const *environment, int out, pid_t parent)
{
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_SETMASK, &awaited, NULL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* a terminal's Ctrl-C is the parent's */
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it may just have gone */
        _exit(127);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(127);
    pid_t program = fork();
    if (program == 0)
        become_program(path, argv, environment);
    /* only the program writes: a reader then sees the end when it is gone */
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(out);
    int status = program < 0 ? 127 << 8 : wait_for(program, &awaited);
    kill_family();
    end_as(status);
}

enum status guard_start(struct proc *p, const char *path, const char *const *argv,
                        const char *const *environment, struct error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(err, ERR_IO, errno, "pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        be_guard(path, argv, environment, ends[1], parent);
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

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void guard_remove_tree(const char *path)
{
    enum { FOLDERS_OPEN = 16 };
    nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* Waits until nobody holds the other end any more: we, and the guards, which are forked from us and
 * keep what is closed on exec. */
static _Noreturn void wait_and_remove(const char *path, int end)
{
    char byte;
    ssize_t n;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setpgid(0, 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd); /* else a reader of our output would wait for us */
    while ((n = read(end, &byte, 1)) < 0 && errno == EINTR)
        ;
    guard_remove_tree(path);
    _exit(0);
}

static enum status start_waiting(struct guard_folder *f, struct error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(err, ERR_IO, errno, "pipe: %s", strerror(errno));
    f->waits = fork();
    if (f->waits == 0) {
        close(ends[1]);
        wait_and_remove(f->path, ends[0]);
    }
    int why = errno;
    close(ends[0]);
    f->alive = ends[1];
    if (f->waits > 0)
        return OK;
    close(f->alive);
    return fail(err, ERR_IO, why, "fork: %s", strerror(why));
}

enum status guard_folder_make(struct guard_folder *f, const char *name, struct error *err)
{
    const char *tmp = getenv("TMPDIR");
    struct guard_folder made = GUARD_FOLDER_INIT;
    int n = snprintf(made.path, sizeof made.path, "%s/%s-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp",
                     name);
    if (n < 0 || (size_t)n >= sizeof made.path)
        return fail(err, ERR_IO, ENAMETOOLONG, "TMPDIR: %s", strerror(ENAMETOOLONG));
    if (!mkdtemp(made.path)) /* its mode is 0700 */
        return fail(err, ERR_IO, errno, "%s: %s", made.path, strerror(errno));
    enum status st = start_waiting(&made, err);
    if (st)
        rmdir(made.path);
    else
        *f = made;
    return st;
}

void guard_folder_remove(struct guard_folder *f)
{
    if (f->alive < 0)
        return;
    close(f->alive);
    while (waitpid(f->waits, NULL, 0) < 0 && errno == EINTR)
        ;
    *f = (struct guard_folder)GUARD_FOLDER_INIT;
}
