/* SPDX-License-Identifier: MIT */
#include "panel/verdicts.h"

#include <stdlib.h>

#include "judge/serving.h"

void verdicts_fini(struct verdicts *v)
{
    for (size_t i = 0; i < VERDICTS_GPUS_MAX; i++)
        free(v->gpu[i].kept);
    *v = (struct verdicts){0};
}

static struct verdict_entry *newest(struct verdict_past *p)
{
    return p->n ? &p->kept[(p->n - 1) % VERDICTS_KEPT] : NULL;
}

static void begin(struct verdict_past *p, int64_t from_ns, int64_t since_ns,
                  const struct verdict *verdict, bool first_look)
{
    p->kept[p->n++ % VERDICTS_KEPT] =
        (struct verdict_entry){from_ns, since_ns, first_look, *verdict};
}

/* The same verdict with newer numbers: in its place, unless somebody looks at that. */
static void renew(struct verdict_past *p, const struct gpu_snapshot *g,
                  const struct verdict *verdict, bool first_look, int64_t frozen_ns)
{
    struct verdict_entry *shown = newest(p);
    if (frozen_ns && shown->from_ns <= frozen_ns)
        begin(p, g->t1_ns > frozen_ns ? g->t1_ns : frozen_ns + 1, shown->since_ns, verdict,
              first_look);
    else
        *shown = (struct verdict_entry){shown->from_ns, shown->since_ns, first_look, *verdict};
}

static void take(struct verdict_past *p, const struct gpu_snapshot *g,
                 const struct verdict *verdict, bool first_look, int64_t frozen_ns)
{
    const struct verdict_entry *shown = newest(p);
    if (!shown) {
        begin(p, g->t0_ns, g->t0_ns, verdict, first_look);
    } else if (shown->verdict.kind == verdict->kind || shown->is_first_look) {
        renew(p, g, verdict, first_look, frozen_ns);
    } else if (p->candidate == verdict->kind && p->candidate_ns) {
        begin(p, p->candidate_ns, p->candidate_ns, verdict, first_look);
    } else {
        p->candidate = verdict->kind;
        p->candidate_ns = g->t0_ns;
        return;
    }
    p->candidate_ns = 0;
}

void verdicts_take(struct verdicts *v, const struct snapshot *s, bool first_look)
{
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct gpu_snapshot *g = &s->gpus[i];
        struct verdict verdict;
        /* the driver's readings come first, and are no ground for a verdict */
        bool counted = g->backend != SOURCE_NONE && g->backend != SOURCE_NVML;
        if (g->index >= VERDICTS_GPUS_MAX || g->samples == 0 || !counted)
            continue;
        struct verdict_past *p = &v->gpu[g->index];
        if (!p->kept)
            p->kept = calloc(VERDICTS_KEPT, sizeof *p->kept);
        const struct verdict_entry *shown = newest(p);
        if (!p->kept || g->t1_ns == p->seen_ns || (first_look && shown && !shown->is_first_look))
            continue;
        p->seen_ns = g->t1_ns;
        serving_verdict(s, i, &verdict);
        take(p, g, &verdict, first_look, v->frozen_ns);
    }
}

const struct verdict_entry *verdicts_at(const struct verdicts *v, unsigned gpu, int64_t t_ns,
                                        int64_t *until_ns)
{
    if (gpu >= VERDICTS_GPUS_MAX)
        return NULL;
    const struct verdict_past *p = &v->gpu[gpu];
    const struct verdict_entry *after = NULL;
    int64_t until = 0;
    for (size_t back = 1; back <= p->n && back <= VERDICTS_KEPT; back++) {
        const struct verdict_entry *e = &p->kept[(p->n - back) % VERDICTS_KEPT];
        if (after && after->since_ns != e->since_ns) /* newer numbers are no end of a verdict */
            until = after->from_ns;
        if (e->from_ns <= t_ns) {
            if (until_ns)
                *until_ns = until;
            return e;
        }
        after = e;
    }
    return NULL;
}
