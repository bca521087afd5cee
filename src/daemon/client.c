/* SPDX-License-Identifier: MIT */
#include "daemon/client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

static const struct timeval patience = {5, 0};

static enum status connect_to(int *fd, const struct place *p, struct error *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, p->socket, strlen(p->socket));
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return fail(err, ERR_IO, errno, "socket: %s", strerror(errno));
    /* a daemon that hangs has a full backlog: connect() would wait for ever */
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(s, (const struct sockaddr *)&to, sizeof to) == 0) {
        *fd = s;
        return OK;
    }
    int why = errno;
    close(s);
    if (why == EAGAIN)
        return fail(err, ERR_TIMEOUT, why, "%s: a daemon is there, and does not answer", p->socket);
    if (why == EACCES || why == EPERM)
        return fail(err, ERR_PERMISSION, why, "%s: a daemon may run there, but not for this user",
                    p->socket);
    return fail(err, ERR_NOT_FOUND, why, "no daemon runs (%s: %s)", p->socket, strerror(why));
}

enum status client_connect(int *fd, const char *run_dir, struct place *where, struct error *err)
{
    struct place p;
    enum status st = ERR_NOT_FOUND;
    bool any = false;
    for (unsigned i = 0; place_candidate(&p, run_dir, i); i++) {
        struct error why = ERROR_INIT;
        enum status tried = connect_to(fd, &p, &why);
        if (tried == OK) {
            if (where)
                *where = p;
            return OK;
        }
        if (!any || tried != ERR_NOT_FOUND) { /* this says more than that there is none */
            st = tried;
            if (err)
                *err = why;
        }
        any = true;
    }
    return any ? st : fail(err, st, 0, "no daemon runs");
}

enum status client_say(int fd, const char *line, struct error *err)
{
    char text[600];
    int len = snprintf(text, sizeof text, "%s\n", line);
    if (len < 0 || (size_t)len >= sizeof text)
        return fail(err, ERR_USAGE, 0, "too long for the daemon");
    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        return fail(err, ERR_IO, errno, "the daemon does not listen: %s", strerror(errno));
    return OK;
}

/* Up to a line feed, or all there is. */
static enum status hear(int fd, struct buf *out, bool one_line, int timeout_ms, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ms * INT64_C(1000000);
    for (;;) {
        char chunk[65536];
        int left_ms = (int)((deadline_ns - clock_monotonic_ns()) / 1000000);
        struct pollfd p = {fd, POLLIN, 0};
        int ready = left_ms > 0 ? poll(&p, 1, left_ms) : 0;
        if (ready < 0)
            return fail(err, ERR_IO, errno, "interrupted while the daemon was asked");
        if (ready == 0)
            return fail(err, ERR_TIMEOUT, 0, "the daemon did not answer within %.0f s",
                        timeout_ms / 1000.0);
        ssize_t n = recv(fd, chunk, one_line ? 1 : sizeof chunk, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 && !one_line)
            return OK;
        if (n <= 0)
            return fail(err, ERR_IO, 0, "the daemon closed the connection");
        if (one_line && chunk[0] == '\n')
            return OK;
        buf_add(out, chunk, (size_t)n);
        if (out->failed)
            return fail(err, ERR_NOMEM, 0, "out of memory");
    }
}

/* "error permission TEXT" or "error TEXT" */
static enum status check_answer(const struct buf *out, struct error *err)
{
    static const char refused[] = "error ", rights[] = "error permission ";
    const char *text = buf_str(out);
    if (!str_starts_with(text, refused))
        return OK;
    bool about_rights = str_starts_with(text, rights);
    text += about_rights ? sizeof rights - 1 : sizeof refused - 1;
    return fail(err, about_rights ? ERR_PERMISSION : ERR_IO, 0, "%.*s", (int)strcspn(text, "\n"),
                text);
}

enum status client_hear(int fd, struct buf *out, int timeout_ms, struct error *err)
{
    enum status st = hear(fd, out, true, timeout_ms, err);
    return st ? st : check_answer(out, err);
}

enum status client_ask(const char *run_dir, const char *line, struct buf *out, int timeout_ms,
                       struct error *err)
{
    int fd = -1;
    enum status st = client_connect(&fd, run_dir, NULL, err);
    if (st)
        return st;
    st = client_say(fd, line, err);
    if (!st)
        st = hear(fd, out, false, timeout_ms, err);
    if (!st)
        st = check_answer(out, err);
    close(fd);
    return st;
}
