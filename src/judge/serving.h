/* SPDX-License-Identifier: MIT */
/* GPUs and inference servers joined: which serves on which, what a token costs, and what a server
 * says about its GPU's verdict. Pure. */
#ifndef SMEFF_JUDGE_SERVING_H
#define SMEFF_JUDGE_SERVING_H

#include "judge/verdict.h"

enum serving {
    SERVING_NOT, /* or not known */
    SERVING_BY_PROCESS,
    SERVING_ALONE, /* one local server and one GPU: taken for granted, and said */
};

/* Both are numbers in the snapshot's lists. */
enum serving serving_of(const struct snapshot *s, size_t server, size_t gpu);

/* What the server's tokens are reckoned from: its newest window; but where windows roll and that
 * has only begun, the one before. */
struct server_rates serving_rates(const struct server_snapshot *x, bool rolls);

/* bytes_per_output_token, joules_per_output_token or measured_to_estimated of one server, over the
 * GPUs that serve it. The reason says why there is none; it never is 0 for want of tokens. */
void serving_derive(const struct snapshot *s, size_t server, enum metric m, struct value *out);

/* The same of the snapshot: that of its only server. */
void serving_derive_only(const struct snapshot *s, enum metric m, struct value *out);

/* The verdict of a GPU with what its servers add to it. */
void serving_verdict(const struct snapshot *s, size_t gpu, struct verdict *out);

#endif
