/* SPDX-License-Identifier: MIT */
#include "base/fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Beyond so many, or beyond that number, nobody passes descriptors on. */
enum { GIVEN_MAX = 64, LOOP_MAX = 65536 };

static int given[GIVEN_MAX];
static size_t n_given;

static int compare(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void fds_remember(void)
{
    DIR *d = opendir("/proc/self/fd");
    n_given = 0;
    for (const struct dirent *e; d && n_given < GIVEN_MAX && (e = readdir(d));) {
        int fd = (int)strtol(e->d_name, NULL, 10); /* 0 for "." */
        if (fd > STDERR_FILENO && fd != dirfd(d))
            given[n_given++] = fd;
    }
    if (d)
        closedir(d);
    qsort(given, n_given, sizeof given[0], compare);
}

/* Before Linux 5.11 the kernel cannot do it at once. */
static void close_one_by_one(unsigned first, unsigned last)
{
    struct rlimit most;
    unsigned end = LOOP_MAX;
    if (getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < end)
        end = (unsigned)most.rlim_cur;
    for (unsigned fd = first; fd <= last && fd < end; fd++)
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

static void close_range_on_exec(unsigned first, unsigned last)
{
    if (first <= last && close_range(first, last, CLOSE_RANGE_CLOEXEC) != 0)
        close_one_by_one(first, last);
}

void fds_close_on_exec(bool keep_given)
{
    unsigned first = STDERR_FILENO + 1;
    for (size_t i = 0; keep_given && i < n_given; i++) {
        close_range_on_exec(first, (unsigned)given[i] - 1);
        first = (unsigned)given[i] + 1;
    }
    close_range_on_exec(first, UINT_MAX);
}
