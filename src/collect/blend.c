/* SPDX-License-Identifier: MIT */
#include "collect/blend.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "collect/rank.h"

/* ---- whose window ---- */

/* A feed that was lost, or fell silent, is passed over for one that speaks, however coarse. */
static int standing(const struct feed *f)
{
    bool has_samples = feed_window(f)->samples > 0;
    if (has_samples)
        return feed_speaks(f) ? 3 : 2;
    return feed_gives(f) ? 1 : 0;
}

/* Of the feeds of a GPU the one that tells its window; NULL = there is none. */
static const struct feed *find_lead(const struct feed *feeds, size_t n_feeds, unsigned gpu)
{
    const struct feed *lead = NULL;
    for (size_t i = 0; i < n_feeds; i++) {
        const struct feed *f = &feeds[i];
        if (f->gpu != gpu)
            continue;
        int more = lead ? standing(f) - standing(lead) : 1;
        if (more > 0 || (more == 0 && source_rank(f->source) > source_rank(lead->source)))
            lead = f;
    }
    return lead;
}

static void set_window(struct gpu_snapshot *g, const struct feed *f)
{
    const struct feed_window *w = feed_window(f);
    g->backend = f->source;
    g->rate_hz = f->rate_hz;
    g->samples = w->samples;
    g->t0_ns = w->t0_ns;
    g->t1_ns = w->t1_ns;
    g->gaps = w->gaps;
    g->longest_gap_s = (double)w->longest_gap_ns * 1e-9;
    g->coverage = feed_coverage(w);
}

/* ---- whose number ---- */

static int worth(const struct value *v)
{
    if (!value_has_number(v))
        return 0;
    return v->state == VALUE_STALE ? 1 : 2;
}

/* Of two sources for one metric: one with a number of now wins, then one with a number, then the
 * finer one. */
static bool is_better(const struct value *candidate, const struct value *have)
{
    if (worth(candidate) != worth(have) && have->source != SOURCE_NONE)
        return worth(candidate) > worth(have);
    return source_rank(candidate->source) > source_rank(have->source);
}

static void take_series(struct gpu_snapshot *g, const struct feed *f, const struct series *s)
{
    struct metric_stats stats;
    int past = snapshot_past_index(s->metric);
    feed_stats(f, s, g->t0_ns, g->t1_ns, &stats);
    if (!is_better(&stats.value, &g->metrics[s->metric].value))
        return;
    g->metrics[s->metric] = stats;
    if (past >= 0 && s->past)
        g->past[past] = *s->past;
}

static enum status take_feed(struct gpu_snapshot *g, const struct feed *f, struct error *err)
{
    size_t extras = 0;
    for (size_t i = 0; i < f->n_series; i++)
        extras += f->series[i].metric == METRIC_NONE;
    if (extras) {
        struct extra_stats *grown = realloc(g->extras, (g->n_extras + extras) * sizeof *grown);
        if (!grown)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        g->extras = grown;
    }
    for (size_t i = 0; i < f->n_series; i++) {
        const struct series *s = &f->series[i];
        if (s->metric != METRIC_NONE) {
            take_series(g, f, s);
            continue;
        }
        struct extra_stats *x = &g->extras[g->n_extras++];
        str_clean(x->name, sizeof x->name, s->name, strlen(s->name));
        feed_stats(f, s, g->t0_ns, g->t1_ns, &x->stats);
    }
    return OK;
}

enum status blend(const struct feed *feeds, size_t n_feeds, struct gpu_snapshot *g,
                  struct error *err)
{
    const struct feed *lead = find_lead(feeds, n_feeds, g->index);
    enum status st = OK;
    if (lead)
        set_window(g, lead);
    for (size_t i = 0; !st && i < n_feeds; i++)
        if (feeds[i].gpu == g->index)
            st = take_feed(g, &feeds[i], err);
    return st;
}
