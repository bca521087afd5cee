/* SPDX-License-Identifier: MIT */
#include "collect/history.h"

#include <stdlib.h>
#include <string.h>

#include "collect/preamble.h"

enum { FIRST_BYTES = 1 << 20, FIRST_LINES = 1024 };

struct line {
    uint64_t offset;
    uint32_t len;
    bool stays; /* it belongs to the preamble of what comes later */
    int64_t t_ns;
    struct preamble_key key;
};

/* Two rings: the bytes, and where each line is. Both grow when they must, up to the budget. */
struct history {
    char *bytes;
    size_t cap, most;
    uint64_t begin, end; /* offsets */
    struct line *lines;
    size_t line_cap, first, n;
    int64_t most_ns;
    struct preamble before; /* what held when the oldest line came */
};

enum status history_create(struct history **out, size_t most_bytes, double most_s,
                           struct error *err)
{
    struct history *h = calloc(1, sizeof *h);
    if (!h)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    h->most = most_bytes;
    h->most_ns = (int64_t)(most_s * 1e9);
    h->cap = most_bytes < FIRST_BYTES ? most_bytes : FIRST_BYTES;
    h->line_cap = FIRST_LINES;
    h->bytes = malloc(h->cap);
    h->lines = calloc(h->line_cap, sizeof *h->lines);
    if (!h->bytes || !h->lines) {
        history_destroy(h);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    *out = h;
    return OK;
}

void history_destroy(struct history *h)
{
    if (!h)
        return;
    preamble_fini(&h->before);
    free(h->bytes);
    free(h->lines);
    free(h);
}

static struct line *line_at(const struct history *h, size_t i)
{
    return &h->lines[(h->first + i) % h->line_cap];
}

/* ---- bytes ---- */

/* A ring that is read as if it had no end. */
static void copy_out(const struct history *h, uint64_t offset, char *dst, size_t len)
{
    while (len) {
        const char *data;
        size_t part = history_read(h, offset, &data);
        part = part < len ? part : len;
        memcpy(dst, data, part);
        dst += part;
        offset += part;
        len -= part;
    }
}

static void copy_in(struct history *h, const char *src, size_t len)
{
    while (len) {
        size_t at = (size_t)(h->end % h->cap), part = h->cap - at;
        part = part < len ? part : len;
        memcpy(h->bytes + at, src, part);
        src += part;
        h->end += part;
        len -= part;
    }
}

size_t history_read(const struct history *h, uint64_t offset, const char **data)
{
    size_t at = (size_t)(offset % h->cap), left = (size_t)(h->end - offset);
    *data = h->bytes + at;
    return left < h->cap - at ? left : h->cap - at;
}

/* An offset's place is its remainder: in a ring of another size all bytes move. */
static enum status grow_bytes(struct history *h, size_t cap, struct error *err)
{
    char *larger = malloc(cap);
    if (!larger)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (uint64_t offset = h->begin; offset < h->end;) {
        const char *data;
        size_t part = history_read(h, offset, &data), at = (size_t)(offset % cap);
        part = part < cap - at ? part : cap - at;
        memcpy(larger + at, data, part);
        offset += part;
    }
    free(h->bytes);
    h->bytes = larger;
    h->cap = cap;
    return OK;
}

static enum status grow_lines(struct history *h, struct error *err)
{
    size_t cap = 2 * h->line_cap;
    struct line *more = calloc(cap, sizeof *more);
    if (!more)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < h->n; i++)
        more[i] = *line_at(h, i);
    free(h->lines);
    h->lines = more;
    h->line_cap = cap;
    h->first = 0;
    return OK;
}

/* ---- lines ---- */

static enum status keep_line(const struct history *h, const struct line *l, struct preamble *p,
                             struct error *err)
{
    char *text = l->stays ? malloc(l->len) : NULL;
    if (!l->stays)
        return OK;
    if (!text)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    copy_out(h, l->offset, text, l->len);
    enum status st = preamble_take(p, &l->key, text, l->len, err);
    free(text);
    return st;
}

static enum status drop_oldest(struct history *h, struct error *err)
{
    struct line *l = line_at(h, 0);
    enum status st = keep_line(h, l, &h->before, err);
    h->begin = l->offset + l->len;
    h->first = (h->first + 1) % h->line_cap;
    h->n--;
    return st;
}

static enum status make_room(struct history *h, size_t len, int64_t now_ns, struct error *err)
{
    enum status st = OK;
    while (!st && h->n && line_at(h, 0)->t_ns < now_ns - h->most_ns)
        st = drop_oldest(h, err);
    while (!st && h->end - h->begin + len > h->cap && h->cap < h->most)
        st = grow_bytes(h, 2 * h->cap < h->most ? 2 * h->cap : h->most, err);
    while (!st && h->end - h->begin + len > h->cap)
        st = drop_oldest(h, err);
    return st || h->n < h->line_cap ? st : grow_lines(h, err);
}

enum status history_add(struct history *h, const struct event *ev, const char *line, size_t len,
                        int64_t now_ns, struct error *err)
{
    struct preamble_key key;
    bool stays = preamble_key_of(ev, &key);
    if (len > h->most || len > UINT32_MAX)
        return OK;
    enum status st = make_room(h, len, now_ns, err);
    if (st)
        return st;
    *line_at(h, h->n) = (struct line){h->end, (uint32_t)len, stays, now_ns, key};
    h->n++;
    copy_in(h, line, len);
    return OK;
}

/* ---- readers ---- */

uint64_t history_begin(const struct history *h)
{
    return h->begin;
}

uint64_t history_end(const struct history *h)
{
    return h->end;
}

uint64_t history_since(const struct history *h, double seconds, int64_t now_ns)
{
    int64_t from_ns = now_ns - (int64_t)(seconds * 1e9);
    size_t low = 0, high = h->n; /* times only grow */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (line_at(h, middle)->t_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->n ? line_at(h, low)->offset : h->end;
}

double history_seconds(const struct history *h, int64_t now_ns)
{
    return h->n ? (double)(now_ns - line_at(h, 0)->t_ns) * 1e-9 : 0;
}

size_t history_bytes(const struct history *h)
{
    return (size_t)(h->end - h->begin);
}

enum status history_preamble(const struct history *h, uint64_t offset, struct buf *out,
                             struct error *err)
{
    struct preamble p = {0};
    enum status st = preamble_copy(&p, &h->before, err);
    for (size_t i = 0; !st && i < h->n && line_at(h, i)->offset < offset; i++)
        st = keep_line(h, line_at(h, i), &p, err);
    if (!st)
        preamble_print(&p, out);
    preamble_fini(&p);
    return !st && out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : st;
}
