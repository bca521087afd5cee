/* SPDX-License-Identifier: MIT */
#include "source/nsys/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/nsys/capture.h"
#include "source/nsys/choose.h"
#include "source/nsys/keep.h"
#include "source/nsys/window.h"

/* HANDOVER: nsys samples 0.1 to 0.3 s longer than the program that it waits for. BUSY: when the
 * counters are not free yet. GIVE_UP: after so long without them another program must have them. */
enum { WORKERS = 2, STEP_MS = 20, HANDOVER_MS = 200, BUSY_MS = 500, GIVE_UP_MS = 4000 };

/* In a row. */
enum { FAILURES_MAX = 2 };

static const double window_default_s = 1.5, rate_default_hz = 50, rate_min_hz = 10,
                    rate_max_hz = 200000;

struct relay {
    struct source base;
    struct source_request request;
    struct nvml_cards cards;
    struct nsys_tool tool;
    struct nsys_wish wish;
    struct nsys_stream *stream;
    struct nsys_capture workers[WORKERS];
    unsigned started;           /* captures so far */
    unsigned delivered, failed; /* windows that were sent; failures since the last of them */
    int64_t not_before_ns;      /* the next capture */
    int64_t busy_ns;            /* since when the counters cannot be had; 0 = they can */
    int64_t beat_ns;
};

static bool covers(enum metric m)
{
    return metric_info(m)->scope == SCOPE_GPU;
}

/* ---- opening ---- */

static void set_wish(struct relay *r)
{
    const struct source_request *q = &r->request;
    double hz = q->rate_hz > 0 ? q->rate_hz : rate_default_hz;
    r->wish.seconds = q->window_s > 0 ? q->window_s : window_default_s;
    r->wish.rate_hz = hz < rate_min_hz ? rate_min_hz : hz > rate_max_hz ? rate_max_hz : hz;
    r->wish.patience = nsys_patience_default;
}

static enum status open_cards(struct relay *r, const struct nsys_relay_options *o,
                              struct error *err)
{
    enum status st =
        nvml_cards_open(&r->cards, &r->request, o->library, o->root ? o->root : "", err);
    if (!st && !r->cards.started) /* they sleep; counters were asked for, so they are woken */
        st = nvml_cards_start(&r->cards, err);
    return st;
}

static enum status choose(struct relay *r, struct error *err)
{
    struct nsys_device devices[NSYS_DEVICES_MAX];
    const struct nsys_device *chosen[NVML_PCI_MAX];
    struct nsys_set sets[NSYS_SETS_MAX];
    size_t n_devices = 0, n_chosen = 0, n_sets = 0;
    enum status st = nsys_tool_devices(&r->tool, devices, &n_devices, err);
    if (!st)
        st = nsys_choose_devices(&r->cards, devices, n_devices, r->wish.devices,
                                 sizeof r->wish.devices, chosen, &n_chosen, err);
    if (!st) /* where the sets cannot be listed, only one that was named is missed */
        st = nsys_tool_sets(&r->tool, sets, &n_sets, err);
    if (st == ERR_UNSUPPORTED && n_chosen && !r->request.metrics_set)
        st = OK;
    if (!st)
        st = nsys_choose_set(r->request.metrics_set, chosen, n_chosen, sets, n_sets, r->wish.set,
                             sizeof r->wish.set, err);
    return st;
}

static void close_source(struct source *base)
{
    struct relay *r = (struct relay *)base;
    if (!r)
        return;
    for (size_t i = 0; i < WORKERS; i++) /* all at once, then wait for each */
        proc_signal(&r->workers[i].task.proc, SIGTERM);
    for (size_t i = 0; i < WORKERS; i++)
        nsys_capture_clear(&r->workers[i]);
    nsys_tool_close(&r->tool);
    nsys_stream_destroy(r->stream);
    nvml_cards_close(&r->cards);
    free(r);
}

enum status nsys_relay_open(struct source **out, const struct source_request *request,
                            const struct nsys_relay_options *options, struct error *err)
{
    const char *root = options->root ? options->root : "";
    const struct nsys_places places = {root, nsys_places_here().path};
    struct relay *r = calloc(1, sizeof *r);
    if (!r)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    r->base.ops = &nsys_ops;
    r->request = *request;
    r->tool.folder = (struct guard_folder)GUARD_FOLDER_INIT;
    set_wish(r);
    enum status st = open_cards(r, options, err);
    if (!st)
        st = nsys_tool_open(&r->tool, &places, request->nsys, err);
    if (!st)
        st = nsys_tool_learn(&r->tool, err);
    if (!st)
        st = choose(r, err);
    if (!st)
        st = nsys_stream_create(&r->stream, &r->cards, r->wish.rate_hz, err);
    if (st)
        close_source(&r->base);
    else
        *out = &r->base;
    return st;
}

static enum status open_default(struct source **out, const struct source_request *request,
                                struct error *err)
{
    return nsys_relay_open(out, request, &(struct nsys_relay_options){0}, err);
}

/* ---- describing ---- */

static enum status describe(struct source *base, const struct event_sink *sink, struct error *err)
{
    struct relay *r = (struct relay *)base;
    double asked_hz = r->request.rate_hz;
    enum status st =
        nsys_stream_tell(r->stream, VALUE_WARMING, "the first window is being captured", sink, err);
    if (!st)
        st = event_push_note(sink, NOTE_INFO, -1, err,
                             "nsys %s from %s, metric set %s, windows of %.4g s",
                             r->tool.version.text, r->tool.found,
                             r->wish.set[0] ? r->wish.set : "of the chip", r->wish.seconds);
    if (!st && asked_hz > 0 && (asked_hz < r->wish.rate_hz || asked_hz > r->wish.rate_hz))
        st = event_push_note(sink, NOTE_INFO, -1, err,
                             "nsys samples %g times a second, not %g: it takes 10 to 200000",
                             r->wish.rate_hz, asked_hz);
    return st;
}

/* ---- running ---- */

static void wait_before_next(struct relay *r, int ms)
{
    r->not_before_ns = clock_monotonic_ns() + ms * INT64_C(1000000);
}

/* Does a capture of ours hold the counters still, or is it about to let go of them? */
static bool is_finishing(const struct relay *r)
{
    for (size_t i = 0; i < WORKERS; i++)
        if (r->workers[i].phase == NSYS_FINISHING || r->workers[i].phase == NSYS_SAMPLING)
            return true;
    return false;
}

/* Counters that our own last capture, or a short use by somebody else, holds come back soon. */
static enum status take_busy(struct relay *r, const struct error *why, struct error *err)
{
    int64_t now_ns = clock_monotonic_ns();
    if (is_finishing(r)) {
        wait_before_next(r, BUSY_MS);
        return OK;
    }
    r->busy_ns = r->busy_ns ? r->busy_ns : now_ns;
    if (r->delivered == 0 || now_ns - r->busy_ns > GIVE_UP_MS * INT64_C(1000000))
        return fail(err, ERR_BUSY, 0, "%s", why->text);
    wait_before_next(r, BUSY_MS);
    return OK;
}

/* What asking again will not change ends the source; another failure may do so once. */
static enum status take_failure(struct relay *r, const struct error *why,
                                const struct event_sink *sink, struct error *err)
{
    bool passing = why->status == ERR_IO || why->status == ERR_TIMEOUT ||
                   why->status == ERR_BAD_INPUT || why->status == ERR_ORDER;
    if (why->status == ERR_BUSY)
        return take_busy(r, why, err);
    if (r->request.once || !passing || ++r->failed >= FAILURES_MAX)
        return fail(err, why->status, why->native, "%s", why->text);
    wait_before_next(r, BUSY_MS);
    return event_push_note(sink, NOTE_WARNING, -1, err, "a window is lost: %s", why->text);
}

/* Without the file's name, which is of no use once it is removed. Static text of err's. */
static const char *cause_of(const struct error *err, const char *file)
{
    static char text[sizeof err->text];
    size_t n = strlen(file);
    bool named = strncmp(err->text, file, n) == 0 && strncmp(err->text + n, ": ", 2) == 0;
    snprintf(text, sizeof text, "%s", err->text + (named ? n + 2 : 0));
    return text;
}

static enum status beat(struct relay *r, const struct event_sink *sink, struct error *err)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - r->beat_ns < SOURCE_BEAT_NS)
        return OK;
    r->beat_ns = now_ns;
    return source_beat(sink, err);
}

struct beating {
    struct relay *relay;
    const struct event_sink *sink;
};

/* That nobody reads any more shows at the next event. */
static void beat_meanwhile(void *self)
{
    const struct beating *b = self;
    beat(b->relay, b->sink, NULL);
}

static enum status deliver(struct relay *r, struct nsys_capture *c, const struct event_sink *sink,
                           struct error *err)
{
    enum status st = OK;
    struct beating beating = {r, sink};
    const struct nsys_beat meanwhile = {beat_meanwhile, &beating};
    if (r->request.keep_dir) /* first: numbers without the evidence that was asked for are none */
        st = nsys_keep(c, r->request.keep_dir, r->delivered + 1, &meanwhile, err);
    if (!st)
        st = nsys_stream_send(r->stream, c->sqlite, sink, err);
    r->beat_ns = clock_monotonic_ns();
    if (st == ERR_BAD_INPUT) /* whatever file it was */
        st = fail(err, ERR_IO, 0, "nsys %s exported no usable GPU metrics: %s",
                  r->tool.version.text, cause_of(err, c->sqlite));
    nsys_capture_clear(c);
    if (!st) {
        r->delivered++;
        r->failed = 0;
        r->busy_ns = 0;
    }
    return st;
}

static enum status attend(struct relay *r, struct nsys_capture *c, const struct event_sink *sink,
                          struct error *err)
{
    struct error why = ERROR_INIT;
    enum nsys_phase before = c->phase;
    enum status st = nsys_capture_step(c, &why);
    if (!st && before == NSYS_SAMPLING && c->phase == NSYS_FINISHING)
        wait_before_next(r, HANDOVER_MS);
    if (!st && c->phase == NSYS_DONE)
        st = deliver(r, c, sink, &why);
    return st ? take_failure(r, &why, sink, err) : OK;
}

/* One captures at a time, while another may still be finishing. */
static enum status start_next(struct relay *r, const struct event_sink *sink, struct error *err)
{
    struct nsys_capture *idle = NULL;
    for (size_t i = 0; i < WORKERS; i++) {
        if (r->workers[i].phase == NSYS_SAMPLING)
            return OK;
        if (r->workers[i].phase == NSYS_IDLE)
            idle = &r->workers[i];
    }
    if (!idle || clock_monotonic_ns() < r->not_before_ns || (r->request.once && r->started))
        return OK;
    struct error why = ERROR_INIT;
    enum status st = nsys_capture_start(idle, &r->tool, &r->wish, ++r->started, &why);
    return st ? take_failure(r, &why, sink, err) : OK;
}

static enum status pause_and_beat(struct relay *r, const struct event_sink *sink,
                                  const struct source_stop *stop, struct error *err)
{
    source_sleep_until(clock_monotonic_ns() + STEP_MS * INT64_C(1000000), stop);
    return beat(r, sink, err);
}

static enum status run(struct source *base, const struct event_sink *sink,
                       const struct source_stop *stop, struct error *err)
{
    struct relay *r = (struct relay *)base;
    struct error why = ERROR_INIT;
    enum status st = OK;
    while (!st && !stop->raised && !(r->request.once && r->delivered)) {
        st = start_next(r, sink, &why);
        for (size_t i = 0; !st && i < WORKERS; i++)
            st = attend(r, &r->workers[i], sink, &why);
        if (!st)
            st = pause_and_beat(r, sink, stop, &why);
    }
    if (st == OK)
        return OK;
    nsys_stream_tell(r->stream, source_state_of(st), why.text, sink, NULL);
    return fail(err, st, why.native, "%s", why.text);
}

const struct source_ops nsys_ops = {
    .name = "nsys",
    .id = SOURCE_NSYS,
    .covers = covers,
    .open = open_default,
    .describe = describe,
    .run = run,
    .close = close_source,
};
