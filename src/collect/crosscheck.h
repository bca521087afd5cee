/* SPDX-License-Identifier: MIT */
/* Two sources for one quantity, at the same time: PM sampling against GPM. They read different
 * units of the chip; on an H200 they agreed within a point on every load. Where they disagree for
 * seconds, neither is believed. */
#ifndef SMEFF_COLLECT_CROSSCHECK_H
#define SMEFF_COLLECT_CROSSCHECK_H

#include <stdbool.h>

#include "event/event.h"

/* X(metric of GPM, its parts in PM sampling): DRAM use is reads plus writes. */
#define CROSSCHECKS(X)                                                                             \
    X(GR_ACTIVE, GR_ACTIVE, GR_ACTIVE)                                                             \
    X(SM_ACTIVE, SM_ACTIVE, SM_ACTIVE)                                                             \
    X(OCCUPANCY, OCCUPANCY, OCCUPANCY)                                                             \
    X(TENSOR_ACTIVE, TENSOR_ACTIVE, TENSOR_ACTIVE)                                                 \
    X(DRAM_THROUGHPUT, DRAM_READ, DRAM_WRITE)

enum {
#define X(gpm, a, b) CROSSCHECK_##gpm,
    CROSSCHECKS(X)
#undef X
        CROSSCHECK_COUNT,
    CROSSCHECK_MARKS = 256
};

/* Integrals over time up to a moment, so that a mean between two moments is a difference. */
struct crosscheck_mark {
    int64_t t_ns;
    double seconds, integral[CROSSCHECK_COUNT]; /* NaN = a part was missing */
};

struct crosscheck {
    struct crosscheck_mark now;                     /* of PM sampling */
    struct crosscheck_mark marks[CROSSCHECK_MARKS]; /* ring: one a batch */
    size_t n_marks;
    int64_t gpm_t0_ns, gpm_t1_ns; /* what GPM covers without a break; t1 0 = nothing yet */
    double gpm_seconds, gpm_integral[CROSSCHECK_COUNT];
    struct crosscheck_mark begin; /* PM's integrals at gpm_t0_ns */
    bool has_begin;
};

/* A batch of either source; metric_of[c] is the catalogue metric of its column c. */
void crosscheck_pm(struct crosscheck *c, const struct event_samples *batch, const int *metric_of);
void crosscheck_gpm(struct crosscheck *c, const struct event_samples *batch, const int *metric_of);

/* Do the two disagree about metric m (of either source)? *pm and *gpm are the means over the same
 * *seconds. The tolerance is 3 points, and more for short spans, whose edges are not the same. */
bool crosscheck_disagrees(const struct crosscheck *c, enum metric m, double *pm, double *gpm,
                          double *seconds);

#endif
