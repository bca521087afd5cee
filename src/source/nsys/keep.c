/* SPDX-License-Identifier: MIT */
#include "source/nsys/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

static enum status copy_open(int from, int to, const char *path, const struct nsys_beat *beat,
                             struct error *err)
{
    enum { AT_ONCE = 1 << 24 };
    ssize_t n;
    while ((n = sendfile(to, from, NULL, AT_ONCE)) != 0) {
        nsys_beat_say(beat);
        if (n < 0 && errno != EINTR)
            return fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
    }
    return OK;
}

static enum status copy_file(const char *source, const char *path, const struct nsys_beat *beat,
                             struct error *err)
{
    int from = open(source, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return fail(err, ERR_IO, errno, "%s: %s", source, strerror(errno));
    int to = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    enum status st = to >= 0 ? copy_open(from, to, path, beat, err)
                             : fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
    if (to >= 0 && close(to) != 0 && !st)
        st = fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
    if (to >= 0 && st)
        unlink(path);
    close(from);
    return st;
}

enum status nsys_keep(const struct nsys_capture *c, const char *folder, unsigned number,
                      const struct nsys_beat *beat, struct error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/nsys-%u.nsys-rep", folder, number);
    enum status st = copy_file(c->report, path, beat, err);
    snprintf(path, sizeof path, "%s/nsys-%u.sqlite", folder, number);
    if (!st)
        st = copy_file(c->sqlite, path, beat, err);
    snprintf(path, sizeof path, "%s/nsys-%u-shared.sqlite", folder, number);
    return st ? st : nsys_scrub(c->sqlite, path, beat, err);
}
