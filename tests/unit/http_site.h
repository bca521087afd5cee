/* SPDX-License-Identifier: MIT */
/* What the tests of the HTTP side share: a site with a snapshot and a trace of a real recording. */
#ifndef SMEFF_TESTS_HTTP_SITE_H
#define SMEFF_TESTS_HTTP_SITE_H

#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "event/file.h"
#include "http/site.h"

static struct site *site;
static struct trace *trace;
static struct frames *frames;
static struct collector *collector;
static size_t rendered; /* how often metrics were made */

static inline void make_metrics(void *self, const struct snapshot *s, struct buf *out)
{
    (void)self;
    rendered++;
    for (int i = 0; i < 100; i++)
        buf_printf(out, "a_metric{n=\"%d\"} 1\n", i);
    buf_printf(out, "gpus %zu\n", s ? s->n_gpus : 0);
}

static inline void make_dcgm(void *self, const struct snapshot *s, struct buf *out)
{
    (void)self;
    (void)s;
    buf_puts(out, "DCGM 1\n");
}

static inline enum status push_all(void *self, const struct event *ev, struct error *err)
{
    const struct event_sink a = collector_sink(collector), b = trace_sink(trace),
                            c = frames_sink(frames);
    (void)self;
    enum status st = event_push(&a, ev, err);
    if (!st)
        st = event_push(&b, ev, err);
    return st ? st : event_push(&c, ev, err);
}

static inline struct snapshot *take_snapshot(void)
{
    struct snapshot *s = NULL;
    if (collector_snapshot(collector, &s, NULL))
        abort();
    return s;
}

/* recording NULL: nothing was heard yet. */
static inline void open_site(const char *recording)
{
    static const struct site_ops ops = {make_metrics, make_dcgm};
    const struct event_sink sink = {push_all, NULL};
    struct event_reader *r = NULL;
    bool more = true;
    if (collector_create(&collector, NULL) || trace_create(&trace, NULL) ||
        frames_create(&frames, NULL) || site_create(&site, trace, "box.example", &ops, NULL, NULL))
        abort();
    rendered = 0;
    if (!recording)
        return;
    if (event_reader_open(&r, recording, NULL))
        abort();
    while (more)
        if (event_reader_next(r, &sink, &more, NULL))
            abort();
    event_reader_close(r);
    site_take(site, take_snapshot());
    site_tell(site, "");
}

static inline void close_site(void)
{
    site_destroy(site);
    trace_destroy(trace);
    frames_destroy(frames);
    collector_destroy(collector);
}

#endif
