/* SPDX-License-Identifier: MIT */
/* A GPU's metric over a server's window. Pure.
 *
 * A measurement has one window of a GPU. A snapshot of the present has its newest second, and some
 * windows before: those that lie in the server's window are put together. */
#ifndef SMEFF_JUDGE_JOIN_H
#define SMEFF_JUDGE_JOIN_H

#include "collect/snapshot.h"

struct join {
    int64_t t0_ns, t1_ns; /* UNIX time of what was put together; equal = nothing */
    double coverage;      /* measured time ÷ that; NaN = not known */
    struct value value;   /* the mean; of energy watts. Not sound, and why, when a part is not */
};

/* m must be of those in enum past_metric; rates are those of the server. */
void join_metric(const struct snapshot *s, const struct server_rates *rates, size_t gpu,
                 enum metric m, struct join *out);

/* Are both about the same time? Only then rates may be divided by each other. */
bool join_fits(const struct join *j, const struct server_rates *rates);

#endif
