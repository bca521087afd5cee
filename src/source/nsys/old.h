/* SPDX-License-Identifier: MIT */
/* The form of nsys 2021 and 2022 (schema 2.x and 3.0): one JSON object a sample in GENERIC_EVENTS.
 * It is not read, but a user should be told so. */
#ifndef SMEFF_SOURCE_NSYS_OLD_H
#define SMEFF_SOURCE_NSYS_OLD_H

#include "source/nsys/meta.h"

/* Does a file without GPU_METRICS keep its GPU metrics in that form? GENERIC_EVENTS alone says
 * nothing: other collectors write there to this day. */
bool nsys_is_old_form(struct nsys_db *db, const struct nsys_meta *meta);

#endif
