/* SPDX-License-Identifier: MIT */
/* Numbers for people. Digits come from integers, so the locale's decimal point plays no part. */
#include "metric/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { PREFIXES_MAX = 6, DECIMALS_MAX = 2, ROUNDED_MAX = 9, DIGITS_SHOWN = 3 };

/* How a unit is written. Values below 1 of the first step keep that step. */
static const struct style {
    double scale;      /* catalogue value × scale = the plain step */
    double step;       /* between two names: 1000 or 1024 */
    int plain;         /* which name is the plain step */
    int max_decimals;  /* no more than this many, however small the number (<= DECIMALS_MAX) */
    int same_decimals; /* this many at every step but the first instead of three digits; or -1 */
    const char *names[PREFIXES_MAX]; /* smallest first */
} styles[] = {
    [UNIT_RATIO] = {100, 1000, 0, 2, -1, {"%"}},
    [UNIT_BYTES] = {1, 1024, 0, 1, 1, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}},
    [UNIT_BYTES_PER_SECOND] = {1, 1000, 0, 2, -1, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"}},
    [UNIT_HERTZ] = {1, 1000, 0, 2, -1, {"Hz", "kHz", "MHz", "GHz"}},
    [UNIT_WATTS] = {1, 1000, 0, 2, -1, {"W", "kW", "MW"}},
    [UNIT_JOULES] = {1, 1000, 0, 2, -1, {"J", "kJ", "MJ", "GJ", "TJ"}},
    [UNIT_CELSIUS] = {1, 1000, 0, 1, -1, {"°C"}},
    [UNIT_SECONDS] = {1, 1000, 3, 2, -1, {"ns", "µs", "ms", "s"}},
    [UNIT_COUNT] = {1, 1000, 0, 2, -1, {""}},
    [UNIT_TOKENS_PER_SECOND] = {1, 1000, 0, 2, -1, {"tokens/s"}},
    [UNIT_BYTES_PER_TOKEN] =
        {1, 1000, 0, 1, -1, {"B/token", "kB/token", "MB/token", "GB/token", "TB/token"}},
    [UNIT_JOULES_PER_TOKEN] = {1, 1000, 1, 1, -1, {"mJ/token", "J/token", "kJ/token"}},
};

static const char no_number[] = "–";

const char *unit_name(enum unit unit)
{
    static const char *const names[] = {
#define X(name, json, prom) json,
        UNITS(X)
#undef X
    };
    return (unsigned)unit < UNITS_END ? names[unit] : "?";
}

const char *unit_prometheus_suffix(enum unit unit)
{
    static const char *const suffixes[] = {
#define X(name, json, prom) prom,
        UNITS(X)
#undef X
    };
    return (unsigned)unit < UNITS_END ? suffixes[unit] : "";
}

static int exponent10(double positive)
{
    return (int)floor(log10(positive) + 1e-9); /* 1e-9: log10(0.01) may come out as -2.0000…1 */
}

/* Decimals that give DIGITS_SHOWN digits of magnitude, but none finer than resolution (> 0). Less
 * than 0: so many digits before the decimal point are below the resolution. */
static int decimals_for(const struct style *s, int step, double magnitude, double resolution)
{
    int decimals = s->max_decimals;
    if (s->same_decimals >= 0)
        decimals = step == 0 ? 0 : s->same_decimals;
    else if (magnitude >= 1) {
        int wanted = DIGITS_SHOWN - 1 - exponent10(magnitude);
        decimals = wanted < 0 ? 0 : wanted < decimals ? wanted : decimals;
    }
    if (resolution > 0) {
        int known = -exponent10(resolution);
        decimals = known < decimals ? known : decimals;
    }
    return decimals < -ROUNDED_MAX ? -ROUNDED_MAX : decimals;
}

static double round_to(double x, int decimals)
{
    double unit = pow(10, abs(decimals));
    return decimals >= 0 ? round(x * unit) / unit : round(x / unit) * unit;
}

static void print(char *dst, size_t size, bool negative, double magnitude, int decimals,
                  const char *name)
{
    const char *sign = negative && magnitude > 0 ? "-" : "";
    const char *space = *name ? " " : "";
    if (decimals < 0)
        decimals = 0;
    if (magnitude >= 1e12) { /* beyond the last prefix: no decimals, and too large for integers */
        snprintf(dst, size, "%s%.0f%s%s", sign, magnitude, space, name);
        return;
    }
    char fraction[1 + DECIMALS_MAX + 1] = ""; /* ".dd" */
    uint64_t n = (uint64_t)llround(magnitude * pow(10, decimals));
    for (int i = decimals; i > 0; i--, n /= 10)
        fraction[i] = (char)('0' + n % 10);
    fraction[0] = decimals > 0 ? '.' : '\0';
    snprintf(dst, size, "%s%" PRIu64 "%s%s%s", sign, n, fraction, space, name);
}

/* A bit mask is printed as such, whole and not negative, or not at all. */
static void print_flags(char *dst, size_t size, double v)
{
    if (v >= 0 && v < 9007199254740992.0 && v == floor(v)) /* 2^53: all integers below are exact */
        snprintf(dst, size, "0x%" PRIx64, (uint64_t)v);
    else
        snprintf(dst, size, "%s", no_number);
}

static void print_number(char *dst, size_t size, enum unit unit, double v, double resolution)
{
    const struct style *s = &styles[unit];
    bool negative = v < 0;
    double plain = fabs(v) * s->scale;
    if (plain == 0 || (unit == UNIT_COUNT && plain == floor(plain))) {
        print(dst, size, negative, plain, 0, s->names[s->plain]);
        return;
    }
    int last = 0;
    while (last + 1 < PREFIXES_MAX && s->names[last + 1])
        last++;
    int i = 0;
    while (i < last && plain / pow(s->step, i - s->plain) >= s->step)
        i++;
    for (;; i++) {
        double unit_of_step = pow(s->step, i - s->plain);
        double x = plain / unit_of_step, known = resolution * s->scale / unit_of_step;
        int decimals = decimals_for(s, i, x, known);
        double shown = round_to(x, decimals);
        if (shown >= s->step && i < last)
            continue;                                 /* 999.6 kB/s is 1.00 MB/s */
        int final = decimals_for(s, i, shown, known); /* 9.996 is 10.0, not 10.00 */
        print(dst, size, negative, shown, final < decimals ? final : decimals, s->names[i]);
        return;
    }
}

const char *unit_format(char *dst, size_t size, enum unit unit, double v, double resolution)
{
    if (size == 0)
        return dst;
    char text[400];                                     /* DBL_MAX has 309 digits */
    if (!isfinite(resolution * 1e12) || resolution < 0) /* what stays finite at every step */
        resolution = 0;
    if (!isfinite(v * 100) || (unsigned)unit >= UNITS_END)
        snprintf(text, sizeof text, "%s", no_number);
    else if (unit == UNIT_FLAGS)
        print_flags(text, sizeof text, v);
    else
        print_number(text, sizeof text, unit, v, resolution);
    str_clean(dst, size, text, strlen(text));
    return dst;
}

const char *unit_rate(char *dst, size_t size, double hz)
{
    if (hz >= 1000)
        snprintf(dst, size, "%.0f Hz", hz);
    else
        snprintf(dst, size, "%.4g Hz", hz);
    return dst;
}
