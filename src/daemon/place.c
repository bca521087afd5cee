/* SPDX-License-Identifier: MIT */
#include "daemon/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

static const char status_name_[] = "status.json";

static enum status set_folder(struct place *p, const char *folder, struct error *err)
{
    *p = (struct place){.lock_fd = -1, .group = (gid_t)-1};
    int n = snprintf(p->folder, sizeof p->folder, "%s", folder);
    snprintf(p->lock, sizeof p->lock, "%s/lock", p->folder);
    snprintf(p->socket, sizeof p->socket, "%s/socket", p->folder);
    snprintf(p->status, sizeof p->status, "%s/%s", p->folder, status_name_);
    snprintf(p->log, sizeof p->log, "%s/log", p->folder);
    if (n < 0 || (size_t)n >= sizeof p->folder ||
        strlen(p->socket) >= sizeof((struct sockaddr_un){0}).sun_path)
        return fail(err, ERR_USAGE, ENAMETOOLONG, "%.40s…: too long for the path of a socket",
                    folder);
    return OK;
}

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool user_folder(char *dst, size_t size)
{
    const char *xdg = from_environment("XDG_RUNTIME_DIR");
    if (xdg)
        snprintf(dst, size, "%s/smeff", xdg);
    return xdg != NULL;
}

enum status place_choose(struct place *p, const char *named, struct error *err)
{
    char folder[PLACE_PATH_SIZE * 2];
    const char *unit = from_environment("RUNTIME_DIRECTORY");
    if (named)
        return set_folder(p, named, err);
    if (unit) {
        snprintf(folder, sizeof folder, "%.*s", (int)strcspn(unit, ":"), unit);
        return set_folder(p, folder, err);
    }
    if (geteuid() == 0)
        return set_folder(p, "/run/smeff", err);
    if (user_folder(folder, sizeof folder))
        return set_folder(p, folder, err);
    return fail(
        err, ERR_NOT_FOUND, 0,
        "no folder for the daemon's files: XDG_RUNTIME_DIR is not set (--run-dir names one)");
}

bool place_candidate(struct place *p, const char *named, unsigned number)
{
    char folder[PLACE_PATH_SIZE * 2];
    if (named)
        return number == 0 && set_folder(p, named, NULL) == OK;
    const char *unit = from_environment("RUNTIME_DIRECTORY");
    if (unit) /* as place_choose */
        return number == 0 && place_choose(p, NULL, NULL) == OK;
    if (number == 0 && geteuid() != 0 && user_folder(folder, sizeof folder) &&
        set_folder(p, folder, NULL) == OK)
        return true;
    return number <= 1 && set_folder(p, "/run/smeff", NULL) == OK;
}

/* ---- taking it ---- */

static enum status find_group(struct place *p, const char *name, struct error *err)
{
    if (!name)
        return OK;
    errno = 0;
    const struct group *g = getgrnam(name);
    if (!g)
        return fail(err, ERR_USAGE, errno, "--group: there is no group \"%s\"", name);
    p->group = g->gr_gid;
    return OK;
}

static bool has_group(const struct place *p)
{
    return p->group != (gid_t)-1;
}

/* Whoever may write the folder could put a socket of his own there. */
static enum status check_folder(const struct place *p, struct error *err)
{
    struct stat there;
    if (lstat(p->folder, &there) != 0)
        return fail(err, ERR_IO, errno, "%s: %s", p->folder, strerror(errno));
    if (!S_ISDIR(there.st_mode))
        return fail(err, ERR_PERMISSION, 0, "%s: no folder", p->folder);
    if (there.st_uid != geteuid() || (there.st_mode & (S_IWGRP | S_IWOTH)))
        return fail(err, ERR_PERMISSION, 0, "%s: others may write there, too", p->folder);
    return OK;
}

static bool is_a(const char *path, mode_t type)
{
    struct stat there;
    return lstat(path, &there) == 0 && (there.st_mode & S_IFMT) == type;
}

/* "status.json", or that with the six characters of file_replace behind it. */
static bool is_status(const char *name)
{
    size_t len = sizeof status_name_ - 1;
    return str_starts_with(name, status_name_) &&
           (!name[len] || (name[len] == '.' && strlen(name + len) == 7));
}

/* A folder that was there before us belongs to smeff when it has a lock, or nothing but what smeff
 * makes: what is in any other is not ours to change. */
static bool is_smeffs(const struct place *p)
{
    bool only_ours = true;
    DIR *d = opendir(p->folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        const char *name = e->d_name;
        only_ours &= strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                     strcmp(name, "log") == 0 || strcmp(name, "socket") == 0 || is_status(name);
    }
    if (d)
        closedir(d);
    return only_ours || is_a(p->lock, S_IFREG);
}

/* Only what is not so already: a service's sandbox may forbid chown altogether. */
static bool set_rights(const struct place *p)
{
    struct stat there;
    mode_t mode = has_group(p) ? 0750 : 0700;
    if (stat(p->folder, &there) != 0)
        return false;
    return (!has_group(p) || there.st_gid == p->group ||
            chown(p->folder, (uid_t)-1, p->group) == 0) &&
           ((there.st_mode & 07777) == mode || chmod(p->folder, mode) == 0);
}

enum status place_prepare(const struct place *p, struct error *err)
{
    enum status st = file_make_folders(p->folder, 0700, err);
    if (!st)
        st = check_folder(p, err);
    if (!st && !is_smeffs(p))
        st = fail(err, ERR_PERMISSION, 0, "%s: other files are there: take another folder",
                  p->folder);
    return st;
}

/* Socket and status, and temporary files of a status that was never finished. */
static void remove_leavings(const struct place *p)
{
    DIR *d = opendir(p->folder);
    if (is_a(p->socket, S_IFSOCK))
        unlink(p->socket);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char path[PLACE_PATH_SIZE + 300];
        snprintf(path, sizeof path, "%s/%s", p->folder, e->d_name);
        if (is_status(e->d_name) && is_a(path, S_IFREG))
            unlink(path);
    }
    if (d)
        closedir(d);
}

static bool is_same_file(int fd, const char *path)
{
    struct stat held, there;
    return fd >= 0 && fstat(fd, &held) == 0 && stat(path, &there) == 0 &&
           held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

/* A lock of the open file: the kernel frees it with the process, and others can ask for it without
 * taking it. fcntl(2), "Open file description locks". */
static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static enum status take_lock(struct place *p, struct error *err)
{
    struct flock lock = whole_file();
    int fd = open(p->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail(err, ERR_IO, errno, "%s: %s", p->lock, strerror(errno));
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        int why = errno;
        close(fd);
        return why == EAGAIN || why == EACCES
                   ? fail(err, ERR_BUSY, 0, "a daemon runs already (it has %s)", p->lock)
                   : fail(err, ERR_IO, why, "%s: %s", p->lock, strerror(why));
    }
    p->lock_fd = fd;
    return OK;
}

enum status place_take(struct place *p, const char *group, struct error *err)
{
    enum status st = find_group(p, group, err);
    if (!st)
        st = place_prepare(p, err);
    if (!st)
        st = take_lock(p, err);
    if (st)
        return st;
    if (!set_rights(p)) {
        st = fail(err, ERR_IO, errno, "%s: %s", p->folder, strerror(errno));
        place_leave(p);
        return st;
    }
    remove_leavings(p);
    return OK;
}

enum status place_open_log(const struct place *p, int *fd, struct error *err)
{
    struct stat there;
    int log =
        open(p->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (log < 0)
        return fail(err, ERR_IO, errno, "%s: %s", p->log, strerror(errno));
    if (fstat(log, &there) != 0 || !S_ISREG(there.st_mode) || there.st_nlink != 1) {
        close(log);
        return fail(err, ERR_PERMISSION, 0, "%s: no file of smeff's", p->log);
    }
    *fd = log;
    return OK;
}

void place_clear_log(const struct place *p, int fd)
{
    if (is_same_file(fd, p->log) && ftruncate(fd, 0) != 0)
        return; /* an old line in it is no harm */
}

bool place_is_ours(const struct place *p)
{
    return is_same_file(p->lock_fd, p->lock);
}

bool place_is_taken(const struct place *p)
{
    struct flock lock = whole_file();
    int fd = open(p->lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool taken = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return taken;
}

enum status place_write_status(const struct place *p, const char *text, size_t len,
                               struct error *err)
{
    /* the folder decides who may read: its group, where there is one */
    return file_replace(p->status, text, len, has_group(p) ? 0644 : 0600, err);
}

void place_leave(struct place *p)
{
    if (p->lock_fd < 0)
        return;
    if (place_is_ours(p))
        remove_leavings(p);
    close(p->lock_fd);
    p->lock_fd = -1;
}
