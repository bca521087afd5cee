/* SPDX-License-Identifier: MIT */
/* One known load (`smeff load`, as a process of its own) while the counters are sampled, and what
 * that proves of them. */
#ifndef SMEFF_CMD_TRIAL_H
#define SMEFF_CMD_TRIAL_H

#include "cmd/live.h"
#include "collect/snapshot.h"
#include "judge/proof.h"

enum { TRIAL_PROOFS_MAX = 64 };

/* What all trials share. */
struct trial_bench;

/* Starts sampling the one GPU that r asks for, and waits until counters come. ERR_…: as
 * live_counters. r must outlive the bench. */
enum status trial_bench_open(struct trial_bench **out, const struct request *r, unsigned gpu,
                             struct error *err);
void trial_bench_close(struct trial_bench *b); /* accepts NULL */

struct trial {
    struct proof proofs[TRIAL_PROOFS_MAX];
    size_t n;
    char *report; /* the load's own, one line of JSON; owned */
};

/* Runs a load and samples for so many seconds of its steady part. On success *out is to be released
 * by trial_fini. A load that cannot run here (no memory left, say) fails with what it said. */
enum status trial_run(struct trial_bench *b, const char *load, double seconds, struct trial *out,
                      struct error *err);
void trial_fini(struct trial *t); /* accepts a zeroed one */

/* What a snapshot has of a GPU. */
void trial_value(const struct snapshot *s, unsigned gpu, enum metric m, struct value *out);

/* Samples without a load. *gr_active is NaN when no source has it; the snapshot is to be released
 * by snapshot_destroy. */
enum status trial_watch(struct trial_bench *b, double seconds, double *gr_active,
                        struct snapshot **out, struct error *err);

#endif
