/* SPDX-License-Identifier: MIT */
/* Numbers for charts: a screen has no more than five digits, and there are twenty thousand of them
 * in an answer. */
#ifndef SMEFF_HTTP_DIGITS_H
#define SMEFF_HTTP_DIGITS_H

#include "base/buf.h"

/* Appends v with five significant digits, as JSON; null for what is not finite. */
void digits_put(struct buf *out, double v);

#endif
