/* SPDX-License-Identifier: MIT */
#include "fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/order.h"

void fleet_fini(struct fleet *f)
{
    free(f->list);
    *f = (struct fleet){0};
}

enum metric fleet_metric(enum fleet_share share)
{
    static const enum metric metrics[] = {
#define X(name, metric) METRIC_##metric,
        FLEET_SHARES(X)
#undef X
    };
    return metrics[share];
}

/* Numbers by size, whatever their digits: gpu 10 after gpu 9. */
int fleet_order(const void *a, const void *b)
{
    const struct fleet_gpu *x = a, *y = b;
    int by = strcmp(x->instance, y->instance);
    if (by == 0)
        by = (strlen(x->gpu) > strlen(y->gpu)) - (strlen(x->gpu) < strlen(y->gpu));
    if (by == 0)
        by = strcmp(x->gpu, y->gpu);
    return by ? by : strcmp(x->uuid, y->uuid);
}

struct fleet_gpu *fleet_find(const struct fleet *f, const char *instance, const char *gpu,
                             const char *uuid)
{
    struct fleet_gpu key = {0};
    strncpy(key.instance, instance, sizeof key.instance - 1);
    strncpy(key.gpu, gpu, sizeof key.gpu - 1);
    strncpy(key.uuid, uuid, sizeof key.uuid - 1);
    return f->n ? bsearch(&key, f->list, f->n, sizeof *f->list, fleet_order) : NULL;
}

double fleet_share_of(const struct fleet_gpu *g, enum fleet_share share)
{
    double total = g->share[share];
    if (share != FLEET_DRAM || !isnan(total))
        return total;
    return g->share[FLEET_DRAM_READ] + g->share[FLEET_DRAM_WRITE]; /* NaN if one is */
}

int fleet_busiest(const struct fleet_gpu *g)
{
    static const enum fleet_share needed[] = {FLEET_SM_ISSUE, FLEET_TENSOR, FLEET_DRAM};
    int busiest = FLEET_SM_ISSUE;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (isnan(fleet_share_of(g, needed[i])))
            return -1;
    for (int i = FLEET_SM_ISSUE; i < FLEET_SHARE_COUNT; i++) {
        bool is_part = i == FLEET_DRAM_READ || i == FLEET_DRAM_WRITE;
        double v = fleet_share_of(g, (enum fleet_share)i);
        if (!is_part && !isnan(v) && v > fleet_share_of(g, (enum fleet_share)busiest))
            busiest = i;
    }
    return busiest;
}

double fleet_waste(const struct fleet_gpu *g)
{
    int busiest = fleet_busiest(g);
    if (busiest < 0 || isnan(g->share[FLEET_UTIL]))
        return NAN;
    return fmax(g->share[FLEET_UTIL] - fleet_share_of(g, (enum fleet_share)busiest), 0);
}

void fleet_add_up(const struct fleet *f, struct fleet_sum *out)
{
    *out = (struct fleet_sum){.gpus = f->n};
    for (size_t i = 0; i < f->n; i++) {
        const struct fleet_gpu *g = &f->list[i];
        double waste = fleet_waste(g);
        out->hosts += i == 0 || strcmp(g->instance, f->list[i - 1].instance) != 0;
        out->power_w += isnan(g->power_w) ? 0 : g->power_w;
        if (isnan(waste))
            continue;
        out->known++;
        out->util += g->share[FLEET_UTIL];
        out->busiest += fleet_share_of(g, (enum fleet_share)fleet_busiest(g));
        out->waste += waste;
    }
}
