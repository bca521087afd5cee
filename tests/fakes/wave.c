/* SPDX-License-Identifier: MIT */
#include "wave.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A decimal number, whatever the locale of the program that plays the fake. */
static bool to_number(const char *s, double *out)
{
    char sign = 0, rest = 0;
    long long whole = 0, part = 0;
    int start = 0, end = 0, exponent = 0;
    if (*s == '-')
        sign = *s++;
    if (sscanf(s, "%18lld%n", &whole, &start) != 1 || *s == '-' || *s == '+')
        return false;
    s += start;
    if (*s == '.' && sscanf(s + 1, "%15lld%n", &part, &end) == 1 && part >= 0)
        s += 1 + end;
    if (*s == 'e' && (sscanf(s + 1, "%3d%c", &exponent, &rest) != 1))
        return false;
    if (*s != '\0' && *s != 'e')
        return false;
    double x = ((double)whole * pow(10, end) + (double)part) / pow(10, end);
    x = exponent < 0 ? x / pow(10, -exponent) : x * pow(10, exponent);
    *out = sign ? -x : x;
    return true;
}

/* Splits text at blanks into at most 5 words; returns how many. */
static int split(const char *text, char words[5][32])
{
    return sscanf(text, "%31s %31s %31s %31s %31s", words[0], words[1], words[2], words[3],
                  words[4]);
}

bool wave_parse(struct wave *w, const char *text)
{
    *w = (struct wave){.kind = WAVE_NONE, .duty = 0.5};
    char words[5][32];
    int n = split(text, words);
    if (n == 1 && strcmp(words[0], "nan") == 0) {
        w->kind = WAVE_CONST;
        w->a = NAN;
        return true;
    }
    double x[4] = {0};
    int first = n == 1 ? 0 : 1;
    for (int i = first; i < n; i++)
        if (!to_number(words[i], &x[i - first]))
            return false;
    enum wave_kind kind = WAVE_NONE;
    if (n == 1)
        kind = WAVE_CONST;
    else if (n >= 4 && strcmp(words[0], "square") == 0)
        kind = WAVE_SQUARE;
    else if (n == 4 && strcmp(words[0], "ramp") == 0)
        kind = WAVE_RAMP;
    else if (n == 3 && strcmp(words[0], "counter") == 0)
        kind = WAVE_COUNTER;
    else if (n == 2 && strcmp(words[0], "error") == 0)
        kind = WAVE_ERROR;
    w->a = x[0];
    w->b = x[1];
    w->period_ns = (int64_t)(x[2] * 1e9);
    if (n == 5)
        w->duty = x[3];
    if ((kind == WAVE_SQUARE || kind == WAVE_RAMP) && w->period_ns <= 0)
        return false;
    if (kind == WAVE_ERROR)
        w->code = (int)x[0];
    w->kind = kind;
    return kind != WAVE_NONE;
}

double wave_at(const struct wave *w, int64_t t_ns)
{
    double phase = w->period_ns > 0 ? (double)(t_ns % w->period_ns) / (double)w->period_ns : 0;
    switch (w->kind) {
    case WAVE_CONST:
        return w->a;
    case WAVE_SQUARE:
        return phase < w->duty ? w->b : w->a;
    case WAVE_RAMP:
        return w->a + (w->b - w->a) * phase;
    case WAVE_COUNTER:
        return w->a + w->b * (double)(t_ns - WAVE_COUNTER_ZERO_NS) * 1e-9;
    default:
        return NAN;
    }
}

/* The integral of the wave's shape (0..1) from the epoch's phase 0 to t, in periods since base. */
static double shape_integral(const struct wave *w, int64_t t_ns, int64_t base)
{
    double whole = (double)(t_ns / w->period_ns - base);
    double phase = (double)(t_ns % w->period_ns) / (double)w->period_ns;
    if (w->kind == WAVE_RAMP)
        return whole * 0.5 + phase * phase / 2;
    return whole * w->duty + (phase < w->duty ? phase : w->duty);
}

double wave_mean(const struct wave *w, int64_t t0_ns, int64_t t1_ns)
{
    if (t1_ns <= t0_ns)
        return wave_at(w, t0_ns);
    if (w->kind == WAVE_COUNTER)
        return (wave_at(w, t0_ns) + wave_at(w, t1_ns)) / 2;
    if (w->kind != WAVE_SQUARE && w->kind != WAVE_RAMP)
        return wave_at(w, t0_ns);
    int64_t base = t0_ns / w->period_ns; /* keeps the numbers small, and so exact */
    double periods = (double)(t1_ns - t0_ns) / (double)w->period_ns;
    double share = (shape_integral(w, t1_ns, base) - shape_integral(w, t0_ns, base)) / periods;
    return w->a + (w->b - w->a) * share;
}
