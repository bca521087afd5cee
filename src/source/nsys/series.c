/* SPDX-License-Identifier: MIT */
#include "source/nsys/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Percent rows are whole numbers, and a trace of activity shows as 1 (measured on an H200 with
 * nsys 2025.3.1 beside PM sampling): nothing finer than this can be read from one sample. */
static const double percent_step = 0.01;

/* The longest sum of the catalogue: NVLink's four kinds of packets. */
enum { NSYS_PARTS_MAX = 4 };

void nsys_gpu_fini(struct nsys_gpu *g)
{
    free(g->raw);
    free(g->series);
    *g = (struct nsys_gpu){0};
}

static struct nsys_raw *find_name(struct nsys_gpu *g, const char *name)
{
    for (size_t i = 0; i < g->n_raw; i++)
        if (strcmp(g->raw[i].name, name) == 0)
            return &g->raw[i];
    return NULL;
}

/* Says in reason why the row cannot be used, or returns true. */
static bool usable(const struct nsys_raw *r, char *reason, size_t size)
{
    if (r->ambiguous) {
        snprintf(reason, size,
                 "the file contradicts itself about \"%s\" (two names, ids or storage types)",
                 r->name);
        return false;
    }
    /* exports up to schema 3.7.2 declare no storage: only percents and clocks are known there */
    if (!r->has_field && !r->percent && !r->clock) {
        snprintf(reason, size, "the file does not say how \"%s\" is stored", r->name);
        return false;
    }
    return true;
}

static void add_part(struct nsys_series *s, int index, struct nsys_raw *r, double scale)
{
    r->target = index;
    r->divisor = 1 / scale; /* 83 ÷ 100 is the double 0.83, 83 × 0.01 is not */
    s->parts++;
    size_t used = strlen(s->counter);
    snprintf(s->counter + used, sizeof s->counter - used, "%s%s", used ? " + " : "", r->name);
    if (r->percent)
        s->resolution += percent_step; /* each part is rounded by itself */
}

static void no_data(struct nsys_series *s, enum value_state state)
{
    s->state = state;
    s->parts = 0;
}

/* All rows of a name and what is added to it; 0 when one of them is not there. */
static size_t find_rows(struct nsys_gpu *g, const struct nsys_name *n,
                        struct nsys_raw *rows[NSYS_PARTS_MAX])
{
    size_t count = 0;
    rows[count] = find_name(g, n->name);
    if (!rows[count++])
        return 0;
    for (const char *const *plus = n->plus; plus && *plus && count < NSYS_PARTS_MAX; plus++) {
        rows[count] = find_name(g, *plus);
        if (!rows[count++])
            return 0;
    }
    return count;
}

static void plan_metric(struct nsys_gpu *g, struct nsys_series *s, int index,
                        enum nsys_names_from from)
{
    const struct metric_info *info = metric_info((enum metric)s->metric);
    no_data(s, VALUE_UNSUPPORTED);
    if (info->group == GROUP_DRIVER) {
        snprintf(s->reason, sizeof s->reason, "an nsys export holds no driver readings");
        return;
    }
    if (!info->nsys) {
        snprintf(s->reason, sizeof s->reason, "no known nsys metric set gives it");
        return;
    }
    if (from == NAMES_NONE) {
        snprintf(s->reason, sizeof s->reason,
                 "the file has no metric names, and ids are not trusted");
        return;
    }
    for (const struct nsys_name *n = info->nsys; n->name; n++) {
        struct nsys_raw *rows[NSYS_PARTS_MAX];
        size_t count = find_rows(g, n, rows);
        for (size_t i = 0; i < count; i++) {
            /* names without a unit (nsys up to 2023.2) are known by the catalogue alone */
            rows[i]->percent = info->unit == UNIT_RATIO;
            rows[i]->clock = info->unit == UNIT_HERTZ;
            if (!usable(rows[i], s->reason, sizeof s->reason)) {
                s->state = VALUE_FAILED;
                return;
            }
        }
        for (size_t i = 0; i < count; i++)
            add_part(s, index, rows[i], n->scale);
        if (count) {
            s->state = n->suspect ? VALUE_SUSPECT : VALUE_OK;
            snprintf(s->reason, sizeof s->reason, "%s", n->suspect ? n->suspect : "");
            return;
        }
    }
    snprintf(s->reason, sizeof s->reason, "not in the metric set that was captured");
}

static void plan_extra(struct nsys_series *s, int index, struct nsys_raw *r)
{
    s->metric = METRIC_NONE;
    s->unit = UNIT_COUNT; /* the name has the unit */
    snprintf(s->name, sizeof s->name, "%s", r->name);
    if (!usable(r, s->reason, sizeof s->reason)) {
        no_data(s, VALUE_FAILED);
        return;
    }
    s->state = VALUE_OK;
    add_part(s, index, r, 1);
    s->resolution = r->percent ? 1 : 0;
}

enum status nsys_series_plan(struct nsys_gpu *g, enum nsys_names_from from, bool all,
                             struct error *err)
{
    struct nsys_series *list = calloc(METRIC_COUNT + (all ? g->n_raw : 0), sizeof *list);
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
    for (size_t i = 0; all && i < g->n_raw; i++)
        if (g->raw[i].target < 0) {
            plan_extra(&list[n], (int)n, &g->raw[i]);
            n++;
        }
    g->series = list;
    g->n_series = n;
    return OK;
}
