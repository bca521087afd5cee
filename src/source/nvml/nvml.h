/* SPDX-License-Identifier: MIT */
/* The driver's own readings (NVML): for every NVIDIA GPU and every user, without hardware counters.
 * Covers the catalogue's driver group, and tells who uses the GPUs. */
#ifndef SMEFF_SOURCE_NVML_H
#define SMEFF_SOURCE_NVML_H

#include "source/source.h"

extern const struct source_ops nvml_ops;

/* For tests; zeroed = as nvml_ops does. Strings must live as long as the source. */
struct nvml_options {
    const char *library; /* path of NVML */
    const char *root;    /* folder that has sys/ and dev/ */
    int64_t early_ns;    /* how long to read costly things each time; 0 = default */
    int64_t slow_ns;     /* how often to read what changes slowly, and the processes */
};

enum status nvml_open(struct source **out, const struct source_request *request,
                      const struct nvml_options *options, struct error *err);

#endif
