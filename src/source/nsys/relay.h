/* SPDX-License-Identifier: MIT */
/* Nsight Systems as a live source: one short capture after another, by two workers in turn. While
 * the counters are free between two captures nothing is measured, and the stream shows the gap. */
#ifndef SMEFF_SOURCE_NSYS_RELAY_H
#define SMEFF_SOURCE_NSYS_RELAY_H

#include "source/nsys/find.h"
#include "source/source.h"

/* For tests; zeroed = the system's own. */
struct nsys_relay_options {
    const char *library; /* NVML */
    const char *root;    /* in front of absolute paths; NULL = none */
};

/* As source_ops.open. */
enum status nsys_relay_open(struct source **out, const struct source_request *request,
                            const struct nsys_relay_options *options, struct error *err);

extern const struct source_ops nsys_ops;

#endif
