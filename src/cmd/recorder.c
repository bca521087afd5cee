/* SPDX-License-Identifier: MIT */
#include "cmd/recorder.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

void recorder_fini(struct recorder *r)
{
    event_writer_destroy(r->writer);
    preamble_fini(&r->holds);
    event_encoder_destroy(r->encoder);
    buf_fini(&r->text);
    *r = (struct recorder){0};
}

static enum status remember(struct recorder *r, const struct event *ev, struct error *err)
{
    struct preamble_key key;
    if (!preamble_key_of(ev, &key))
        return OK;
    enum status st = r->encoder ? OK : event_encoder_create(&r->encoder, err);
    buf_clear(&r->text);
    if (!st)
        st = event_encode(r->encoder, &r->text, ev, err);
    return st ? st : preamble_take(&r->holds, &key, buf_str(&r->text), r->text.len, err);
}

static void drop(struct recorder *r)
{
    event_writer_destroy(r->writer);
    r->writer = NULL;
}

enum status recorder_take(struct recorder *r, const struct event *ev, struct error *err)
{
    enum status st = remember(r, ev, err);
    if (!st && r->writer)
        st = event_writer_push(r->writer, ev, err);
    if (st)
        drop(r);
    return st;
}

static enum status push(void *self, const struct event *ev, struct error *err)
{
    return event_writer_push(self, ev, err);
}

/* What holds now, line by line, as if it had just come. */
static enum status write_preamble(struct recorder *r, struct error *err)
{
    struct event_decoder *decoder = NULL;
    const struct event_sink sink = {push, r->writer};
    enum status st = event_decoder_create(&decoder, err);
    buf_clear(&r->text);
    preamble_print(&r->holds, &r->text);
    const char *line = buf_str(&r->text), *end = line + r->text.len, *lf = NULL;
    for (; !st && (lf = memchr(line, '\n', (size_t)(end - line))); line = lf + 1)
        st = event_decode(decoder, line, (size_t)(lf - line), &sink, err);
    event_decoder_destroy(decoder);
    return st;
}

enum status recorder_begin(struct recorder *r, struct error *err)
{
    char when[32];
    struct tm tm;
    time_t now = (time_t)(clock_unix_ns() / 1000000000);
    if (r->holds.n == 0)
        return fail(err, ERR_NOT_FOUND, 0, "nothing came yet that could be recorded");
    localtime_r(&now, &tm);
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    snprintf(r->path, sizeof r->path, "smeff-%s.jsonl.gz", when);
    for (int i = 2; access(r->path, F_OK) == 0 && i < 100; i++) /* twice in a second */
        snprintf(r->path, sizeof r->path, "smeff-%s-%d.jsonl.gz", when, i);
    enum status st = event_writer_create(&r->writer, r->path, err);
    if (!st)
        st = write_preamble(r, err);
    if (st)
        drop(r);
    return st;
}

enum status recorder_end(struct recorder *r, struct error *err)
{
    const struct event end = {.kind = EVENT_END, .u.end = {OK, ""}};
    if (!r->writer)
        return OK;
    enum status st = event_writer_push(r->writer, &end, err);
    if (!st)
        st = event_writer_finish(r->writer, err);
    drop(r);
    return st;
}
