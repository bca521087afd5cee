/* SPDX-License-Identifier: MIT */
/* smeff daemon: starts, stops and asks the long-running sampler. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fds.h"
#include "cmd/daemon.h"
#include "cmd/front.h"
#include "cmd/output.h"
#include "cmd/start.h"
#include "daemon/client.h"

enum { START_MS = 30000, STOP_MS = 20000, ANSWER_MS = 10000, LOOK_MS = 20 };

static int complain_of(const struct error *err)
{
    complain("%s", err->text);
    return err->status == ERR_NOT_FOUND ? EXIT_CODE_NO_DAEMON : (int)exit_code_of(err->status);
}

static void pause_ms(int ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

/* ---- start ---- */

/* A session of its own, with a log for its output; it outlives us. */
static void become_daemon(const char *exe, const struct child_argv *a, int log)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    fds_close_on_exec(false); /* a lock or a pipe of whoever starts it would be held for days */
    execv(exe, (char *const *)a->word);
    _exit(127);
}

static enum status spawn(const struct options *o, const struct place *p, pid_t *pid,
                         struct error *err)
{
    char exe[1024];
    struct child_argv a;
    enum status st = own_program(exe, sizeof exe, err);
    int log = -1;
    if (!st)
        st = place_prepare(p, err);
    if (!st)
        st = place_open_log(p, &log, err);
    if (st)
        return st;
    child_argv_begin(&a, "daemon", "run");
    child_argv_options(&a, &command_daemon, o);
    *pid = fork();
    if (*pid == 0)
        become_daemon(exe, &a, log);
    st = *pid < 0 ? fail(err, ERR_IO, errno, "fork: %s", strerror(errno)) : OK;
    close(log);
    return st;
}

/* It ended at once: its log says why, and its exit code is ours. */
static int tell_failure(const struct place *p, int wait_status, off_t before)
{
    char text[4096];
    struct stat now;
    int fd = open(p->log, O_RDONLY | O_CLOEXEC);
    /* who got the lock has emptied it first */
    off_t from = fd >= 0 && fstat(fd, &now) == 0 && now.st_size >= before ? before : 0;
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text, from);
    if (n > 0)
        fwrite(text, 1, (size_t)n, stderr);
    else
        complain("the daemon ended at once");
    if (fd >= 0)
        close(fd);
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) ? WEXITSTATUS(wait_status)
                                                              : EXIT_CODE_FAILURE;
}

static bool is_ready(const struct place *p)
{
    struct buf text = BUF_INIT;
    enum status st = client_ask(p->folder, "ready", &text, ANSWER_MS, NULL);
    buf_fini(&text);
    return st == OK;
}

static int start(const struct options *o)
{
    struct place p;
    struct error err = ERROR_INIT;
    pid_t pid = 0;
    int wait_status = 0;
    if (place_choose(&p, o->run_dir, &err))
        return complain_of(&err);
    if (place_is_taken(&p)) {
        complain("a daemon runs already in %s", p.folder);
        return EXIT_CODE_FAILURE;
    }
    struct stat old;
    off_t before = stat(p.log, &old) == 0 ? old.st_size : 0;
    if (spawn(o, &p, &pid, &err))
        return complain_of(&err);
    int64_t deadline_ns = clock_monotonic_ns() + START_MS * INT64_C(1000000);
    while (clock_monotonic_ns() < deadline_ns) {
        if (waitpid(pid, &wait_status, WNOHANG) == pid)
            return tell_failure(&p, wait_status, before);
        if (place_is_taken(&p) && is_ready(&p)) {
            printf("the daemon runs: process %d, %s\n", (int)pid, p.folder);
            return EXIT_CODE_OK;
        }
        pause_ms(LOOK_MS);
    }
    complain("the daemon (process %d) did not answer within %d s; see %s", (int)pid,
             START_MS / 1000, p.log);
    return EXIT_CODE_FAILURE;
}

/* ---- asking ---- */

static int ask(const struct options *o, const char *request, const char *done)
{
    struct buf text = BUF_INIT;
    struct error err = ERROR_INIT;
    enum status st = client_ask(o->run_dir, request, &text, ANSWER_MS, &err);
    const char *more = text.len > 3 ? buf_str(&text) + 3 : ""; /* behind "ok " */
    if (!st)
        printf("%s%s%.*s\n", done, *more ? "; the counters are still " : "",
               (int)strcspn(more, "\n"), more);
    buf_fini(&text);
    return st ? complain_of(&err) : EXIT_CODE_OK;
}

static int stop(const struct options *o)
{
    struct place where;
    struct error err = ERROR_INIT;
    struct buf text = BUF_INIT;
    int fd = -1;
    enum status st = client_connect(&fd, o->run_dir, &where, &err);
    if (!st)
        st = client_say(fd, "stop", &err);
    if (!st)
        st = client_hear(fd, &text, ANSWER_MS, &err);
    buf_fini(&text);
    if (fd >= 0)
        close(fd);
    if (st)
        return complain_of(&err);
    int64_t deadline_ns = clock_monotonic_ns() + STOP_MS * INT64_C(1000000);
    while (place_is_taken(&where) && clock_monotonic_ns() < deadline_ns)
        pause_ms(LOOK_MS);
    if (place_is_taken(&where)) {
        complain("the daemon did not end within %d s", STOP_MS / 1000);
        return EXIT_CODE_FAILURE;
    }
    puts("the daemon has ended");
    return EXIT_CODE_OK;
}

static int status(const struct options *o)
{
    char request[64];
    struct buf text = BUF_INIT;
    struct error err = ERROR_INIT;
    struct show_style style = output_style(o);
    snprintf(request, sizeof request, "status text %d %d %d", style.columns, style.utf8,
             style.colour);
    enum status st = client_ask(o->run_dir, o->json ? "status" : request, &text, ANSWER_MS, &err);
    if (!st)
        st = output_write(&text, &err);
    buf_fini(&text);
    return st ? complain_of(&err) : EXIT_CODE_OK;
}

static int run(const struct options *o)
{
    struct request request;
    struct error err = ERROR_INIT;
    if (request_parse(o, &request, &err) || front_check(o, &err))
        return usage_error(&command_daemon, "%s", err.text);
    return daemon_run(o, &request);
}

static int pause_it(const struct options *o)
{
    return ask(o, "pause", "paused: the performance counters are free");
}

static int resume(const struct options *o)
{
    return ask(o, "resume", "resumed");
}

static int daemon_command(const struct options *o, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*go)(const struct options *o);
    } actions[] = {{"run", run},       {"start", start},    {"stop", stop},
                   {"status", status}, {"pause", pause_it}, {"resume", resume}};
    for (size_t i = 0; argc == 1 && i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(argv[0], actions[i].name) == 0)
            return actions[i].go(o);
    return usage_error(&command_daemon, "run, start, stop, status, pause or resume");
}

const struct command command_daemon = {
    .name = "daemon",
    .arguments = "run|start|stop|status|pause|resume",
    .summary = "samples in the background; many viewers share the counters",
    .details =
        "The hardware lets one program read its counters. A daemon has them, and top, stream,\n"
        "record and measure take its events by themselves. `run` stays in the foreground (for\n"
        "systemd), `start` goes into the background. `pause` gives the counters away until\n"
        "`resume`; `smeff yield -- COMMAND` does so while a command runs.\n\n"
        "In its folder (/run/smeff of root, else $XDG_RUNTIME_DIR/smeff) are status.json, written\n"
        "whole each second, and the socket, for this user alone, or with --group for its members\n"
        "too. The last ten minutes are kept in memory, in at most 64 MiB. `run --replay FILE\n"
        "--loop` plays a recording instead of a card.\n\n"
        "With --listen there is a live page at http://localhost:19400/, /metrics for Prometheus,\n"
        "/status.json, /events (server-sent) and /healthz. A process without privileges serves\n"
        "them (docs/http.md).",
    .example = "smeff daemon start && smeff daemon status",
    .options = OPTION(JSON) | OPTION(NO_COLOR) | OPTION(GPU) | OPTION(BACKEND) | OPTION(RATE) |
               OPTION(SET) | OPTION(METRIC) | OPTION(CUPTI) | OPTION(NSYS) | OPTION(METRICS_SET) |
               OPTION(SERVER) | OPTION(TOKEN_FILE) | OPTION(REPLAY) | OPTION(SPEED) | OPTION(LOOP) |
               OPTION(RUN_DIR) | OPTION(GROUP) | OPTION(LISTEN) | OPTION(TLS_CERT) |
               OPTION(TLS_KEY) | OPTION(WEB_TOKEN) | OPTION(WEB_USERS) | OPTION(DCGM_LISTEN) |
               OPTION(DCGM_COMPAT),
    .run = daemon_command,
};
