/* SPDX-License-Identifier: MIT */
/* The GPUs of many hosts as a Prometheus server knows them: means over the last minutes, one row a
 * GPU. What smeff's exporter does not send is not known here either. */
#ifndef SMEFF_FLEET_FLEET_H
#define SMEFF_FLEET_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metric/metric.h"

enum { FLEET_GPUS_MAX = 100000 };

/* X(NAME, metric): shares of a peak, or of time. All but the first two are units that limit work.
 */
#define FLEET_SHARES(X)                                                                            \
    X(UTIL, GPU_UTIL)                                                                              \
    X(SM_ACTIVE, SM_ACTIVE)                                                                        \
    X(SM_ISSUE, SM_ISSUE)                                                                          \
    X(TENSOR, TENSOR_ACTIVE)                                                                       \
    X(FMA, FMA_ACTIVE)                                                                             \
    X(ALU, ALU_ACTIVE)                                                                             \
    X(FP64, FP64_ACTIVE)                                                                           \
    X(DRAM, DRAM_THROUGHPUT)                                                                       \
    X(DRAM_READ, DRAM_READ)                                                                        \
    X(DRAM_WRITE, DRAM_WRITE)                                                                      \
    X(PCIE_RX, PCIE_RX_THROUGHPUT)                                                                 \
    X(PCIE_TX, PCIE_TX_THROUGHPUT)                                                                 \
    X(NVLINK_RX, NVLINK_RX_THROUGHPUT)                                                             \
    X(NVLINK_TX, NVLINK_TX_THROUGHPUT)

enum fleet_share {
#define X(name, metric) FLEET_##name,
    FLEET_SHARES(X)
#undef X
        FLEET_SHARE_COUNT
};

enum metric fleet_metric(enum fleet_share share);

struct fleet_gpu {
    char instance[256], gpu[8], uuid[48]; /* who: together the key */
    char name[48];
    char verdict[24];                /* "" = none */
    char state[16], reason[120];     /* why SM active has no number; "" = it has, or nobody says */
    bool is_away;                    /* its exporter says that its daemon is away */
    bool is_scraped;                 /* the newest scrape of its host had it */
    double share[FLEET_SHARE_COUNT]; /* 0..1; NaN = not known */
    double power_w, mem_used;        /* NaN = not known */
};

struct fleet {
    struct fleet_gpu *list; /* owned; sorted by instance, then by number */
    size_t n;
};

void fleet_fini(struct fleet *f); /* accepts a zeroed one */

/* NULL when there is none. */
struct fleet_gpu *fleet_find(const struct fleet *f, const char *instance, const char *gpu,
                             const char *uuid);

/* A share of the list above; of DRAM reads plus writes where there is no total: both are shares of
 * the same peak, and neither alone is what the memory did. NaN = not known. */
double fleet_share_of(const struct fleet_gpu *g, enum fleet_share share);

/* The busiest of the units that limit work; -1 = it is not known: unless instruction issue, tensor
 * pipe and DRAM are all known, the unit that is not could have been the busiest (as in
 * deploy/prometheus/rules). */
int fleet_busiest(const struct fleet_gpu *g);

/* What GPU-Util claims above what the busiest unit did, 0..1 (at least 0); NaN when one of both is
 * not known. */
double fleet_waste(const struct fleet_gpu *g);

/* Sums over all GPUs of which both are known, in GPUs: 3.2 = as many as 3.2 GPUs at 100 %. */
struct fleet_sum {
    size_t hosts, gpus, known; /* known: those in the sums */
    double util, busiest, waste;
    double power_w; /* of those that tell */
};
void fleet_add_up(const struct fleet *f, struct fleet_sum *out);

#endif
