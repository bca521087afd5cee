/* SPDX-License-Identifier: MIT */
#include "daemon/hub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

enum { CLIENTS_MAX = 500, REQUEST_MAX = 512, BACKLOG = 64, STEP_BYTES = 4 << 20 };

/* Who says nothing, or takes nothing of what is there for him, for so long is dropped. */
static const int64_t patience_ns = INT64_C(10000000000);

struct hub_client {
    struct hub *hub;
    int fd; /* -1 = to be removed */
    struct ucred who;
    char request[REQUEST_MAX];
    size_t request_len, noise; /* noise: bytes behind the request */
    struct buf out;            /* to be sent before the history */
    size_t sent;               /* of it */
    uint64_t offset;
    int64_t progress_ns; /* when it last took, or owed, something */
    bool asked, views, kept;
};

struct hub {
    int fd;
    struct sockaddr_un address;
    gid_t group;
    ino_t inode; /* of the socket's file */
    const struct history *history;
    const struct hub_ops *ops;
    void *self;
    struct hub_client **list;
    size_t n, dropped;
};

/* ---- the socket ---- */

static enum status listen_at(struct hub *h, struct error *err)
{
    const char *path = h->address.sun_path;
    struct stat there;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool with_group = h->group != (gid_t)-1;
    if (fd < 0)
        return fail(err, ERR_IO, errno, "socket: %s", strerror(errno));
    mode_t before = umask(0177);
    bool ok = bind(fd, (const struct sockaddr *)&h->address, sizeof h->address) == 0;
    umask(before);
    ok = ok && stat(path, &there) == 0;
    if (ok && with_group) /* a service's sandbox may forbid a chown that changes nothing */
        ok = (there.st_gid == h->group || chown(path, (uid_t)-1, h->group) == 0) &&
             chmod(path, 0660) == 0;
    if (!ok || listen(fd, BACKLOG) != 0) {
        enum status st = fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
        close(fd);
        return st;
    }
    if (h->fd >= 0)
        close(h->fd);
    h->fd = fd;
    h->inode = there.st_ino;
    return OK;
}

enum status hub_open(struct hub **out, const char *path, gid_t group, const struct history *history,
                     const struct hub_ops *ops, void *self, struct error *err)
{
    struct hub *h = calloc(1, sizeof *h);
    if (!h)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *h = (struct hub){.fd = -1, .group = group, .history = history, .ops = ops, .self = self};
    h->address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof h->address.sun_path) {
        free(h);
        return fail(err, ERR_USAGE, ENAMETOOLONG, "%.60s…: too long for a socket", path);
    }
    memcpy(h->address.sun_path, path, strlen(path));
    enum status st = listen_at(h, err);
    if (st) {
        free(h);
        return st;
    }
    *out = h;
    return OK;
}

enum status hub_check(struct hub *h, struct error *err)
{
    struct stat there;
    if (lstat(h->address.sun_path, &there) == 0 && there.st_ino == h->inode)
        return OK;
    unlink(h->address.sun_path);
    return listen_at(h, err);
}

/* ---- clients ---- */

static void client_free(struct hub_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    buf_fini(&c->out);
    free(c);
}

static void drop(struct hub_client *c)
{
    if (c->fd < 0)
        return;
    close(c->fd);
    c->fd = -1;
    if (c->kept)
        c->hub->ops->gone(c->hub->self, c);
}

void hub_close(struct hub *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++)
        client_free(h->list[i]);
    free(h->list);
    close(h->fd);
    struct stat there;
    if (lstat(h->address.sun_path, &there) == 0 && there.st_ino == h->inode)
        unlink(h->address.sun_path);
    free(h);
}

static void remove_dropped(struct hub *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (h->list[i]->fd >= 0)
            h->list[kept++] = h->list[i];
        else
            client_free(h->list[i]);
    }
    h->n = kept;
}

static bool add_client(struct hub *h, int fd)
{
    struct hub_client *c = calloc(1, sizeof *c);
    struct hub_client **longer =
        c && h->n < CLIENTS_MAX ? realloc(h->list, (h->n + 1) * sizeof(struct hub_client *)) : NULL;
    socklen_t size = sizeof c->who;
    if (!longer) {
        free(c);
        return false;
    }
    h->list = longer;
    *c = (struct hub_client){.hub = h, .fd = fd, .progress_ns = clock_monotonic_ns()};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c->who, &size) != 0)
        c->who = (struct ucred){.pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1};
    h->list[h->n++] = c;
    return true;
}

static void accept_all(struct hub *h)
{
    for (;;) {
        int fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (!add_client(h, fd))
            close(fd);
    }
}

/* ---- reading ---- */

static void take_request(struct hub_client *c)
{
    char *end = memchr(c->request, '\n', c->request_len);
    if (!end) {
        if (c->request_len == sizeof c->request) /* no request of ours is that long */
            drop(c);
        return;
    }
    *end = '\0';
    c->asked = true;
    c->progress_ns = clock_monotonic_ns();
    c->hub->ops->request(c->hub->self, c, c->request);
}

/* What a client says after its request is nobody's business, but costs: who goes on is dropped. */
static void read_client(struct hub_client *c)
{
    char rest[256];
    char *dst = c->asked ? rest : c->request + c->request_len;
    size_t room = c->asked ? sizeof rest : sizeof c->request - c->request_len;
    ssize_t n = read(c->fd, dst, room);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        /* half closed: whoever asked "status" through a pipe still wants the answer */
        bool waits = n == 0 && c->asked && !c->kept && !c->views && c->sent < c->out.len;
        if (!waits)
            drop(c);
    } else if (n > 0 && c->asked) {
        c->noise += (size_t)n;
        if (c->noise > REQUEST_MAX)
            drop(c);
    } else if (n > 0) {
        c->request_len += (size_t)n;
        take_request(c);
    }
}

/* ---- writing ---- */

/* Writes what it can; false: the client takes no more for now, or is gone. */
static bool send_some(struct hub_client *c, const char *data, size_t len, size_t *done)
{
    ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    *done = n > 0 ? (size_t)n : 0;
    if (n > 0)
        c->progress_ns = clock_monotonic_ns();
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        drop(c);
    return n > 0 && (size_t)n == len;
}

static bool send_answer(struct hub_client *c)
{
    size_t done;
    if (c->sent == c->out.len)
        return true;
    bool all = send_some(c, c->out.data + c->sent, c->out.len - c->sent, &done);
    c->sent += done;
    if (all) {
        buf_fini(&c->out);
        c->sent = 0;
    }
    return all;
}

static bool owes(const struct hub_client *c)
{
    return c->sent < c->out.len || (c->views && c->offset < history_end(c->hub->history));
}

static void send_history(struct hub_client *c)
{
    const struct history *h = c->hub->history;
    if (c->offset < history_begin(h)) { /* it was left behind: a gap would be a lie */
        c->hub->dropped++;
        drop(c);
        return;
    }
    for (size_t total = 0; total < STEP_BYTES;) { /* the others' turn comes, too */
        const char *data;
        size_t done, len = history_read(h, c->offset, &data);
        if (len == 0)
            return;
        bool all = send_some(c, data, len, &done);
        c->offset += done;
        total += done;
        if (!all)
            return;
    }
}

static void write_client(struct hub_client *c)
{
    bool owed = owes(c);
    if (!owed)
        c->progress_ns = c->asked ? clock_monotonic_ns() : c->progress_ns;
    if (c->asked && send_answer(c) && c->fd >= 0) {
        if (c->views)
            send_history(c);
        else if (!c->kept)
            drop(c);
    }
    if (c->fd >= 0 && clock_monotonic_ns() - c->progress_ns > patience_ns) {
        c->hub->dropped += c->views;
        drop(c);
    }
}

/* ---- the loop ---- */

void hub_waits(const struct hub *h, struct waits *w)
{
    waits_add(w, h->fd, POLLIN);
    for (size_t i = 0; i < h->n; i++)
        waits_add(w, h->list[i]->fd, owes(h->list[i]) ? POLLIN | POLLOUT : POLLIN);
}

void hub_step(struct hub *h)
{
    accept_all(h);
    for (size_t i = 0; i < h->n; i++) {
        if (h->list[i]->fd >= 0)
            read_client(h->list[i]);
        if (h->list[i]->fd >= 0)
            write_client(h->list[i]);
    }
    remove_dropped(h);
}

size_t hub_viewers(const struct hub *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += h->list[i]->views;
    return n;
}

size_t hub_dropped(const struct hub *h)
{
    return h->dropped;
}

/* ---- for the owner ---- */

void hub_answer(struct hub_client *c, const char *text, size_t len)
{
    buf_add(&c->out, text, len);
    if (c->out.failed)
        drop(c);
}

void hub_keep(struct hub_client *c)
{
    c->kept = true;
}

void hub_watch(struct hub_client *c, uint64_t offset)
{
    c->views = true;
    c->offset = offset;
}

uid_t hub_client_user(const struct hub_client *c)
{
    return c->who.uid;
}

pid_t hub_client_pid(const struct hub_client *c)
{
    return c->who.pid;
}
