/* SPDX-License-Identifier: MIT */
/* The metric throttle in words, for renderers: they know no vendor library. */
#ifndef SMEFF_METRIC_THROTTLE_H
#define SMEFF_METRIC_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

enum {
    THROTTLE_TEXT_SIZE = 200, /* holds all reasons at once */
    THROTTLE_REASONS = 9,     /* bits that have a name */
};

/* Writes what holds the clocks down ("power limit, heat (driver)"), "none" for 0, a bit that is
 * not known as "0x200". A text that does not fit ends with the last whole reason. Returns dst,
 * which has at least one byte. bits: of NVML's nvmlDeviceGetCurrentClocksEventReasons. */
const char *throttle_words(uint64_t bits, char *dst, size_t size);

/* The reason of bit 0 to THROTTLE_REASONS - 1 as a word for programs ("heat_driver"). */
const char *throttle_key(size_t bit);

#endif
