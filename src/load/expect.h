/* SPDX-License-Identifier: MIT */
/* From what a load did to what the counters must have read. Pure. */
#ifndef SMEFF_LOAD_EXPECT_H
#define SMEFF_LOAD_EXPECT_H

#include "load/load.h"

/* Fills r->expectations from the rest of *r. None when the load had no steady part. */
void load_expect(struct load_report *r);

#endif
