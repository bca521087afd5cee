/* SPDX-License-Identifier: MIT */
/* What a self-test found wrong is remembered, for this GPU and this driver, and shown as suspect
 * by the other commands until a self-test passes. One file a GPU in the state folder: root's is
 * /var/lib/smeff and holds for everybody; a user's own comes before it. SMEFF_STATE names another.
 */
#ifndef SMEFF_CMD_DOUBTS_H
#define SMEFF_CMD_DOUBTS_H

#include "base/error.h"
#include "event/event.h"
#include "judge/proof.h"

struct doubt {
    enum source_id source;
    enum metric metric;
    char load[32]; /* during which it was wrong */
    char reason[VALUE_REASON_SIZE];
};

/* One GPU's. */
struct doubts {
    struct doubt list[2 * METRIC_COUNT];
    size_t n;
};

/* Those of the GPU with this UUID; none when there is no file, or it is another driver's, or it
 * cannot be understood, or the driver's version is not known. */
void doubts_load(struct doubts *d, const char *uuid);

/* Brings d up to date with these proofs: adds what failed (the first reason of a source and metric
 * stays), and takes back what did not fail this time, during the same load. What was not read is no
 * proof of anything, so that doubt stays. */
void doubts_update(struct doubts *d, const struct proof *list, size_t n);

/* Replaces what is remembered of this GPU. */
enum status doubts_save(const struct doubts *d, const char *uuid, struct error *err);

/* Marks the doubtful series of a plan; series has room for METRIC_COUNT, and is what the returned
 * plan uses. Where nothing is in doubt it is the plan itself. */
struct event_plan doubts_apply(const struct doubts *d, const struct event_plan *plan,
                               struct plan_series *series);

#endif
