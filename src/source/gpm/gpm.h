/* SPDX-License-Identifier: MIT */
/* Hardware counters through NVML's GPM: data-centre GPUs from Hopper on, GeForce and RTX from
 * Blackwell on. At most 8 times a second, beside any profiler. */
#ifndef SMEFF_SOURCE_GPM_H
#define SMEFF_SOURCE_GPM_H

#include "source/source.h"

extern const struct source_ops gpm_ops;

/* For tests; zeroed = as gpm_ops does. Strings must live as long as the source. */
struct gpm_options {
    const char *library; /* path of NVML */
    const char *root;    /* folder that has sys/ and dev/ */
};

enum status gpm_open(struct source **out, const struct source_request *request,
                     const struct gpm_options *options, struct error *err);

#endif
