/* SPDX-License-Identifier: MIT */
/* A machine that is made up: GPUs that play recorded loads, and inference servers on them. What it
 * sends is what a daemon's stream has; everything behind that is ours: collector, totals, judge. */
#ifndef SMEFF_TESTS_FLEET_MACHINE_H
#define SMEFF_TESTS_FLEET_MACHINE_H

#include "collect/collect.h"
#include "collect/totals.h"
#include "loads.h"

enum { MACHINE_GPUS_MAX = 8, MACHINE_SERVERS = 2 };

struct machine {
    unsigned number, n_gpus;
    char host[32];
    const struct load *of_gpu[MACHINE_GPUS_MAX];
    double energy_j[MACHINE_GPUS_MAX];
    struct collector *collector;
    struct totals *totals;
    int64_t last_ns;       /* UNIX time up to which samples were sent */
    int64_t window_ns;     /* where the servers' window began */
    unsigned seconds;      /* sent so far */
    bool may_not, is_deaf; /* no permission for counters; its stream is down */
};

enum status machine_open(struct machine *m, unsigned number, unsigned n_gpus,
                         const struct load *loads, struct error *err);
void machine_close(struct machine *m);

/* Sends what happened since the last call: about a second. */
enum status machine_tick(struct machine *m, struct error *err);

#endif
