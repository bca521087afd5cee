/* SPDX-License-Identifier: MIT */
#include "cmd/borrow.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/client.h"

/* Samplers end within two seconds, else they are killed. */
enum { ANSWER_MS = 15000 };

enum status borrow(const char *run_dir, const char *name, int *fd, struct error *err)
{
    char request[128];
    struct buf answer = BUF_INIT;
    struct error why = ERROR_INIT;
    *fd = -1;
    enum status known = client_connect(fd, run_dir, NULL, &why);
    if (known)
        return known == ERR_NOT_FOUND ? OK : fail(err, known, why.native, "%s", why.text);
    snprintf(request, sizeof request, "hold %.60s, process %d", name, (int)getpid());
    enum status st = client_say(*fd, request, err);
    if (!st)
        st = client_hear(*fd, &answer, ANSWER_MS, err);
    buf_fini(&answer);
    if (st) {
        borrow_end(*fd);
        *fd = -1;
    }
    return st;
}

bool borrow_is_over(int fd)
{
    struct pollfd p = {fd, POLLRDHUP, 0};
    return fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

void borrow_end(int fd)
{
    if (fd >= 0)
        close(fd);
}
