/* SPDX-License-Identifier: MIT */
/* A growing byte buffer. Running out of memory is remembered: appending to a failed buffer does
 * nothing, so that a renderer can append freely and the caller checks once, at the end. */
#ifndef SMEFF_BASE_BUF_H
#define SMEFF_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* NUL-terminated when len > 0; owned */
    size_t len, cap;
    bool failed;
};

#define BUF_INIT                                                                                   \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void buf_fini(struct buf *b);  /* accepts a zeroed or already released buffer */
void buf_clear(struct buf *b); /* keeps the memory */
void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_repeat(struct buf *b, const char *s, size_t times);
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *fmt, ...);

/* The text so far, "" for an empty buffer. Valid until the next change. */
const char *buf_str(const struct buf *b);

#endif
