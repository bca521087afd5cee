/* SPDX-License-Identifier: MIT */
#include "source/nvml/nvml.h"

#include <stdlib.h>

#include "base/clock.h"
#include "source/nvml/nvml_gpu.h"
#include "source/nvml/nvml_processes.h"
#include "source/nvml_tell.h"

/* A call costs up to half a millisecond of CPU and the energy up to 6 (measured on an H200: the
 * driver waits actively for the GPU's own processor). So once a second what moves, now and then
 * what moves slowly, and the energy each second only at first. */
#define RATE_HZ     1.0
#define RATE_MIN_HZ 0.1
#define RATE_MAX_HZ 10.0
#define SLOW_NS     INT64_C(5000000000)
#define EARLY_NS    INT64_C(12000000000)

struct nvml_source {
    struct source base;
    struct source_request request;
    struct nvml_cards cards;
    struct nvml_gpu gpus[NVML_PCI_MAX]; /* one for each card */
    struct nvml_pace pace;
    int64_t slow_ns, early_ns;
};

static bool covers(enum metric m)
{
    return metric_info(m)->group == GROUP_DRIVER;
}

enum status nvml_open(struct source **out, const struct source_request *request,
                      const struct nvml_options *options, struct error *err)
{
    struct nvml_source *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    s->base.ops = &nvml_ops;
    s->request = *request;
    s->slow_ns = options->slow_ns > 0 ? options->slow_ns : SLOW_NS;
    s->early_ns = options->early_ns > 0 ? options->early_ns : EARLY_NS;
    nvml_pace_set(&s->pace, request->rate_hz, RATE_HZ, RATE_MIN_HZ, RATE_MAX_HZ);
    enum status st = nvml_cards_open(&s->cards, &s->request, options->library,
                                     options->root ? options->root : "", err);
    if (st)
        free(s);
    else
        *out = &s->base;
    return st;
}

static enum status open_default(struct source **out, const struct source_request *request,
                                struct error *err)
{
    return nvml_open(out, request, &(struct nvml_options){0}, err);
}

/* Tries every reader once, to know what this GPU gives. A card that fails wholly is set aside. */
static enum status describe_gpu(struct nvml_source *s, struct nvml_gpu *g,
                                const struct event_sink *sink, struct error *err)
{
    bool changed = false;
    g->asleep = !s->cards.started || nvml_cards_asleep(&s->cards, g->card);
    g->last_ns = clock_unix_ns();
    if (!g->asleep && g->card->why.status == OK)
        nvml_gpu_read(g, &s->cards.api, NVML_ALL, &changed, &g->card->why);
    enum status st = nvml_tell_gpu(g->card, sink, err);
    return st ? st : nvml_gpu_plan(g, s->pace.rate_hz, sink, err);
}

static enum status describe_gpus(struct nvml_source *s, const struct event_sink *sink,
                                 struct error *err)
{
    size_t usable = 0;
    enum status st = s->cards.started ? nvml_tell_versions(&s->cards, sink, err) : OK;
    for (size_t i = 0; !st && i < s->cards.n; i++) {
        s->gpus[i].card = &s->cards.list[i];
        st = describe_gpu(s, &s->gpus[i], sink, err);
        usable += s->cards.list[i].why.status == OK;
    }
    if (!st && !usable)
        return fail(err, s->cards.list[0].why.status, s->cards.list[0].why.native, "%s",
                    s->cards.list[0].why.text);
    return st;
}

static enum status describe(struct source *base, const struct event_sink *sink, struct error *err)
{
    struct nvml_source *s = (struct nvml_source *)base;
    enum status st = OK;
    if (!nvml_pace_is_as_asked(&s->pace))
        st = event_push_note(sink, NOTE_INFO, -1, err,
                             "the driver's readings are taken %g times a second, not %g: possible "
                             "are %g to %g",
                             s->pace.rate_hz, s->pace.asked_hz, RATE_MIN_HZ, RATE_MAX_HZ);
    return st ? st : describe_gpus(s, sink, err);
}

/* Follows a GPU into sleep and out of it. *woke: it is back, and everything must be read. */
static enum status follow_sleep(struct nvml_source *s, struct nvml_gpu *g, bool *woke,
                                const struct event_sink *sink, struct error *err)
{
    bool asleep = nvml_cards_asleep(&s->cards, g->card);
    *woke = g->asleep && !asleep;
    if (asleep == g->asleep)
        return OK;
    g->asleep = asleep;
    if (asleep)
        return nvml_gpu_plan(g, s->pace.rate_hz, sink, err);
    if (!g->card->dev && nvml_cards_attach(&s->cards, g->card, NULL) != OK)
        return nvml_gpu_plan(g, s->pace.rate_hz, sink, err);
    return nvml_tell_gpu(g->card, sink, err);
}

/* A sample begins where the one before ended, but not long before: clocks jump, machines sleep. */
static int64_t start_of(const struct nvml_source *s, const struct nvml_gpu *g, int64_t now_ns)
{
    int64_t earliest = now_ns - 2 * s->pace.period_ns;
    int64_t start = g->last_ns > earliest ? g->last_ns : earliest;
    return start < now_ns ? start : now_ns;
}

static enum status visit(struct nvml_source *s, struct nvml_gpu *g, unsigned due, bool *sent,
                         const struct event_sink *sink, struct error *err)
{
    bool woke = false, changed = false;
    if (g->card->why.status)
        return OK;
    enum status st = follow_sleep(s, g, &woke, sink, err);
    if (st || g->asleep || g->card->why.status) {
        g->last_ns = clock_unix_ns();
        return st;
    }
    st = nvml_gpu_read(g, &s->cards.api, woke ? NVML_ALL : due, &changed, err);
    int64_t now_ns = clock_unix_ns(), start_ns = start_of(s, g, now_ns);
    g->last_ns = now_ns;
    if (!st && (changed || woke))
        st = nvml_gpu_plan(g, s->pace.rate_hz, sink, err);
    if (!st)
        st = nvml_gpu_send(g, start_ns, now_ns, sink, sent, err);
    return !st && due == NVML_ALL ? nvml_processes_send(g, &s->cards.api, sink, err) : st;
}

static enum status round_of(struct nvml_source *s, unsigned due, const struct event_sink *sink,
                            const struct source_stop *stop, struct error *err)
{
    bool sent = false;
    enum status st = OK;
    for (size_t i = 0; !st && !stop->raised && i < s->cards.n; i++)
        st = visit(s, &s->gpus[i], due, &sent, sink, err);
    return st || sent ? st : source_beat(sink, err);
}

static enum status run(struct source *base, const struct event_sink *sink,
                       const struct source_stop *stop, struct error *err)
{
    struct nvml_source *s = (struct nvml_source *)base;
    enum status st = OK;
    if (!s->cards.started) {
        st = nvml_tell_wait_awake(&s->cards, sink, stop, err);
        if (!st && s->cards.started)
            st = describe_gpus(s, sink, err);
    }
    nvml_pace_start(&s->pace);
    int64_t slow_due_ns = s->pace.due_ns, early_end_ns = s->pace.due_ns + s->early_ns;
    while (!st && !stop->raised) {
        unsigned due = s->pace.due_ns < early_end_ns ? NVML_QUICK | NVML_COSTLY : NVML_QUICK;
        if (s->pace.due_ns >= slow_due_ns) {
            slow_due_ns = s->pace.due_ns + s->slow_ns;
            due = NVML_ALL;
        }
        st = round_of(s, due, sink, stop, err);
        if (!st)
            st = nvml_pace_wait(&s->pace, sink, stop, err);
    }
    return st;
}

static void close_source(struct source *base)
{
    struct nvml_source *s = (struct nvml_source *)base;
    if (!s)
        return;
    nvml_cards_close(&s->cards);
    free(s);
}

const struct source_ops nvml_ops = {
    .name = "nvml",
    .id = SOURCE_NVML,
    .covers = covers,
    .open = open_default,
    .describe = describe,
    .run = run,
    .close = close_source,
};
