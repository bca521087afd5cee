/* SPDX-License-Identifier: MIT */
/* The order of a fleet's list, for qsort and bsearch over struct fleet_gpu. */
#ifndef SMEFF_FLEET_ORDER_H
#define SMEFF_FLEET_ORDER_H

int fleet_order(const void *a, const void *b);

#endif
