/* SPDX-License-Identifier: MIT */
#include "cmd/overlay.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK = 65536, KEY_SIZE = 32 };

/* Where the reader is in the JSON: as much as it takes to tell the top level's keys from all else.
 * No value is kept but one number. */
enum { DEPTH_MAX = 512 };

struct scan {
    int depth;
    char closes[DEPTH_MAX]; /* what ends each level: ] or } */
    bool is_array;          /* the top level is a list of events, without an object around it */
    bool in_string, is_escaped;
    bool in_events;     /* the value of "traceEvents" is next, or begun */
    bool is_key_wanted; /* the next string of the top level is a key */
    char text[KEY_SIZE];
    size_t len; /* of the string that is read, as far as it fits */
    char key[KEY_SIZE];
    bool has_key;    /* a key and its ':' were read, its value comes */
    bool in_base;    /* its value is next, or begun */
    bool after_base; /* it was: a comma or the end comes */
    int64_t events;  /* -1 = not found yet */
    bool has_first;  /* an event, or the end of the list, was seen */
    bool is_empty, has_base, is_over, is_bad;
    int64_t base_ns;
};

static void add_digit(struct scan *s, char c)
{
    if (s->base_ns > (INT64_MAX - 9) / 10)
        s->is_bad = true;
    else
        s->base_ns = 10 * s->base_ns + (c - '0');
}

static void end_string(struct scan *s)
{
    s->in_string = false;
    if (s->depth == 1 && s->is_key_wanted && !s->has_key) {
        s->text[s->len] = '\0';
        memcpy(s->key, s->text, sizeof s->key);
    }
}

static void take_in_string(struct scan *s, char c)
{
    if (s->is_escaped)
        s->is_escaped = false;
    else if (c == '\\')
        s->is_escaped = true;
    else if (c == '"') {
        end_string(s);
        return;
    }
    if (s->len + 1 < sizeof s->text)
        s->text[s->len++] = c;
}

static void open_level(struct scan *s, char c, int64_t at)
{
    if (s->depth == 0) {
        s->is_array = c == '[';
        s->is_key_wanted = c == '{';
    }
    if (s->depth == DEPTH_MAX) {
        s->is_bad = true;
        return;
    }
    s->closes[s->depth] = c == '{' ? '}' : ']';
    bool begins = (s->depth == 0 && c == '[') || (s->depth == 1 && s->in_events && c == '[');
    s->depth++;
    if (begins && s->events < 0)
        s->events = at + 1;
    s->has_key = s->in_events = false;
}

static void close_level(struct scan *s, char c)
{
    if (s->depth == 0 || s->closes[s->depth - 1] != c) {
        s->is_bad = true;
        return;
    }
    s->depth--;
    s->is_over = s->depth == 0;
}

/* The first thing behind the "[" of the events. */
static void note_first(struct scan *s, char c)
{
    if (s->events >= 0 && !s->has_first) {
        s->has_first = true;
        s->is_empty = c == ']';
    }
}

/* Only whole digits are a time base, once: anything else would move our tracks by years. */
static bool take_base(struct scan *s, char c)
{
    if (s->in_base && isdigit((unsigned char)c) && !s->after_base) {
        add_digit(s, c);
        s->has_base = true;
        return true;
    }
    if (s->in_base && isspace((unsigned char)c)) {
        s->after_base = s->has_base;
        return true;
    }
    if (s->in_base && (!s->has_base || (c != ',' && c != '}')))
        s->is_bad = true;
    s->in_base = s->after_base = false;
    return false;
}

static void take_char(struct scan *s, char c, int64_t at)
{
    if (s->in_string) {
        take_in_string(s, c);
        return;
    }
    if (take_base(s, c) || isspace((unsigned char)c))
        return;
    if (s->is_over || (s->depth == 0 && c != '{' && c != '[')) {
        s->is_bad = true;
        return;
    }
    note_first(s, c);
    switch (c) {
    case '"':
        s->in_string = true;
        s->len = 0;
        break;
    case '{':
    case '[':
        open_level(s, c, at);
        break;
    case '}':
    case ']':
        close_level(s, c);
        break;
    case ':':
        if (s->depth != 1 || s->is_array)
            break;
        s->has_key = true;
        s->in_events = strcmp(s->key, "traceEvents") == 0;
        s->is_bad |= s->in_events && s->events >= 0; /* readers would keep the last one only */
        s->in_base = strcmp(s->key, "baseTimeNanoseconds") == 0;
        s->is_bad |= s->in_base && s->has_base; /* a second one */
        break;
    case ',':
        if (s->depth == 1)
            s->has_key = s->in_events = false;
        break;
    default:
        break;
    }
}

static enum status read_failed(gzFile f, const char *path, struct error *err)
{
    int code;
    const char *text = gzerror(f, &code);
    return code == Z_ERRNO ? fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno))
                           : fail(err, ERR_BAD_INPUT, 0, "%s: %s", path, text);
}

static enum status scan_all(struct scan *s, gzFile f, const char *path, struct error *err)
{
    static char chunk[CHUNK];
    int64_t at = 0;
    int n;
    while ((n = gzread(f, chunk, sizeof chunk)) > 0 && !s->is_bad)
        for (int i = 0; i < n; i++)
            take_char(s, chunk[i], at++);
    if (n < 0)
        return read_failed(f, path, err);
    /* a list may end without its "]": the format allows it, for programs that crash */
    bool whole = s->is_over || (s->is_array && !s->in_string && s->depth == 1);
    if (s->is_bad || s->events < 0 || !whole)
        return fail(err, ERR_BAD_INPUT, 0,
                    "%s: no trace in the Trace Event Format, or not all of one", path);
    return OK;
}

static enum status open_trace(gzFile *out, const char *path, struct error *err)
{
    errno = 0;
    *out = gzopen(path, "rbe");
    return *out ? OK
                : fail(err, ERR_IO, errno, "%s: %s", path,
                       errno ? strerror(errno) : "out of memory");
}

enum status overlay_find(struct overlay *o, const char *path, struct error *err)
{
    struct scan s = {.events = -1};
    gzFile f;
    enum status st = open_trace(&f, path, err);
    if (st)
        return st;
    st = scan_all(&s, f, path, err);
    if (gzclose(f) == Z_BUF_ERROR && !st) /* the compressed file ends in the middle */
        st = fail(err, ERR_BAD_INPUT, 0, "%s: it was cut off", path);
    o->path = path;
    o->base_ns = s.has_base ? s.base_ns : 0;
    o->events = s.events;
    o->is_empty = s.is_empty || !s.has_first;
    return st;
}

/* ---- copying ---- */

static enum status put(const struct overlay *o, const char *text, size_t n, struct error *err)
{
    errno = 0;
    if (fwrite(text, 1, n, stdout) == n)
        return OK;
    *o->output_failed = true;
    return fail(err, ERR_IO, errno, "standard output: %s", strerror(errno));
}

static enum status copy(const struct overlay *o, int64_t from, int64_t to, struct error *err)
{
    static char chunk[CHUNK];
    gzFile f;
    enum status st = open_trace(&f, o->path, err);
    if (st)
        return st;
    if (from && gzseek(f, (z_off_t)from, SEEK_SET) < 0)
        st = read_failed(f, o->path, err);
    for (int64_t at = from; !st && at < to;) {
        int64_t wanted = to - at < CHUNK ? to - at : CHUNK;
        int n = gzread(f, chunk, (unsigned)wanted);
        if (n < 0)
            st = read_failed(f, o->path, err);
        else if (n == 0 && to < INT64_MAX)
            st = fail(err, ERR_BAD_INPUT, 0, "%s: it changed, or cannot be read twice", o->path);
        else if (n == 0)
            break;
        else
            st = put(o, chunk, (size_t)n, err);
        at += n;
    }
    gzclose(f);
    return st;
}

enum status overlay_copy_head(const struct overlay *o, struct error *err)
{
    return copy(o, 0, o->events, err);
}

enum status overlay_copy_tail(const struct overlay *o, bool after_ours, struct error *err)
{
    enum status st = after_ours && !o->is_empty ? put(o, ",\n", 2, err) : OK;
    if (!st)
        st = copy(o, o->events, INT64_MAX, err);
    errno = 0;
    if (st || fflush(stdout) == 0)
        return st;
    *o->output_failed = true;
    return fail(err, ERR_IO, errno, "standard output: %s", strerror(errno));
}
