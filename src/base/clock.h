/* SPDX-License-Identifier: MIT */
/* Times: nanoseconds in int64_t, monotonic for intervals, UNIX time for what people and files see.
 */
#ifndef SMEFF_BASE_CLOCK_H
#define SMEFF_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

enum { CLOCK_TEXT_SIZE = 40 };

/* Before this (2001-09-09) a wall-clock time is not known: a capture's own zero, or none. */
#define CLOCK_WALL_MIN_NS INT64_C(1000000000000000000)

int64_t clock_monotonic_ns(void);
int64_t clock_unix_ns(void);

/* "2026-11-30T06:12:30.123Z" with the given digits of the second (0 to 9); dst has
 * CLOCK_TEXT_SIZE bytes. Returns dst. */
const char *clock_iso8601(char dst[CLOCK_TEXT_SIZE], int64_t unix_ns, int digits);

#endif
