/* SPDX-License-Identifier: MIT */
#include "source/nsys/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Percent rows are whole numbers, and a trace of activity shows as 1 (measured on an H200 with
 * nsys 2025.3.1 beside PM sampling): nothing finer than this can be read from one sample. */
static const double percent_step = 0.01;

/* The longest sum of the catalogue: NVLink's four kinds of packets. */
enum { ADDENDS_MAX = 4 };

void nsys_gpu_fini(struct nsys_gpu *g)
{
    free(g->metrics);
    free(g->by_name);
    free(g->series);
    *g = (struct nsys_gpu){0};
}

/* By the catalogue: names without a unit (nsys up to 2023.2) tell nothing themselves. */
static enum nsys_meaning meaning_of_metric(const struct metric_info *info)
{
    return info->unit == UNIT_RATIO   ? MEANS_PERCENT
           : info->unit == UNIT_HERTZ ? MEANS_HERTZ
                                      : MEANS_COUNT;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), n_end = strlen(end);
    return n >= n_end && strcmp(s + n - n_end, end) == 0;
}

/* By the unit in brackets, for what the catalogue does not know. */
static enum nsys_meaning meaning_of_name(const char *name)
{
    return ends_with(name, "%]")      ? MEANS_PERCENT
           : ends_with(name, "[MHz]") ? MEANS_HERTZ
                                      : MEANS_COUNT;
}

/* Can values with this meaning be read? If not, fills reason. */
static bool usable(const struct nsys_file_metric *m, enum nsys_meaning means, char *reason,
                   size_t size)
{
    if (m->contradictory) {
        snprintf(reason, size,
                 "the file contradicts itself about \"%s\" (two names, ids or storage types)",
                 m->name);
        return false;
    }
    if (m->odd_storage) {
        snprintf(reason, size, "the file stores \"%s\" in a way that is not known", m->name);
        return false;
    }
    /* exports up to schema 3.7.2 declare no storage: only percents and clocks are known there */
    if (!m->has_storage && means == MEANS_COUNT) {
        snprintf(reason, size, "the file does not say how \"%s\" is stored", m->name);
        return false;
    }
    return true;
}

/* From here on m's values go to the series s, which has this index. */
static void bind(struct nsys_series *s, int index, struct nsys_file_metric *m,
                 enum nsys_meaning means, double scale)
{
    m->series = index;
    m->means = means;
    m->part = (uint8_t)(1U << s->addends);
    s->divisor = 1 / scale; /* 83 ÷ 100 is the double 0.83, 83 × 0.01 is not */
    s->addends++;
    size_t used = strlen(s->counter);
    snprintf(s->counter + used, sizeof s->counter - used, "%s%s", used ? " + " : "", m->name);
}

/* The metrics of a name and of what is added to it; 0 when one of them is not there. */
static size_t find_addends(struct nsys_gpu *g, const struct nsys_name *n,
                           struct nsys_file_metric *found[ADDENDS_MAX])
{
    size_t count = 0;
    found[count] = nsys_gpu_by_name(g, n->name);
    if (!found[count++])
        return 0;
    for (const char *const *plus = n->plus; plus && *plus && count < ADDENDS_MAX; plus++) {
        found[count] = nsys_gpu_by_name(g, *plus);
        if (!found[count++])
            return 0;
    }
    return count;
}

/* Tries one name of the catalogue. true = the file has it, and s is decided, for good or ill. */
static bool plan_name(struct nsys_gpu *g, struct nsys_series *s, int index,
                      const struct nsys_name *n)
{
    enum nsys_meaning means = meaning_of_metric(metric_info((enum metric)s->metric));
    struct nsys_file_metric *found[ADDENDS_MAX];
    size_t count = find_addends(g, n, found);
    for (size_t i = 0; i < count; i++)
        if (!usable(found[i], means, s->reason, sizeof s->reason)) {
            s->state = VALUE_FAILED;
            return true;
        }
    for (size_t i = 0; i < count; i++)
        bind(s, index, found[i], means, n->scale);
    if (count == 0)
        return false;
    if (s->metric == METRIC_GPC_CLOCK)
        g->clock = found[0];
    if (means == MEANS_PERCENT) /* each addend is rounded by itself */
        s->resolution = percent_step * (double)count;
    s->state = n->suspect ? VALUE_SUSPECT : VALUE_OK;
    snprintf(s->reason, sizeof s->reason, "%s", n->suspect ? n->suspect : "");
    return true;
}

/* Has nsys a share of the peak for a byte rate? Of pcie_rx that is pcie_rx_throughput, of
 * dram_read_bytes dram_read. */
static bool has_share(const struct metric_info *rate)
{
    if (rate->unit != UNIT_BYTES_PER_SECOND)
        return false;
    char key[64];
    snprintf(key, sizeof key, "%s_throughput", rate->key);
    if (ends_with(rate->key, "_bytes"))
        snprintf(key, sizeof key, "%.*s", (int)(strlen(rate->key) - strlen("_bytes")), rate->key);
    int m = metric_by_key(key);
    return m != METRIC_NONE && metric_info((enum metric)m)->nsys;
}

/* Why the file cannot have it, whatever was captured; false = it could. */
static bool never_there(const struct nsys_gpu *g, const struct metric_info *info,
                        enum nsys_names_from from, char *reason, size_t size)
{
    if (info->group == GROUP_DRIVER)
        snprintf(reason, size, "an nsys export holds no driver readings");
    else if (!info->nsys && has_share(info))
        snprintf(reason, size, "nsys gives only the share of the peak");
    else if (!info->nsys)
        snprintf(reason, size, "no known nsys metric set gives it");
    else if (from == NAMES_NONE)
        snprintf(reason, size, "the file has no metric names, and ids are not trusted");
    else if (g->n_metrics == 0)
        snprintf(reason, size, "the file names no metrics of this GPU");
    else
        return false;
    return true;
}

static void plan_metric(struct nsys_gpu *g, struct nsys_series *s, int index,
                        enum nsys_names_from from)
{
    const struct metric_info *info = metric_info((enum metric)s->metric);
    s->state = VALUE_UNSUPPORTED;
    if (never_there(g, info, from, s->reason, sizeof s->reason))
        return;
    for (const struct nsys_name *n = info->nsys; n->name; n++)
        if (plan_name(g, s, index, n))
            return;
    snprintf(s->reason, sizeof s->reason, "not in the metric set that was captured");
}

static void plan_extra(struct nsys_series *s, int index, struct nsys_file_metric *m)
{
    enum nsys_meaning means = meaning_of_name(m->name);
    s->metric = METRIC_NONE;
    s->unit = UNIT_COUNT; /* the name has the unit */
    snprintf(s->name, sizeof s->name, "%s", m->name);
    s->state = VALUE_FAILED;
    if (!usable(m, means, s->reason, sizeof s->reason))
        return;
    bind(s, index, m, means, means == MEANS_HERTZ ? 1e-6 : 1); /* the name says megahertz */
    s->state = VALUE_OK;
    s->resolution = means == MEANS_PERCENT ? 1 : 0;
}

enum status nsys_series_plan(struct nsys_gpu *g, enum nsys_names_from from, bool all,
                             struct error *err)
{
    struct nsys_series *list = calloc(METRIC_COUNT + (all ? g->n_metrics : 0), sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    size_t n = 0;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if (info->scope != SCOPE_GPU)
            continue;
        struct nsys_series *s = &list[n];
        s->metric = m;
        s->unit = info->unit;
        snprintf(s->name, sizeof s->name, "%s", info->key);
        plan_metric(g, s, (int)n, from);
        n++;
    }
    for (size_t i = 0; all && i < g->n_metrics; i++)
        if (g->metrics[i].series < 0) {
            plan_extra(&list[n], (int)n, &g->metrics[i]);
            n++;
        }
    g->series = list;
    g->n_series = n;
    return OK;
}
