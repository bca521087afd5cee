/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status io_error(const char *path, struct error *err)
{
    return fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

enum status file_replace(const char *path, const void *data, size_t len, mode_t mode,
                         struct error *err)
{
    char temporary[PATH_MAX];
    int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return fail(err, ERR_IO, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
    int fd = mkstemp(temporary);
    if (fd < 0)
        return io_error(path, err);
    bool written = fchmod(fd, mode) == 0 && write_all(fd, data, len) && fsync(fd) == 0;
    enum status st = written ? OK : io_error(path, err);
    if (close(fd) != 0 && !st)
        st = io_error(path, err);
    if (!st && rename(temporary, path) != 0)
        st = io_error(path, err);
    if (st)
        unlink(temporary);
    return st;
}

enum status file_make_folders(const char *path, mode_t mode, struct error *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof part)
        return fail(err, ERR_IO, ENAMETOOLONG, "\"%.40s\": no name of a folder", path);
    memcpy(part, path, len + 1);
    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdir(part, mode) != 0 && errno != EEXIST)
            return io_error(part, err);
        if (!slash)
            return OK;
        *slash = '/';
    }
}
