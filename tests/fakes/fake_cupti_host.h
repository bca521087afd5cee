/* SPDX-License-Identifier: MIT */
/* Inside of the fake libcupti: what the host calls share. */
#ifndef FAKES_FAKE_CUPTI_HOST_H
#define FAKES_FAKE_CUPTI_HOST_H

#include "fake_cupti.h"

struct cupti_host_object {
    struct gpu *gpu;
    bool knows_availability;
    unsigned n;
    char names[METRICS][NAME_SIZE];
    const char *bases[SCRIPT_SETTINGS * 2]; /* for cuptiProfilerHostGetBaseMetrics */
};

/* As cupti_begin, and 15 when the two helper libraries cannot be found. */
CUptiResult host_begin(const char *function, const void *params, size_t size);

/* Whether CUPTI 13.0 knows the chip. */
bool host_knows_chip(const char *chip);

#endif
