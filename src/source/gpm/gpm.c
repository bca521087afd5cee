/* SPDX-License-Identifier: MIT */
#include "source/gpm/gpm.h"

#include <stdlib.h>

#include "source/gpm/gpm_gpu.h"
#include "source/nvml_tell.h"

#define RATE_HZ     1.0
#define RATE_MIN_HZ 0.1
#define RATE_MAX_HZ (1e9 / GPM_FLOOR_NS)

struct gpm_source {
    struct source base;
    struct source_request request;
    struct nvml_cards cards;
    struct gpm_gpu gpus[NVML_PCI_MAX]; /* one for each card */
    struct nvml_pace pace;
};

static bool covers(enum metric m)
{
    return metric_info(m)->gpm_id != 0;
}

/* No GPU can be used: what the first one says. */
static enum status none_usable(const struct gpm_gpu *g, struct error *err)
{
    const struct error *why = &g->card->why;
    if (why->status)
        return fail(err, why->status, why->native, "%s", why->text);
    enum status st = ERR_UNSUPPORTED;
    if (g->series[0].state == VALUE_NO_PERMISSION)
        st = ERR_PERMISSION;
    else if (g->series[0].state == VALUE_FAILED)
        st = ERR_VENDOR;
    return fail(err, st, 0, "GPU %u: %s", g->card->index, g->series[0].reason);
}

/* Gets the GPUs ready that are awake. Fails when none of all has GPM or may still have it. */
static enum status prepare(struct gpm_source *s, struct error *err)
{
    size_t usable = 0;
    for (size_t i = 0; i < s->cards.n; i++) {
        struct gpm_gpu *g = &s->gpus[i];
        g->card = &s->cards.list[i];
        g->asleep = !s->cards.started || nvml_cards_asleep(&s->cards, g->card);
        if (!g->asleep && g->card->why.status == OK)
            gpm_gpu_prepare(g, &s->cards.api, &g->card->why);
        usable += g->asleep || g->ready;
    }
    return usable ? OK : none_usable(&s->gpus[0], err);
}

static void close_source(struct source *base)
{
    struct gpm_source *s = (struct gpm_source *)base;
    if (!s)
        return;
    for (size_t i = 0; i < s->cards.n; i++)
        gpm_gpu_fini(&s->gpus[i], &s->cards.api);
    nvml_cards_close(&s->cards);
    free(s);
}

enum status gpm_open(struct source **out, const struct source_request *request,
                     const struct gpm_options *options, struct error *err)
{
    struct gpm_source *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    s->base.ops = &gpm_ops;
    s->request = *request;
    nvml_pace_set(&s->pace, request->rate_hz, RATE_HZ, RATE_MIN_HZ, RATE_MAX_HZ);
    enum status st = nvml_cards_open(&s->cards, &s->request, options->library,
                                     options->root ? options->root : "", err);
    if (!st)
        st = prepare(s, err);
    if (st)
        close_source(&s->base);
    else
        *out = &s->base;
    return st;
}

static enum status open_default(struct source **out, const struct source_request *request,
                                struct error *err)
{
    return gpm_open(out, request, &(struct gpm_options){0}, err);
}

static enum status describe_gpus(struct gpm_source *s, const struct event_sink *sink,
                                 struct error *err)
{
    enum status st = s->cards.started ? nvml_tell_versions(&s->cards, sink, err) : OK;
    for (size_t i = 0; !st && i < s->cards.n; i++) {
        st = nvml_tell_gpu(s->gpus[i].card, sink, err);
        if (!st)
            st = gpm_gpu_plan(&s->gpus[i], s->pace.rate_hz, sink, err);
    }
    return st;
}

static enum status describe(struct source *base, const struct event_sink *sink, struct error *err)
{
    struct gpm_source *s = (struct gpm_source *)base;
    enum status st = OK;
    if (!nvml_pace_is_as_asked(&s->pace))
        st = event_push_note(sink, NOTE_INFO, -1, err,
                             "GPM is read %.3g times a second, not %g: its samples must lie more "
                             "than 100 ms apart, and less than 10 s are taken",
                             s->pace.rate_hz, s->pace.asked_hz);
    return st ? st : describe_gpus(s, sink, err);
}

/* Follows a GPU into sleep and out of it; *changed: the plan is another one. */
static enum status follow_sleep(struct gpm_source *s, struct gpm_gpu *g, bool *changed,
                                const struct event_sink *sink, struct error *err)
{
    bool asleep = nvml_cards_asleep(&s->cards, g->card);
    if (asleep == g->asleep)
        return OK;
    *changed = true;
    g->asleep = asleep;
    if (asleep)
        return OK;
    if (!g->card->dev && nvml_cards_attach(&s->cards, g->card, NULL) != OK)
        return OK;
    enum status st = nvml_tell_gpu(g->card, sink, err);
    return st ? st : gpm_gpu_prepare(g, &s->cards.api, err);
}

static enum status visit(struct gpm_source *s, struct gpm_gpu *g, bool *sent,
                         const struct event_sink *sink, struct error *err)
{
    bool changed = false, measured = false;
    int64_t t0_ns = 0, t1_ns = 0;
    if (g->card->why.status)
        return OK;
    enum status st = follow_sleep(s, g, &changed, sink, err);
    if (!st && !g->asleep && g->ready)
        st = gpm_gpu_step(g, &s->cards.api, &t0_ns, &t1_ns, &measured, &changed, err);
    if (!st && changed)
        st = gpm_gpu_plan(g, s->pace.rate_hz, sink, err);
    if (!st && measured)
        st = gpm_gpu_send(g, t0_ns, t1_ns, sink, sent, err);
    return st;
}

static enum status round_of(struct gpm_source *s, const struct event_sink *sink,
                            const struct source_stop *stop, struct error *err)
{
    bool sent = false;
    enum status st = OK;
    for (size_t i = 0; !st && !stop->raised && i < s->cards.n; i++)
        st = visit(s, &s->gpus[i], &sent, sink, err);
    return st || sent ? st : source_beat(sink, err);
}

static enum status run(struct source *base, const struct event_sink *sink,
                       const struct source_stop *stop, struct error *err)
{
    struct gpm_source *s = (struct gpm_source *)base;
    enum status st = OK;
    if (!s->cards.started) {
        st = nvml_tell_wait_awake(&s->cards, sink, stop, err);
        if (!st && s->cards.started)
            st = prepare(s, err);
        if (!st && s->cards.started)
            st = describe_gpus(s, sink, err);
    }
    nvml_pace_start(&s->pace);
    while (!st && !stop->raised) {
        st = round_of(s, sink, stop, err);
        if (!st)
            st = nvml_pace_wait(&s->pace, sink, stop, err);
    }
    return st;
}

const struct source_ops gpm_ops = {
    .name = "gpm",
    .id = SOURCE_GPM,
    .covers = covers,
    .open = open_default,
    .describe = describe,
    .run = run,
    .close = close_source,
};
