/* SPDX-License-Identifier: MIT */
#include "cmd/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "daemon/client.h"
#include "event/pipe.h"

enum { STOP_MS = 500 };

struct remote {
    struct event_pipe pipe;
    const struct event_sink *sink;
    struct proc ssh;
    int fd;
    int flags_before; /* of standard input; -1 = it is not ours */
    bool closed, has_end, has_events;
    enum status end_status;
    char end_reason[400];
};

void remote_close(struct remote *r)
{
    if (!r)
        return;
    if (r->flags_before >= 0)
        fcntl(r->fd, F_SETFL, r->flags_before);
    else if (r->fd >= 0 && r->fd != r->ssh.out)
        close(r->fd);
    proc_stop(&r->ssh, STOP_MS);
    event_pipe_fini(&r->pipe);
    free(r);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct remote *r = self;
    r->has_events = true;
    if (ev->kind != EVENT_END)
        return event_push(r->sink, ev, err);
    r->has_end = true;
    r->end_status = ev->u.end.status;
    snprintf(r->end_reason, sizeof r->end_reason, "%s", ev->u.end.reason);
    return OK;
}

/* ---- opening ---- */

/* The ssh of PATH: whoever has another one there wants it. */
static enum status find_ssh(char *dst, size_t size, struct error *err)
{
    const char *path = getenv("PATH");
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        int n = (int)strcspn(path, ":");
        snprintf(dst, size, "%.*s/ssh", n, path);
        if (n > 0 && access(dst, X_OK) == 0)
            return OK;
        path += n + (path[n] == ':');
    }
    return fail(err, ERR_NOT_FOUND, 0, "--host needs ssh, and there is none in PATH");
}

static enum status open_host(struct remote *r, const char *host, struct error *err)
{
    char ssh[1024];
    const char *const argv[] = {"ssh", "--", host, "smeff", "stream", NULL};
    if (!*host || *host == '-')
        return fail(err, ERR_USAGE, 0, "--host is USER@HOST or HOST, not \"%s\"", host);
    enum status st = find_ssh(ssh, sizeof ssh, err);
    if (!st)
        st = proc_start(&r->ssh, ssh, argv, true, err);
    r->fd = r->ssh.out;
    return st;
}

static enum status open_socket(struct remote *r, const char *path, double history_s,
                               struct error *err)
{
    char request[64];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path)
        return fail(err, ERR_USAGE, 0, "--from: the path is too long for a socket");
    memcpy(to.sun_path, path, strlen(path));
    r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->fd < 0 || connect(r->fd, (const struct sockaddr *)&to, sizeof to) != 0)
        return fail(err, errno == EACCES ? ERR_PERMISSION : ERR_NOT_FOUND, errno,
                    "--from %s: %s (it is a daemon's socket, or - for standard input; a recording "
                    "is played by --replay)",
                    path, strerror(errno));
    snprintf(request, sizeof request, "events %.3f", history_s);
    return client_say(r->fd, request, err);
}

static enum status open_stdin(struct remote *r, struct error *err)
{
    if (isatty(STDIN_FILENO))
        return fail(err, ERR_USAGE, 0,
                    "--from - reads events from standard input, which is a terminal");
    r->fd = STDIN_FILENO;
    r->flags_before = fcntl(r->fd, F_GETFL);
    return OK;
}

enum status remote_open(struct remote **out, const char *host, const char *from, double history_s,
                        const struct event_sink *sink, struct error *err)
{
    struct remote *r = calloc(1, sizeof *r);
    if (!r)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *r = (struct remote){.sink = sink, .ssh = PROC_INIT, .fd = -1, .flags_before = -1};
    enum status st = event_pipe_init(&r->pipe, err);
    if (!st && host)
        st = open_host(r, host, err);
    else if (!st && strcmp(from, "-") == 0)
        st = open_stdin(r, err);
    else if (!st)
        st = open_socket(r, from, history_s, err);
    if (st) {
        remote_close(r);
        return st;
    }
    fcntl(r->fd, F_SETFL, fcntl(r->fd, F_GETFL) | O_NONBLOCK);
    *out = r;
    return OK;
}

/* ---- the stream ---- */

void remote_waits(const struct remote *r, struct waits *w)
{
    waits_add(w, r->closed ? -1 : r->fd, POLLIN);
}

/* ssh says with its exit code what went wrong; its words are on standard error. */
static void learn_end(struct remote *r)
{
    int status = 0;
    char death[128];
    if (r->has_end)
        return;
    r->end_status = r->has_events || r->ssh.pid ? ERR_IO : ERR_BAD_INPUT;
    snprintf(r->end_reason, sizeof r->end_reason,
             r->has_events ? "the stream was cut off" : "no event came: the stream was empty");
    if (r->ssh.pid && waitpid(r->ssh.pid, &status, 0) == r->ssh.pid) {
        r->ssh.pid = 0;
        snprintf(r->end_reason, sizeof r->end_reason, "ssh %s%s",
                 proc_death_text(death, sizeof death, status),
                 WIFEXITED(status) && WEXITSTATUS(status) == 127 ? ": there is no smeff in PATH "
                                                                   "on that host"
                                                                 : "");
    }
}

enum status remote_poll(struct remote *r, struct error *err)
{
    const struct event_sink own = {take, r};
    bool heard;
    if (r->closed)
        return OK;
    enum status st = event_pipe_read(&r->pipe, r->fd, &own, &heard, &r->closed, err);
    if (r->closed)
        learn_end(r);
    return st;
}

bool remote_over(const struct remote *r, enum status *status, const char **reason)
{
    if (!r->closed)
        return false;
    *status = r->end_status;
    *reason = r->end_reason[0] ? r->end_reason : "the stream has ended";
    return true;
}
