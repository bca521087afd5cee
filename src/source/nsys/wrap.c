/* SPDX-License-Identifier: MIT */
#include "source/nsys/wrap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No current chip is faster; used where the file has no clock. */
static const double clock_max_hz = 2.5e9;

/* A mean over units cannot grow by more than 128 a cycle: the warp slots of a TPC, the bytes of a
 * port. A sum over all units can, by as many times as there are units. */
static const double per_cycle_max = 128, units_max = 256;

/* The sibling is rounded to a whole number: one of it is the tolerance, and 5 % for the clock,
 * which is a mean itself. A lost 2^32 is always more. */
static const double tolerance = 0.05;

struct nsys_wrap_check {
    struct nsys_file_metric *metric;
    int32_t count, sibling; /* columns; sibling -1 = none */
};

/* The name's unit with its bracket: " [Avg]"; "" when there is none. */
static const char *unit_of(const char *name)
{
    const char *unit = strrchr(name, '[');
    return unit && unit > name && unit[-1] == ' ' ? unit - 1 : "";
}

/* The largest value of its storage, 0 for anything that is no count of four bytes. */
static double limit_of(const struct nsys_file_metric *m)
{
    if (!m->has_storage || m->size != 4 || m->means != MEANS_COUNT)
        return 0;
    return m->type == FIELD_UNSIGNED ? 4294967295.0 : m->type == FIELD_SIGNED ? 2147483647.0 : 0;
}

static int32_t column_of(const struct nsys_file_metric *m, const int32_t *columns)
{
    return m && m->series >= 0 ? columns[m->series] : -1;
}

static int32_t sibling_of(struct nsys_gpu *g, const char *name, const int32_t *columns)
{
    char sibling[NSYS_NAME_SIZE];
    const char *unit = unit_of(name);
    if (strcmp(unit, " [Avg]") != 0)
        return -1;
    int n =
        snprintf(sibling, sizeof sibling, "%.*s [Avg Warps per Cycle]", (int)(unit - name), name);
    return n < (int)sizeof sibling ? column_of(nsys_gpu_by_name(g, sibling), columns) : -1;
}

enum status nsys_wrap_init(struct nsys_wrap *w, struct nsys_gpu *g, const int32_t *columns,
                           struct error *err)
{
    *w = (struct nsys_wrap){.clock = column_of(g->clock, columns)};
    w->list = calloc(g->n_metrics ? g->n_metrics : 1, sizeof *w->list);
    if (!w->list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < g->n_metrics; i++) {
        struct nsys_file_metric *m = &g->metrics[i];
        int32_t count = column_of(m, columns);
        if (count >= 0 && limit_of(m) > 0)
            w->list[w->n++] = (struct nsys_wrap_check){m, count, sibling_of(g, m->name, columns)};
    }
    return OK;
}

void nsys_wrap_fini(struct nsys_wrap *w)
{
    free(w->list);
    *w = (struct nsys_wrap){0};
}

void nsys_wrap_sample(struct nsys_wrap *w, double *values, size_t stride, int64_t length_ns)
{
    double clock = w->clock < 0 || length_ns <= 0 ? NAN : values[(size_t)w->clock * stride];
    double cycles = clock * (double)length_ns * 1e-9;
    for (size_t i = 0; i < w->n; i++) {
        struct nsys_wrap_check *c = &w->list[i];
        double *count = &values[(size_t)c->count * stride];
        double per_cycle = c->sibling < 0 ? NAN : values[(size_t)c->sibling * stride];
        double expected = per_cycle * cycles;
        if (isnan(*count))
            continue;
        if (isnan(expected)) {
            c->metric->unchecked++;
        } else if (fabs(*count - expected) > cycles + tolerance * expected) {
            *count = NAN;
            c->metric->taken--;
            c->metric->ran_over++;
        }
    }
}

bool nsys_wrap_possible(const struct nsys_gpu *g, const struct nsys_file_metric *m,
                        double nominal_ns)
{
    double limit = limit_of(m);
    if (limit == 0 || m->unchecked == 0)
        return false;
    double clock_hz = g->clock && g->clock->taken ? g->clock->max : clock_max_hz;
    double length_ns = g->longest_ns > 0 ? (double)g->longest_ns : nominal_ns;
    double per_cycle = per_cycle_max;
    if (strncmp(unit_of(m->name), " [Avg", strlen(" [Avg")) != 0)
        per_cycle *= units_max;
    return length_ns <= 0 || per_cycle * clock_hz * length_ns * 1e-9 > limit;
}
