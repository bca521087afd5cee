/* SPDX-License-Identifier: MIT */
#include "cmd/intake.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/attach.h"
#include "cmd/live.h"

/* One of both. */
struct intake {
    struct live *live;
    struct attach *attach;
    bool is_replay;
};

static enum status check_options(const struct options *o, struct error *err)
{
    const char *option = o->rate          ? "--rate"
                         : o->set         ? "--set"
                         : o->metric      ? "--metric"
                         : o->cupti       ? "--cupti"
                         : o->nsys        ? "--nsys"
                         : o->metrics_set ? "--metrics-set"
                                          : NULL;
    if (o->backend && strcmp(o->backend, "auto") != 0)
        option = "--backend";
    return option ? fail(err, ERR_USAGE, 0,
                         "a daemon samples here, as it was started: without %s, or with --own "
                         "beside it (smeff daemon status)",
                         option)
                  : OK;
}

static enum status open_any(struct intake *in, const struct options *o, const struct request *r,
                            double history_s, const struct event_sink *sink, struct error *err)
{
    struct error why = ERROR_INIT;
    enum status st = ERR_NOT_FOUND;
    if (!o->own && !r->replay)
        st = attach_open(&in->attach, o->run_dir, history_s, r, sink, &why);
    if (st == OK) {
        in->is_replay = attach_is_replay(in->attach);
        return check_options(o, err);
    }
    in->is_replay = r->replay != NULL;
    if (st == ERR_NOT_FOUND || st == ERR_PERMISSION)
        return live_open(&in->live, r, sink, err);
    return fail(err, st, why.native, "%s", why.text);
}

enum status intake_open(struct intake **out, const struct options *o, const struct request *r,
                        double history_s, const struct event_sink *sink, struct error *err)
{
    struct intake *in = calloc(1, sizeof *in);
    if (!in)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = open_any(in, o, r, history_s, sink, err);
    if (st) {
        intake_close(in);
        return st;
    }
    *out = in;
    return OK;
}

void intake_close(struct intake *in)
{
    if (!in)
        return;
    live_close(in->live);
    attach_close(in->attach);
    free(in);
}

bool intake_is_attached(const struct intake *in)
{
    return in->attach != NULL;
}

bool intake_is_replay(const struct intake *in)
{
    return in->is_replay;
}

enum status intake_poll(struct intake *in, int timeout_ms, struct error *err)
{
    return in->attach ? attach_poll(in->attach, timeout_ms, err)
                      : live_poll(in->live, timeout_ms, err);
}

void intake_waits(const struct intake *in, struct waits *w)
{
    if (in->attach)
        attach_waits(in->attach, w);
    else
        live_waits(in->live, w);
}

bool intake_settled(const struct intake *in)
{
    return in->attach ? attach_settled(in->attach) : live_settled(in->live);
}

enum status intake_counters(const struct intake *in, const char **reason)
{
    return in->attach ? attach_counters(in->attach, reason) : live_counters(in->live, reason);
}

bool intake_captured(const struct intake *in)
{
    return in->live && live_captured(in->live);
}

bool intake_over(const struct intake *in, enum status *status, const char **reason)
{
    return in->attach ? attach_over(in->attach, status, reason)
                      : live_over(in->live, status, reason);
}
