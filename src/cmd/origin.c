/* SPDX-License-Identifier: MIT */
#include "cmd/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/intake.h"
#include "cmd/remote.h"
#include "cmd/serverwatch.h"
#include "collect/trace.h"

static const double servers_window_s = 5;

enum { LAG_MS = 1000 };

struct origin {
    const struct options *options;
    const struct event_sink *sink;
    struct event_sink own;
    struct intake *intake; /* one of both */
    struct remote *remote;
    struct serverwatch *servers; /* NULL = none */
    bool own_servers, has_counters;
};

void origin_close(struct origin *o)
{
    if (!o)
        return;
    intake_close(o->intake);
    remote_close(o->remote);
    serverwatch_close(o->servers);
    free(o);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct origin *o = self;
    serverwatch_see(o->servers, ev);
    if (ev->kind == EVENT_SAMPLES && ev->u.samples.source != SOURCE_NVML)
        o->has_counters = true;
    if (ev->kind == EVENT_SERVER && o->own_servers)
        return OK;
    return event_push(o->sink, ev, err);
}

/* A daemon, a recording and another host have their own: ours are those that are named, of this
 * machine's samplers also those that are found. */
static enum status open_servers(struct origin *o, struct error *err)
{
    bool here = o->intake && !intake_is_replay(o->intake);
    o->own_servers = here && (!intake_is_attached(o->intake) || o->options->server);
    return o->own_servers
               ? serverwatch_open(&o->servers, o->options, servers_window_s, o->sink, err)
               : OK;
}

enum status origin_open(struct origin **out, const struct options *options, const struct request *r,
                        const struct event_sink *sink, struct error *err)
{
    struct origin *o = calloc(1, sizeof *o);
    if (!o)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    o->options = options;
    o->sink = sink;
    o->own = (struct event_sink){take, o};
    enum status st =
        options->host || options->from
            ? remote_open(&o->remote, options->host, options->from, TRACE_SECONDS, &o->own, err)
            : intake_open(&o->intake, options, r, TRACE_SECONDS, &o->own, err);
    if (!st)
        st = open_servers(o, err);
    if (st) {
        origin_close(o);
        return st;
    }
    *out = o;
    return OK;
}

void origin_name(const struct options *options, const struct origin *o, char *dst, size_t size)
{
    const char *file = options->replay ? strrchr(options->replay, '/') : NULL;
    if (options->host)
        snprintf(dst, size, "%s", options->host);
    else if (options->from)
        snprintf(dst, size, "%s", strcmp(options->from, "-") == 0 ? "stdin" : "socket");
    else if (options->replay)
        snprintf(dst, size, "replay %s", file ? file + 1 : options->replay);
    else
        snprintf(dst, size, "%s%s", intake_is_attached(o->intake) ? "daemon" : "live",
                 intake_is_replay(o->intake) ? " (replay)" : "");
}

void origin_waits(const struct origin *o, struct waits *w)
{
    if (o->intake)
        intake_waits(o->intake, w);
    else
        remote_waits(o->remote, w);
    waits_within(w, serverwatch_wait_ms(o->servers, LAG_MS));
}

enum status origin_poll(struct origin *o, struct error *err)
{
    enum status st = o->intake ? intake_poll(o->intake, 0, err) : remote_poll(o->remote, err);
    return st ? st : serverwatch_step(o->servers, err);
}

bool origin_settled(const struct origin *o)
{
    return o->intake ? intake_settled(o->intake) : o->has_counters;
}

bool origin_over(const struct origin *o, enum status *status, const char **reason)
{
    return o->intake ? intake_over(o->intake, status, reason)
                     : remote_over(o->remote, status, reason);
}
