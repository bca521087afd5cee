/* SPDX-License-Identifier: MIT */
#include "event/book.h"

#include <stdlib.h>
#include <string.h>

static void plan_fini(struct book_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->series[i].name);
    free(p->series);
    p->series = NULL;
    p->n = 0;
}

void book_fini(struct book *b)
{
    for (size_t i = 0; i < b->n; i++)
        plan_fini(&b->plans[i]);
    free(b->plans);
    *b = (struct book){0};
}

static struct book_plan *find(const struct book *b, unsigned gpu, enum source_id source)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->plans[i].gpu == gpu && b->plans[i].source == source)
            return &b->plans[i];
    return NULL;
}

const struct book_plan *book_find(const struct book *b, unsigned gpu, enum source_id source)
{
    return find(b, gpu, source);
}

static enum status add(struct book *b, struct book_plan **out, struct error *err)
{
    struct book_plan *grown = realloc(b->plans, (b->n + 1) * sizeof *grown);
    if (!grown)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    b->plans = grown;
    *out = &grown[b->n++];
    **out = (struct book_plan){0};
    return OK;
}

enum status book_remember(struct book *b, const struct event_plan *plan, struct error *err)
{
    struct book_plan *p = find(b, plan->gpu, plan->source);
    enum status st = p ? OK : add(b, &p, err);
    if (st)
        return st;
    plan_fini(p);
    p->gpu = plan->gpu;
    p->source = plan->source;
    p->series = calloc(plan->n ? plan->n : 1, sizeof *p->series);
    if (!p->series)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (; p->n < plan->n; p->n++) {
        p->series[p->n].unit = plan->series[p->n].unit;
        p->series[p->n].name = strdup(plan->series[p->n].name);
        if (!p->series[p->n].name)
            return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    return OK;
}

long book_series_index(const struct book_plan *plan, const char *name, size_t hint)
{
    if (hint < plan->n && strcmp(plan->series[hint].name, name) == 0)
        return (long)hint;
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->series[i].name, name) == 0)
            return (long)i;
    return -1;
}
