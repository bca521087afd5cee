/* SPDX-License-Identifier: MIT */
/* The command line of a sampler, from what is asked for. */
#ifndef SMEFF_CMD_SAMPLER_ARGV_H
#define SMEFF_CMD_SAMPLER_ARGV_H

#include "cmd/request.h"
#include "cmd/start.h"

/* child.word is what samplers_add takes; valid as long as this and the request live. */
struct sampler_argv {
    struct child_argv child;
    char rate[32], speed[32], window[32];
};

/* gpus: the value of --gpu, "" = all; rate_hz 0 = the source's own. */
void sampler_argv_make(struct sampler_argv *a, const struct request *r, const char *source,
                       const char *gpus, double rate_hz);

#endif
