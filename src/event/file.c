/* SPDX-License-Identifier: MIT */
#include "event/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "event/wire.h"

/* A line is a batch of samples: 64 MiB would be hours of them. */
enum { CHUNK = 65536, LINE_MAX_BYTES = 64 << 20, LEVEL = 6 };

static const int64_t flush_ns = INT64_C(2000000000);

/* ---- reading ---- */

struct event_reader {
    char *path;
    gzFile file;
    struct event_decoder *decoder;
    struct buf text; /* read, and not yet taken */
    size_t taken;    /* of it */
    uint64_t lines;
    bool at_end, has_hello, has_end, was_cut;
};

bool event_file_looks_like_one(const char *path)
{
    struct stat there;
    char first = '\0';
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode)) /* opening a FIFO would wait */
        return false;
    gzFile file = gzopen(path, "rbe");
    bool is = file && gzread(file, &first, 1) == 1 && first == '{';
    if (file)
        gzclose(file);
    return is;
}

void event_reader_close(struct event_reader *r)
{
    if (!r)
        return;
    if (r->file)
        gzclose(r->file);
    event_decoder_destroy(r->decoder);
    buf_fini(&r->text);
    free(r->path);
    free(r);
}

static enum status open_file(struct event_reader *r, struct error *err)
{
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, ERR_BAD_INPUT, errno, "%s: %s", r->path, strerror(errno));
    r->file = gzdopen(fd, "rb");
    if (r->file)
        return OK;
    close(fd);
    return fail(err, ERR_NOMEM, 0, "out of memory");
}

enum status event_reader_open(struct event_reader **out, const char *path, struct error *err)
{
    struct event_reader *r = calloc(1, sizeof *r);
    if (r)
        r->path = strdup(path);
    enum status st = r && r->path ? open_file(r, err) : fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st)
        st = event_decoder_create(&r->decoder, err);
    if (st) {
        event_reader_close(r);
        return st;
    }
    *out = r;
    return OK;
}

enum status event_reader_rewind(struct event_reader *r, struct error *err)
{
    struct event_decoder *fresh = NULL;
    if (gzrewind(r->file) != 0)
        return fail(err, ERR_IO, 0, "%s: cannot be read again", r->path);
    enum status st = event_decoder_create(&fresh, err);
    if (st)
        return st;
    event_decoder_destroy(r->decoder);
    r->decoder = fresh;
    buf_clear(&r->text);
    r->taken = 0;
    r->lines = 0;
    r->at_end = r->has_hello = r->has_end = r->was_cut = false;
    return OK;
}

/* More bytes behind those that are not taken yet. */
static enum status fill(struct event_reader *r, struct error *err)
{
    char chunk[CHUNK];
    if (r->taken) {
        memmove(r->text.data, r->text.data + r->taken, r->text.len - r->taken);
        r->text.len -= r->taken;
        r->taken = 0;
    }
    if (r->text.len > LINE_MAX_BYTES)
        return fail(err, ERR_BAD_INPUT, 0, "%s: line %llu has no end", r->path,
                    (unsigned long long)r->lines + 1);
    int n = gzread(r->file, chunk, sizeof chunk), code = Z_OK;
    const char *why = gzerror(r->file, &code);
    if (n < 0)
        return code == Z_ERRNO ? fail(err, ERR_BAD_INPUT, errno, "%s: %s", r->path, strerror(errno))
                               : fail(err, ERR_BAD_INPUT, code, "%s: damaged after line %llu: %s",
                                      r->path, (unsigned long long)r->lines, why);
    if (n == 0) {
        r->at_end = true;
        r->was_cut |= code == Z_BUF_ERROR; /* the compressed data break off */
    }
    buf_add(&r->text, chunk, (size_t)n);
    return r->text.failed ? fail(err, ERR_NOMEM, 0, "out of memory") : OK;
}

/* Watches what passes: the first event must be hello, else it is some other JSON. */
struct watched {
    struct event_reader *reader;
    const struct event_sink *sink;
};

static enum status watch(void *self, const struct event *ev, struct error *err)
{
    struct watched *w = self;
    w->reader->has_hello |= ev->kind == EVENT_HELLO;
    w->reader->has_end |= ev->kind == EVENT_END;
    return w->reader->has_hello ? event_push(w->sink, ev, err) : OK;
}

static enum status take_line(struct event_reader *r, const char *line, size_t len,
                             const struct event_sink *sink, struct error *err)
{
    struct watched w = {r, sink};
    const struct event_sink own = {watch, &w};
    struct error why = ERROR_INIT;
    r->lines++;
    enum status st = event_decode(r->decoder, line, len, &own, &why);
    if (!st && !r->has_hello)
        st = fail(&why, ERR_BAD_INPUT, 0, "no recording of smeff: it does not begin with hello");
    if (st == ERR_BAD_INPUT)
        return fail(err, st, 0, "%s: line %llu: %.300s", r->path, (unsigned long long)r->lines,
                    why.text);
    if (st && err)
        *err = why;
    return st;
}

enum status event_reader_next(struct event_reader *r, const struct event_sink *sink, bool *more,
                              struct error *err)
{
    *more = true;
    for (;;) {
        const char *begin = buf_str(&r->text) + r->taken;
        const char *lf = memchr(begin, '\n', r->text.len - r->taken);
        if (lf) {
            r->taken += (size_t)(lf - begin) + 1;
            return take_line(r, begin, (size_t)(lf - begin), sink, err);
        }
        if (r->at_end)
            break;
        enum status st = fill(r, err);
        if (st)
            return st;
    }
    *more = false;
    if (r->lines == 0)
        return fail(err, ERR_BAD_INPUT, 0, "%s: no recording of smeff: it has no whole line",
                    r->path);
    r->was_cut |= r->text.len > r->taken || !r->has_end;
    return OK;
}

bool event_reader_was_cut(const struct event_reader *r)
{
    return r->was_cut;
}

/* ---- writing ---- */

struct event_writer {
    char *path;
    gzFile file; /* transparent for plain files */
    struct event_encoder *encoder;
    struct buf text;
    int64_t flushed_ns;
};

void event_writer_destroy(struct event_writer *w)
{
    if (!w)
        return;
    if (w->file)
        gzclose(w->file);
    event_encoder_destroy(w->encoder);
    buf_fini(&w->text);
    free(w->path);
    free(w);
}

static enum status write_error(const struct event_writer *w, struct error *err)
{
    int code = errno;
    return fail(err, ERR_IO, code, "%s: %s", w->path, code ? strerror(code) : "cannot be written");
}

static enum status make_file(struct event_writer *w, struct error *err)
{
    size_t len = strlen(w->path);
    bool compressed = len > 3 && strcmp(w->path + len - 3, ".gz") == 0;
    char mode[8];
    int fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(err, ERR_IO, errno, "%s: %s%s", w->path, strerror(errno),
                    errno == EEXIST ? ": take another name" : "");
    snprintf(mode, sizeof mode, compressed ? "wb%d" : "wbT", LEVEL);
    w->file = gzdopen(fd, mode);
    if (w->file)
        return OK;
    close(fd);
    return fail(err, ERR_NOMEM, 0, "out of memory");
}

enum status event_writer_create(struct event_writer **out, const char *path, struct error *err)
{
    struct event_writer *w = calloc(1, sizeof *w);
    if (w)
        w->path = strdup(path);
    enum status st = w && w->path ? make_file(w, err) : fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st)
        st = event_encoder_create(&w->encoder, err);
    if (st) {
        event_writer_destroy(w);
        return st;
    }
    w->flushed_ns = clock_monotonic_ns();
    *out = w;
    return OK;
}

enum status event_writer_push(struct event_writer *w, const struct event *ev, struct error *err)
{
    enum status st = event_encode(w->encoder, &w->text, ev, err);
    if (st)
        return st;
    errno = 0;
    if (w->text.len && gzwrite(w->file, w->text.data, (unsigned)w->text.len) <= 0)
        return write_error(w, err);
    buf_clear(&w->text);
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - w->flushed_ns < flush_ns)
        return OK;
    w->flushed_ns = now_ns;
    return gzflush(w->file, Z_SYNC_FLUSH) == Z_OK ? OK : write_error(w, err);
}

enum status event_writer_finish(struct event_writer *w, struct error *err)
{
    gzFile file = w->file;
    w->file = NULL;
    errno = 0;
    return gzclose(file) == Z_OK ? OK : write_error(w, err);
}
