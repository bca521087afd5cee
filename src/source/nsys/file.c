/* SPDX-License-Identifier: MIT */
#include "source/nsys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's file format: https://www.sqlite.org/fileformat2.html section 1.3 */
enum { HEADER_SIZE = 100 };
static const char sqlite_magic[16] = "SQLite format 3"; /* with its NUL */

/* What else people hand us, told by its first bytes. */
static const char *other_format(const unsigned char *head, size_t n)
{
    if (n >= 2 && head[0] == 0x1F && head[1] == 0x8B)
        return "a gzip file, not an SQLite export";
    if (n >= 1 && head[0] == '{')
        return "JSON, not an SQLite export";
    return "neither a recording of smeff nor an SQLite export of nsys (an .nsys-rep becomes one "
           "by: "
           "nsys export -t sqlite FILE)";
}

/* Page size at 16 (1 = 65536), page count at 28, valid when the counters at 24 and 92 agree. */
static enum status check_length(const unsigned char *head, int64_t size, struct error *err)
{
    int64_t page = head[16] << 8 | head[17];
    if (page == 1)
        page = 65536;
    int64_t pages = (int64_t)head[28] << 24 | head[29] << 16 | head[30] << 8 | head[31];
    if (memcmp(head + 24, head + 92, 4) == 0 && pages * page > size)
        return fail(err, ERR_BAD_INPUT, 0,
                    "truncated: %lld bytes of %lld (copied or written only in part?)",
                    (long long)size, (long long)(pages * page));
    return OK;
}

static enum status io_fail(struct error *err)
{
    enum status st = errno == EACCES || errno == EPERM ? ERR_PERMISSION : ERR_IO;
    return fail(err, st, errno, "%s", strerror(errno));
}

static enum status check_header(unsigned char head[HEADER_SIZE], const char *path, int64_t *size,
                                struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return io_fail(err);
    enum status st = OK;
    struct stat info;
    ssize_t n = 0;
    if (fstat(fd, &info) != 0)
        st = io_fail(err);
    else if (S_ISDIR(info.st_mode))
        st = fail(err, ERR_BAD_INPUT, 0, "is a directory");
    else if (!S_ISREG(info.st_mode))
        st = fail(err, ERR_BAD_INPUT, 0, "not a regular file");
    else if (info.st_size == 0)
        st = fail(err, ERR_BAD_INPUT, 0, "empty file");
    else if ((n = pread(fd, head, HEADER_SIZE, 0)) < 0)
        st = io_fail(err);
    else if ((size_t)n < sizeof sqlite_magic || memcmp(head, sqlite_magic, sizeof sqlite_magic))
        st = fail(err, ERR_BAD_INPUT, 0, "%s", other_format(head, (size_t)n));
    else if (n < HEADER_SIZE)
        st = fail(err, ERR_BAD_INPUT, 0, "truncated: only %zd bytes", n);
    else
        st = check_length(head, (int64_t)info.st_size, err);
    *size = st ? 0 : (int64_t)info.st_size;
    close(fd);
    return st;
}

/* "file:" + the path with all but plain characters escaped + "?immutable=1". */
static char *immutable_uri(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-._~/";
    static const char scheme[] = "file:", options[] = "?immutable=1";
    char *uri = malloc(sizeof scheme + 3 * strlen(path) + sizeof options);
    if (!uri)
        return NULL;
    char *at = stpcpy(uri, scheme);
    for (const char *p = path; *p; p++)
        if (strchr(plain, *p))
            *at++ = *p;
        else
            at += snprintf(at, 4, "%%%02X", (unsigned)(unsigned char)*p);
    stpcpy(at, options);
    return uri;
}

/* SQLite would make a -wal and a -shm file beside a database in WAL mode, or beside one that has a
 * -wal file, even to read it. That is nothing that a reader may do in a user's folder; so what is
 * complete without its -wal file is opened as immutable, which touches nothing (and takes no lock:
 * a writer that starts meanwhile writes to the -wal file, which is not looked at), and the rest is
 * refused. */
static enum status choose_name(struct nsys_file *out, const unsigned char *head, const char *real,
                               struct error *err)
{
    char *wal = malloc(strlen(real) + sizeof "-wal");
    if (!wal)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    stpcpy(stpcpy(wal, real), "-wal");
    struct stat info;
    bool has_wal = stat(wal, &info) == 0;
    free(wal);
    if (has_wal && info.st_size > 0)
        return fail(err, ERR_BAD_INPUT, 0,
                    "an unfinished write lies beside it (its -wal file is not empty): open it once "
                    "with sqlite3 (sqlite3 FILE .tables)");
    bool wal_mode = head[18] == 2 || head[19] == 2; /* versions for writing and reading */
    out->is_uri = has_wal || wal_mode;
    out->name = out->is_uri ? immutable_uri(real) : strdup(real);
    return out->name ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
}

enum status nsys_file_check(struct nsys_file *out, const char *path, struct error *err)
{
    unsigned char head[HEADER_SIZE];
    struct nsys_file f = {0};
    enum status st = check_header(head, path, &f.size, err);
    if (st)
        return st;
    /* the absolute path, for a name may begin with "file:" or be ":memory:"; and SQLite looks for
     * the -wal file beside the file itself, not beside a link to it */
    char *real = realpath(path, NULL);
    if (!real)
        return io_fail(err);
    st = choose_name(&f, head, real, err);
    free(real);
    if (!st)
        *out = f;
    return st;
}

void nsys_file_fini(struct nsys_file *f)
{
    free(f->name);
    *f = (struct nsys_file){0};
}
