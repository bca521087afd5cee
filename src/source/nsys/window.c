/* SPDX-License-Identifier: MIT */
#include "source/nsys/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/str.h"
#include "source/nsys/nsys.h"

enum { NOTES_MAX = 32, BEAT_MS = 500, NOBODY = -1, IDS_MAX = 256 };

/* One card's series, in the order of every plan: the catalogue's GPU metrics. */
struct line {
    enum value_state state; /* as last sent */
    char reason[NSYS_TEXT_SIZE];
    bool doubted; /* in an earlier window, and why */
    char doubt[NSYS_TEXT_SIZE];
};

struct card {
    const struct nvml_card *card;
    bool named;      /* its chip is told */
    int64_t last_ns; /* end of the last sample that was sent */
    struct line lines[METRIC_COUNT];
    size_t n_lines;
    double rate_hz; /* of the last plan */
    bool planned;
};

struct nsys_stream {
    double rate_hz;
    struct card *cards; /* owned */
    size_t n;
    size_t told[NOTES_MAX]; /* hashes of notes that were sent */
    size_t n_told;
    /* of the export that is read */
    const struct event_sink *sink;
    int card_of[IDS_MAX]; /* nsys's id -> index in cards */
    bool any_card, only_looking;
    int64_t beat_ns;
};

enum status nsys_stream_create(struct nsys_stream **out, const struct nvml_cards *cards,
                               double rate_hz, struct error *err)
{
    struct nsys_stream *s = calloc(1, sizeof *s);
    if (s)
        s->cards = calloc(cards->n ? cards->n : 1, sizeof *s->cards);
    if (!s || !s->cards) {
        free(s);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    s->rate_hz = rate_hz;
    s->n = cards->n;
    for (size_t i = 0; i < s->n; i++)
        s->cards[i].card = &cards->list[i];
    *out = s;
    return OK;
}

void nsys_stream_destroy(struct nsys_stream *s)
{
    if (s)
        free(s->cards);
    free(s);
}

/* ---- whose GPU it is ---- */

/* "0000:00:06.0", "00000000:00:06.0" */
static bool same_bus(const char *a, const char *b)
{
    unsigned x[4], y[4];
    return sscanf(a, "%x:%x:%x.%x", &x[0], &x[1], &x[2], &x[3]) == 4 &&
           sscanf(b, "%x:%x:%x.%x", &y[0], &y[1], &y[2], &y[3]) == 4 && memcmp(x, y, sizeof x) == 0;
}

static const char *bare_uuid(const char *uuid)
{
    return str_starts_with(uuid, "GPU-") ? uuid + 4 : uuid;
}

bool nsys_is_card(const struct nvml_card *card, const char *bus, const char *uuid)
{
    if (bus[0] && card->pci[0])
        return same_bus(bus, card->pci);
    return uuid[0] && strcasecmp(bare_uuid(uuid), bare_uuid(card->uuid)) == 0;
}

static enum status take_gpu(struct nsys_stream *s, const struct event_gpu *g, struct error *err)
{
    if (g->gpu >= IDS_MAX)
        return OK;
    for (size_t i = 0; i < s->n; i++)
        if (nsys_is_card(s->cards[i].card, g->pci_bus, g->uuid))
            s->card_of[g->gpu] = (int)i;
    int i = s->card_of[g->gpu];
    if (i == NOBODY)
        return OK;
    s->any_card = true;
    struct card *c = &s->cards[i];
    if (s->only_looking || c->named)
        return OK;
    c->named = true;
    struct event ev = {.kind = EVENT_GPU,
                       .u.gpu = {.gpu = c->card->index,
                                 .name = c->card->name,
                                 .uuid = c->card->uuid,
                                 .chip = g->chip,
                                 .pci_bus = c->card->pci}};
    return event_push(s->sink, &ev, err);
}

static struct card *card_of(struct nsys_stream *s, unsigned id)
{
    return id < IDS_MAX && s->card_of[id] != NOBODY ? &s->cards[s->card_of[id]] : NULL;
}

/* ---- plans ---- */

/* A doubt stays: a mean over several windows has the doubtful one in it. */
static void doubt(struct line *l, struct plan_series *p)
{
    if (p->state == VALUE_SUSPECT && !l->doubted) {
        l->doubted = true;
        snprintf(l->doubt, sizeof l->doubt, "%s", p->reason);
    } else if (p->state == VALUE_OK && l->doubted) {
        p->state = VALUE_SUSPECT;
        p->reason = l->doubt;
    }
}

static bool remember(struct line *l, const struct plan_series *p)
{
    bool same = l->state == p->state && strcmp(l->reason, p->reason) == 0;
    l->state = p->state;
    snprintf(l->reason, sizeof l->reason, "%s", p->reason);
    return !same;
}

static enum status take_plan(struct nsys_stream *s, const struct event_plan *plan,
                             struct error *err)
{
    struct plan_series list[METRIC_COUNT];
    struct card *c = card_of(s, plan->gpu);
    if (!c || plan->n > METRIC_COUNT)
        return OK;
    bool changed = !c->planned || c->n_lines != plan->n;
    struct event ev = {.kind = EVENT_PLAN, .u.plan = *plan};
    ev.u.plan.gpu = c->card->index;
    ev.u.plan.series = list;
    ev.u.plan.rate_hz = s->rate_hz;
    for (size_t i = 0; i < plan->n; i++) {
        list[i] = plan->series[i];
        doubt(&c->lines[i], &list[i]);
        changed |= remember(&c->lines[i], &list[i]);
    }
    c->n_lines = plan->n;
    c->planned = true;
    return changed ? event_push(s->sink, &ev, err) : OK;
}

enum status nsys_stream_tell(struct nsys_stream *s, enum value_state state, const char *reason,
                             const struct event_sink *sink, struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < s->n; i++) {
        struct card *c = &s->cards[i];
        struct plan_series list[METRIC_COUNT];
        struct event gpu = {
            .kind = EVENT_GPU,
            .u.gpu = {c->card->index, c->card->name, c->card->uuid, "", c->card->pci}};
        struct event plan = {.kind = EVENT_PLAN,
                             .u.plan = {.gpu = c->card->index,
                                        .source = SOURCE_NSYS,
                                        .rate_hz = s->rate_hz,
                                        .series = list}};
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metric_info *info = metric_info((enum metric)m);
            if (info->scope == SCOPE_GPU)
                list[plan.u.plan.n++] = (struct plan_series){.metric = m,
                                                             .name = info->key,
                                                             .unit = info->unit,
                                                             .state = state,
                                                             .reason = reason,
                                                             .counter = ""};
        }
        c->planned = false;
        st = event_push(sink, &gpu, err);
        if (!st)
            st = event_push(sink, &plan, err);
    }
    return st;
}

/* ---- samples and notes ---- */

/* Only what is in order has samples. */
static size_t sound_columns(const struct card *c, const struct event_samples *from,
                            uint32_t *series, double *values)
{
    size_t columns = 0;
    for (size_t i = 0; i < from->columns; i++) {
        uint32_t k = from->series[i];
        if (k >= c->n_lines ||
            (c->lines[k].state != VALUE_OK && c->lines[k].state != VALUE_SUSPECT))
            continue;
        memcpy(values + columns * from->n, from->values + i * from->stride,
               from->n * sizeof *values);
        series[columns++] = k;
    }
    return columns;
}

static enum status take_samples(struct nsys_stream *s, const struct event_samples *from,
                                struct error *err)
{
    struct card *c = card_of(s, from->gpu);
    size_t skip = 0;
    if (!c)
        return OK;
    if (from->n && from->t0_ns[0] < CLOCK_WALL_MIN_NS)
        return fail(err, ERR_UNSUPPORTED, 0,
                    "nsys's export does not say when its samples were taken");
    while (skip < from->n && from->t0_ns[skip] < c->last_ns)
        skip++;
    if (skip == from->n)
        return OK;
    uint32_t *series = calloc(from->columns + 1, sizeof *series);
    double *values = calloc(from->columns * from->n + 1, sizeof *values);
    struct event ev = {.kind = EVENT_SAMPLES, .u.samples = *from};
    struct event_samples *to = &ev.u.samples;
    enum status st = series && values ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st) {
        to->columns = sound_columns(c, from, series, values);
        to->gpu = c->card->index;
        to->series = series;
        to->stride = from->n;
        to->values = values + skip;
        to->t0_ns += skip;
        to->t1_ns += skip;
        to->n -= skip;
        c->last_ns = to->t1_ns[to->n - 1];
        st = event_push(s->sink, &ev, err);
    }
    free(series);
    free(values);
    return st;
}

/* What each window says anew is said once. */
static enum status take_note(struct nsys_stream *s, const struct event *ev, struct error *err)
{
    size_t hash = 5381;
    for (const char *p = ev->u.note.text; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    for (size_t i = 0; i < s->n_told; i++)
        if (s->told[i] == hash)
            return OK;
    if (s->n_told == NOTES_MAX)
        return OK;
    s->told[s->n_told++] = hash;
    struct event own = *ev;
    const struct card *c = ev->u.note.gpu >= 0 ? card_of(s, (unsigned)ev->u.note.gpu) : NULL;
    own.u.note.gpu = c ? (int)c->card->index : -1;
    return event_push(s->sink, &own, err);
}

static enum status beat(struct nsys_stream *s, struct error *err)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - s->beat_ns < BEAT_MS * INT64_C(1000000))
        return OK;
    s->beat_ns = now_ns;
    return event_push(s->sink, &(struct event){.kind = EVENT_BEAT}, err);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct nsys_stream *s = self;
    enum status st = beat(s, err);
    if (st || (s->only_looking && ev->kind != EVENT_GPU))
        return st;
    switch (ev->kind) {
    case EVENT_GPU:
        return take_gpu(s, &ev->u.gpu, err);
    case EVENT_PLAN:
        return take_plan(s, &ev->u.plan, err);
    case EVENT_SAMPLES:
        return take_samples(s, &ev->u.samples, err);
    case EVENT_NOTE:
        return take_note(s, ev, err);
    default:
        return OK;
    }
}

/* ---- an export ---- */

/* Read twice: the first time shows which series are in doubt, and the plan comes before samples. */
static enum status read_twice(struct nsys_stream *s, struct nsys_export *x, struct error *err)
{
    struct event_sink sink = {take, s};
    enum nsys_order order = NSYS_AS_STORED;
    s->only_looking = true;
    enum status st = nsys_export_describe(x, &sink, err);
    if (!st)
        st = nsys_export_read(x, order, &sink, err);
    if (st == ERR_ORDER) {
        order = NSYS_BY_TIME;
        st = nsys_export_describe(x, &sink, err);
        if (!st)
            st = nsys_export_read(x, order, &sink, err);
    }
    if (!st && !s->any_card)
        st = fail(err, ERR_UNSUPPORTED, 0,
                  "nsys sampled other GPUs than NVML shows: neither bus addresses nor UUIDs agree");
    s->only_looking = false;
    if (!st)
        st = nsys_export_describe(x, &sink, err);
    return st ? st : nsys_export_read(x, order, &sink, err);
}

enum status nsys_stream_send(struct nsys_stream *s, const char *sqlite,
                             const struct event_sink *sink, struct error *err)
{
    struct nsys_export *x = NULL;
    s->sink = sink;
    s->any_card = false;
    s->beat_ns = clock_monotonic_ns();
    for (size_t i = 0; i < IDS_MAX; i++)
        s->card_of[i] = NOBODY;
    enum status st = nsys_export_open(&x, sqlite, false, err);
    if (!st)
        st = read_twice(s, x, err);
    nsys_export_close(x);
    return st;
}
