/* SPDX-License-Identifier: MIT */
/* A value of a script as a function of time, so that a test can compute what it must read. */
#ifndef FAKES_WAVE_H
#define FAKES_WAVE_H

#include <stdbool.h>
#include <stdint.h>

enum wave_kind { WAVE_NONE, WAVE_CONST, WAVE_SQUARE, WAVE_RAMP, WAVE_COUNTER, WAVE_ERROR };

struct wave {
    enum wave_kind kind;
    double a, b;       /* low, high; from, to; start, per second */
    int64_t period_ns; /* phase 0 = the UNIX epoch */
    double duty;       /* share of the period that is high; the period begins high */
    int code;          /* of WAVE_ERROR */
};

/* A counter counts from here (2026-01-01), so that its numbers stay small. */
#define WAVE_COUNTER_ZERO_NS INT64_C(1767225600000000000)

/* "12.5", "nan", "square LOW HIGH PERIOD_S [DUTY]", "ramp FROM TO PERIOD_S",
 * "counter START PER_SECOND", "error CODE". False, and kind WAVE_NONE, for any other text. */
bool wave_parse(struct wave *w, const char *text);

/* The value at a time, and the mean between two times t0 < t1; times are UNIX nanoseconds. */
double wave_at(const struct wave *w, int64_t t_ns);
double wave_mean(const struct wave *w, int64_t t0_ns, int64_t t1_ns);

#endif
