/* SPDX-License-Identifier: MIT */
/* Numbers as metric bodies write them, fast, whatever the locale. */
#ifndef SMEFF_LLM_NUMBER_H
#define SMEFF_LLM_NUMBER_H

#include "llm/slice.h"

/* One whole decimal number with an optional sign and exponent, or inf, infinity, nan in any case
 * and with any sign. Rounded as strtod rounds. False for everything else: blanks, hexadecimal
 * numbers, what is too large for a double. */
bool number_parse(struct slice text, double *out);

#endif
