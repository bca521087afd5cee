/* SPDX-License-Identifier: MIT */
#include "cmd/borrow.h"

#include <stdio.h>
#include <unistd.h>

#include "daemon/client.h"

/* Samplers end within two seconds, else they are killed. */
enum { ANSWER_MS = 15000 };

enum status borrow(const char *run_dir, const char *name, int *fd, struct error *err)
{
    char request[128];
    struct buf answer = BUF_INIT;
    *fd = -1;
    if (client_connect(fd, run_dir, NULL, NULL))
        return OK;
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

void borrow_end(int fd)
{
    if (fd >= 0)
        close(fd);
}
