/* SPDX-License-Identifier: MIT */
#include "collect/snapshot.h"

#include <stdlib.h>

void snapshot_destroy(struct snapshot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_gpus; i++) {
        free(s->gpus[i].extras);
        free(s->gpus[i].processes);
    }
    free(s->gpus);
    free(s->servers);
    free(s->notes);
    free(s);
}

int snapshot_past_index(int metric)
{
    static const int metrics[PAST_METRICS] = {
        [PAST_GR_ACTIVE] = METRIC_GR_ACTIVE,
        [PAST_DRAM_READ_BYTES] = METRIC_DRAM_READ_BYTES,
        [PAST_DRAM_WRITE_BYTES] = METRIC_DRAM_WRITE_BYTES,
        [PAST_ENERGY] = METRIC_ENERGY,
        [PAST_POWER] = METRIC_POWER,
    };
    for (int i = 0; i < PAST_METRICS; i++)
        if (metrics[i] == metric)
            return i;
    return -1;
}

double gpu_snapshot_window_s(const struct gpu_snapshot *g)
{
    return g->t1_ns > g->t0_ns ? (double)(g->t1_ns - g->t0_ns) * 1e-9 : 0;
}

double server_snapshot_window_s(const struct server_snapshot *s)
{
    return s->t1_ns > s->t0_ns ? (double)(s->t1_ns - s->t0_ns) * 1e-9 : 0;
}

struct server_rates server_snapshot_rates(const struct server_snapshot *s)
{
    return (struct server_rates){
        .t0_ns = s->t0_ns,
        .t1_ns = s->t1_ns,
        .tokens = server_snapshot_metric(s, METRIC_OUTPUT_TOKENS_PER_SECOND)->value,
        .tpot = server_snapshot_metric(s, METRIC_TPOT)->value,
        .estimated_bytes = server_snapshot_metric(s, METRIC_ESTIMATED_BYTES)->value};
}
