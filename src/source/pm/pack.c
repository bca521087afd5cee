/* SPDX-License-Identifier: MIT */
#include "source/pm/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host object of its own for each trial: metrics can be added to one, not taken away. */
struct trial {
    const struct cupti_api *cupti;
    struct cupti_host_object *host;
    uint8_t *config;
    size_t config_size, passes;
};

static void trial_fini(struct trial *t)
{
    if (t->host) {
        struct cupti_host_handle p = CUPTI_INIT(host_handle);
        p.pHostObject = t->host;
        t->cupti->cuptiProfilerHostDeinitialize(&p);
    }
    free(t->config);
    t->host = NULL;
    t->config = NULL;
}

static enum status trial_config(struct trial *t, struct error *err)
{
    struct cupti_host_config_size size = CUPTI_INIT(host_config_size);
    size.pHostObject = t->host;
    CUptiResult rc = t->cupti->cuptiProfilerHostGetConfigImageSize(&size);
    if (rc)
        return cupti_fail(err, "GetConfigImageSize", rc);
    t->config = malloc(size.configImageSize);
    if (!t->config)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    t->config_size = size.configImageSize;
    struct cupti_host_config image = CUPTI_INIT(host_config);
    image.pHostObject = t->host;
    image.configImageSize = t->config_size;
    image.pConfigImage = t->config;
    rc = t->cupti->cuptiProfilerHostGetConfigImage(&image);
    if (rc)
        return cupti_fail(err, "GetConfigImage", rc);
    struct cupti_host_passes passes = CUPTI_INIT(host_passes);
    passes.configImageSize = t->config_size;
    passes.pConfigImage = t->config;
    rc = t->cupti->cuptiProfilerHostGetNumOfPasses(&passes);
    if (rc)
        return cupti_fail(err, "GetNumOfPasses", rc);
    t->passes = passes.numOfPasses;
    return OK;
}

/* Builds the configuration of n expressions; on failure there is nothing to release. */
static enum status trial_build(struct trial *t, const struct cupti_api *cupti, const char *chip,
                               const uint8_t *availability, const char **names, size_t n,
                               struct error *err)
{
    *t = (struct trial){.cupti = cupti};
    struct cupti_host_initialize init = CUPTI_INIT(host_initialize);
    init.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    init.pChipName = chip;
    init.pCounterAvailabilityImage = availability;
    CUptiResult rc = cupti->cuptiProfilerHostInitialize(&init);
    if (rc)
        return cupti_fail(err, "ProfilerHostInitialize", rc);
    t->host = init.pHostObject;
    struct cupti_host_add_metrics add = CUPTI_INIT(host_add_metrics);
    add.pHostObject = t->host;
    add.ppMetricNames = names;
    add.numMetrics = n;
    rc = cupti->cuptiProfilerHostConfigAddMetrics(&add);
    enum status st = rc ? cupti_fail(err, "ConfigAddMetrics", rc) : trial_config(t, err);
    if (st)
        trial_fini(t);
    return st;
}

struct packing {
    const struct cupti_api *cupti;
    const char *chip;
    const uint8_t *availability;
    struct pm_pack *pack;
};

/* Does the set with one more expression still need one pass? Keeps the configuration if so. */
static bool fits(struct packing *g, const char *expression)
{
    struct pm_pack *p = g->pack;
    struct trial t;
    p->names[p->n_names] = expression;
    if (trial_build(&t, g->cupti, g->chip, g->availability, p->names, p->n_names + 1, NULL))
        return false;
    bool one_pass = t.passes == 1;
    if (one_pass) {
        free(p->config);
        p->config = t.config;
        p->config_size = t.config_size;
        t.config = NULL;
    }
    trial_fini(&t);
    return one_pass;
}

/* Alone: 0 = this GPU or chip does not have it, else its passes. */
static size_t passes_alone(struct packing *g, const char *expression)
{
    struct trial t;
    if (trial_build(&t, g->cupti, g->chip, g->availability, &expression, 1, NULL))
        return 0;
    size_t passes = t.passes;
    trial_fini(&t);
    return passes;
}

static void leave_out(struct pm_pick *pick, const char *reason)
{
    pick->state = VALUE_UNSUPPORTED;
    snprintf(pick->reason, sizeof pick->reason, "%s", reason);
}

/* Candidates in order of preference; the reason is that of the last one that was tried. */
static void add_metric(struct packing *g, size_t index)
{
    struct pm_pack *p = g->pack;
    struct pm_pick *pick = &p->picks[index];
    leave_out(pick, "this chip has no counter for it that can be read in one pass");
    for (const struct pm_candidate *c = metric_info(pick->metric)->pm; c->expression; c++) {
        if (!metric_chip_matches(c->chips, g->chip))
            continue;
        if (fits(g, c->expression)) {
            pick->candidate = c;
            pick->state = VALUE_OK;
            pick->reason[0] = '\0';
            p->pick_of[p->n_names++] = index;
            p->heavy |= c->cost == 'h';
            return;
        }
        size_t alone = passes_alone(g, c->expression);
        if (alone == 0)
            leave_out(pick, "this GPU does not have the counter");
        else if (alone > 1)
            leave_out(pick, "needs more than one pass on this chip");
        else
            leave_out(pick, "does not fit one pass together with the rest of the set");
    }
}

static bool requested(const struct source_request *r, enum metric m)
{
    for (size_t i = 0; i < r->n_extra; i++)
        if (r->extra[i] == m)
            return true;
    return false;
}

/* The cost class of the candidate that is tried first; '\0' when this chip has none. The costly
 * class 'h' (measured on an H200: each of them multiplies the sampler's CPU time) is taken only
 * when it is asked for by name. */
static char first_cost(const struct packing *g, enum metric m)
{
    for (const struct pm_candidate *c = metric_info(m)->pm; c->expression; c++)
        if (metric_chip_matches(c->chips, g->chip))
            return c->cost;
    return '\0';
}

static void add_all(struct packing *g, const struct source_request *r)
{
    struct pm_pack *p = g->pack;
    for (size_t i = 0; i < p->n_picks; i++)
        if (metric_info(p->picks[i].metric)->core)
            add_metric(g, i);
    for (size_t i = 0; i < p->n_picks; i++)
        if (!metric_info(p->picks[i].metric)->core && requested(r, p->picks[i].metric))
            add_metric(g, i);
    for (size_t i = 0; i < p->n_picks; i++) {
        struct pm_pick *pick = &p->picks[i];
        if (metric_info(pick->metric)->core || requested(r, pick->metric))
            continue;
        char cost = first_cost(g, pick->metric);
        if (cost == 'h')
            leave_out(pick, "costly: taken only when asked for (--metric)");
        else if (r->set == SET_WIDE || !cost) /* without a candidate it says that there is none */
            add_metric(g, i);
        else
            leave_out(pick, "not in the core set (--set wide, or --metric, adds it)");
    }
}

/* Do all counters of a sample come together? Known of GH100's core set alone (measured on an H200,
 * with counters of the cheap class added): with five pipe counters more the first sample of each
 * emptied image lacked them, with the costly class the newest sample, too. */
static bool is_even(const struct packing *g)
{
    const struct pm_pack *p = g->pack;
    for (size_t i = 0; i < p->n_picks; i++)
        if (p->picks[i].candidate && !metric_info(p->picks[i].metric)->core &&
            p->picks[i].candidate->cost != 'l')
            return false;
    return strcmp(g->chip, "GH100") == 0;
}

enum status pm_pack_build(const struct cupti_api *cupti, const char *chip,
                          const uint8_t *availability, const struct source_request *request,
                          struct pm_pack *out, struct error *err)
{
    *out = (struct pm_pack){0};
    for (int m = 0; m < METRIC_COUNT; m++)
        if (metric_info((enum metric)m)->pm)
            out->picks[out->n_picks++].metric = (enum metric)m;
    struct packing g = {cupti, chip, availability, out};
    struct trial t;
    add_all(&g, request);
    out->late = !is_even(&g);
    if (out->n_names)
        return OK;
    /* nothing fitted: ask once more with the plainest counter to learn why */
    const char *plain = "gr__cycles_active.avg.pct_of_peak_sustained_elapsed";
    enum status st = trial_build(&t, cupti, chip, availability, &plain, 1, err);
    if (!st) {
        trial_fini(&t);
        st = fail(err, ERR_UNSUPPORTED, 0, "no counter of chip %s can be sampled", chip);
    }
    pm_pack_fini(out);
    return st;
}

void pm_pack_fini(struct pm_pack *pack)
{
    free(pack->config);
    *pack = (struct pm_pack){0};
}
