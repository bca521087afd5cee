/* SPDX-License-Identifier: MIT */
#include "collect/preamble.h"

#include <stdlib.h>
#include <string.h>

void preamble_fini(struct preamble *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->list[i].text);
    free(p->list);
    *p = (struct preamble){0};
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t hash(const char *s)
{
    uint32_t h = UINT32_C(2166136261);
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT32_C(16777619);
    return h;
}

bool preamble_key_of(const struct event *ev, struct preamble_key *out)
{
    *out = (struct preamble_key){.kind = ev->kind};
    switch (ev->kind) {
    case EVENT_HELLO:
        return true;
    case EVENT_GPU: /* each source names it, and knows other things of it */
        out->gpu = ev->u.gpu.gpu;
        out->name = hash(ev->u.gpu.name) ^ hash(ev->u.gpu.chip);
        return true;
    case EVENT_PLAN:
        out->gpu = ev->u.plan.gpu;
        out->source = ev->u.plan.source;
        return true;
    case EVENT_PROCESSES:
        out->gpu = ev->u.processes.gpu;
        return true;
    case EVENT_SERVER:
        out->name = hash(ev->u.server.url);
        out->ends = ev->u.server.is_gone;
        return true;
    default:
        return false;
    }
}

static bool same(const struct preamble_key *a, const struct preamble_key *b)
{
    return a->kind == b->kind && a->gpu == b->gpu && a->source == b->source && a->name == b->name;
}

static void take_out(struct preamble *p, size_t i)
{
    if (i == p->n)
        return;
    free(p->list[i].text);
    p->n--;
    memmove(&p->list[i], &p->list[i + 1], (p->n - i) * sizeof p->list[0]);
}

enum status preamble_take(struct preamble *p, const struct preamble_key *key, const char *text,
                          size_t len, struct error *err)
{
    size_t i = 0;
    while (i < p->n && !same(&p->list[i].key, key))
        i++;
    if (key->ends) {
        take_out(p, i);
        return OK;
    }
    if (i == p->n) {
        struct preamble_line *longer = realloc(p->list, (p->n + 1) * sizeof *longer);
        if (!longer)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        p->list = longer;
        p->list[p->n++] = (struct preamble_line){.key = *key};
    }
    char *copy = malloc(len ? len : 1);
    if (!copy)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    memcpy(copy, text, len);
    free(p->list[i].text);
    p->list[i].text = copy;
    p->list[i].len = len;
    return OK;
}

enum status preamble_copy(struct preamble *dst, const struct preamble *src, struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < src->n; i++)
        st = preamble_take(dst, &src->list[i].key, src->list[i].text, src->list[i].len, err);
    return st;
}

void preamble_print(const struct preamble *p, struct buf *out)
{
    static const enum event_kind order[] = {EVENT_HELLO, EVENT_GPU, EVENT_PLAN, EVENT_PROCESSES,
                                            EVENT_SERVER};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
        for (size_t i = 0; i < p->n; i++)
            if (p->list[i].key.kind == order[k])
                buf_add(out, p->list[i].text, p->list[i].len);
}
