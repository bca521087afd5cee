/* SPDX-License-Identifier: MIT */
/* Numbers as text for files and programs: always with a '.', whatever the user's locale. */
#ifndef SMEFF_BASE_NUM_H
#define SMEFF_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUM_TEXT_SIZE = 32 };

/* The shortest of 15 to 17 significant digits that reads back as the same double; "nan", "inf"
 * and "-inf" for the others. Returns the length. */
size_t num_format(char dst[NUM_TEXT_SIZE], double v);

/* The same with at most the given number of significant digits (1 to 17). */
size_t num_format_digits(char dst[NUM_TEXT_SIZE], double v, int digits);

/* One whole decimal number, nothing before or behind it, finite. */
bool num_parse(const char *s, double *out);
bool num_parse_u64(const char *s, uint64_t *out);

#endif
