/* SPDX-License-Identifier: MIT */
#include "cmd/recording.h"

#include "collect/collect.h"
#include "event/file.h"

static enum status ignore(void *self, const struct event *ev, struct error *err)
{
    (void)self, (void)ev, (void)err;
    return OK;
}

enum status recording_check(const char *path, struct error *err)
{
    static const struct event_sink nobody = {ignore, NULL};
    struct event_reader *r = NULL;
    bool more;
    enum status st = event_reader_open(&r, path, err);
    if (!st)
        st = event_reader_next(r, &nobody, &more, err);
    event_reader_close(r);
    return st;
}

static enum status read_all(struct event_reader *r, const struct event_sink *sink,
                            struct error *err)
{
    bool more = true;
    enum status st = OK;
    while (!st && more)
        st = event_reader_next(r, sink, &more, err);
    if (!st && event_reader_was_cut(r))
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "the recording was cut off; this is what it has up to there");
    return st;
}

enum status recording_read(const char *path, const struct event_sink *sink, struct error *err)
{
    struct event_reader *r = NULL;
    enum status st = event_reader_open(&r, path, err);
    if (!st)
        st = read_all(r, sink, err);
    event_reader_close(r);
    return st;
}

enum status recording_snapshot(const char *path, struct snapshot **out, struct error *err)
{
    struct collector *c = NULL;
    enum status st = collector_create(&c, err);
    if (st)
        return st;
    const struct event_sink sink = collector_sink(c);
    st = recording_read(path, &sink, err);
    if (!st)
        st = collector_snapshot(c, out, err);
    collector_destroy(c);
    return st;
}
