/* SPDX-License-Identifier: MIT */
/* Versions of Nsight Systems' command line. */
#ifndef SMEFF_SOURCE_NSYS_VERSION_H
#define SMEFF_SOURCE_NSYS_VERSION_H

#include <stdbool.h>

struct nsys_version {
    unsigned year, minor, patch; /* 2025.3.1 */
    char text[32];               /* the same as text; "" = not known */
};

/* From what `nsys --version` prints: "NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0". */
bool nsys_version_parse(const char *text, struct nsys_version *out);

/* Below, at, or above 0 as a is older than, the same as, or newer than b. */
int nsys_version_compare(const struct nsys_version *a, const struct nsys_version *b);

/* Has it, in its exports, the table of GPU metrics that is read here? From 2023.4 on. */
bool nsys_version_usable(const struct nsys_version *v);

#endif
