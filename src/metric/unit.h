/* SPDX-License-Identifier: MIT */
/* Units of the catalogue: SI base units and ratios 0..1. Only renderers scale, through here. */
#ifndef SMEFF_METRIC_UNIT_H
#define SMEFF_METRIC_UNIT_H

#include <stddef.h>

/* X(NAME, json name, Prometheus suffix) */
#define UNITS(X)                                                                                   \
    X(RATIO, "ratio", "ratio")                                                                     \
    X(BYTES, "bytes", "bytes")                                                                     \
    X(BYTES_PER_SECOND, "bytes_per_second", "bytes_per_second")                                    \
    X(HERTZ, "hertz", "hertz")                                                                     \
    X(WATTS, "watts", "watts")                                                                     \
    X(JOULES, "joules", "joules")                                                                  \
    X(CELSIUS, "celsius", "celsius")                                                               \
    X(SECONDS, "seconds", "seconds")                                                               \
    X(COUNT, "count", "")                                                                          \
    X(FLAGS, "flags", "")                                                                          \
    X(TOKENS_PER_SECOND, "tokens_per_second", "tokens_per_second")                                 \
    X(BYTES_PER_TOKEN, "bytes_per_token", "bytes_per_token")                                       \
    X(JOULES_PER_TOKEN, "joules_per_token", "joules_per_token")

enum unit {
#define X(name, json, prom) UNIT_##name,
    UNITS(X)
#undef X
        UNITS_END
};

const char *unit_name(enum unit unit);
const char *unit_prometheus_suffix(enum unit unit);

/* Writes v for people ("86.3 %", "3.97 TB/s", "1.80 GHz"), into dst; independent of the locale.
 * resolution is the step of the source in the same unit (0 = unknown or fine): no digit finer
 * than that is printed. Returns dst. */
const char *unit_format(char *dst, size_t size, enum unit unit, double v, double resolution);

/* "50 Hz", "12.5 Hz", "10000 Hz": samples a second, as people say them. Returns dst. */
const char *unit_rate(char *dst, size_t size, double hz);

#endif
