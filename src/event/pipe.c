/* SPDX-License-Identifier: MIT */
#include "event/pipe.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 64 << 20 };

enum status event_pipe_init(struct event_pipe *p, struct error *err)
{
    *p = (struct event_pipe){.text = BUF_INIT};
    return event_decoder_create(&p->decoder, err);
}

void event_pipe_fini(struct event_pipe *p)
{
    event_decoder_destroy(p->decoder);
    buf_fini(&p->text);
    p->decoder = NULL;
}

static enum status take_lines(struct event_pipe *p, const struct event_sink *sink,
                              struct error *err)
{
    const char *begin = buf_str(&p->text), *end = begin + p->text.len;
    enum status st = OK;
    for (const char *lf; !st && (lf = memchr(begin, '\n', (size_t)(end - begin))); begin = lf + 1)
        st = event_decode(p->decoder, begin, (size_t)(lf - begin), sink, err);
    size_t rest = (size_t)(end - begin);
    if (rest)
        memmove(p->text.data, begin, rest);
    p->text.len = rest;
    if (!st && rest > LINE_MAX_BYTES)
        return fail(err, ERR_BAD_INPUT, 0, "a line without an end");
    return st;
}

enum status event_pipe_read(struct event_pipe *p, int fd, const struct event_sink *sink,
                            bool *heard, bool *closed, struct error *err)
{
    static char chunk[65536];
    *heard = *closed = false;
    for (size_t taken = 0;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n <= 0) {
            *closed = n == 0 || (errno != EAGAIN && errno != EINTR);
            return OK;
        }
        *heard = true;
        buf_add(&p->text, chunk, (size_t)n);
        if (p->text.failed)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        enum status st = take_lines(p, sink, err);
        taken += (size_t)n;
        if (st || (size_t)n < sizeof chunk || (p->most && taken >= p->most))
            return st;
    }
}
