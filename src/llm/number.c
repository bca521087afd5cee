/* SPDX-License-Identifier: MIT */
#include "llm/number.h"

#include <math.h>
#include <stdint.h>
#include <strings.h>

#include "base/num.h"

enum { EXACT_POWER_MAX = 22, DIGITS_MAX = 19, TEXT_MAX = 120, EXPONENT_MAX = 100000 };

/* A double holds these exactly, so that one multiplication or division of an integer below 2^53
 * rounds once, as it should (Clinger, "How to read floating point numbers accurately", 1990). */
static const double powers[EXACT_POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool parse_special(struct slice text, bool negative, double *out)
{
    if (text.n == 3 && strncasecmp(text.s, "nan", 3) == 0)
        *out = (double)NAN;
    else if ((text.n == 3 && strncasecmp(text.s, "inf", 3) == 0) ||
             (text.n == 8 && strncasecmp(text.s, "infinity", 8) == 0))
        *out = negative ? -(double)INFINITY : (double)INFINITY;
    else
        return false;
    return true;
}

/* The exponent behind an "e"; false when there are no digits. */
static bool parse_exponent(const char **p, const char *end, int *out)
{
    bool negative = false;
    int v = 0;
    if (*p < end && (**p == '+' || **p == '-'))
        negative = *(*p)++ == '-';
    const char *first = *p;
    for (; *p < end && is_digit(**p); ++*p)
        if (v < EXPONENT_MAX)
            v = 10 * v + (**p - '0');
    *out = negative ? -v : v;
    return *p > first;
}

/* What the fast way cannot round right: many digits or a large exponent. */
static bool parse_slowly(struct slice text, bool negative, int exponent, double *out)
{
    char copy[TEXT_MAX + 1];
    double v;
    if (text.n > TEXT_MAX)
        return false;
    memcpy(copy, text.s, text.n);
    copy[text.n] = '\0';
    if (!num_parse(copy, &v)) {
        if (exponent > -300)
            return false;
        v = 0; /* too small for a double */
    }
    *out = negative ? -v : v;
    return true;
}

bool number_parse(struct slice text, double *out)
{
    const char *p = text.s, *end = text.s + text.n;
    bool negative = false;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    const char *first = p;
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0, written = 0;
    for (; p < end && is_digit(*p); p++, digits++)
        mantissa = 10 * mantissa + (uint64_t)(*p - '0'); /* may wrap: then digits tells */
    if (p < end && *p == '.')
        for (p++; p < end && is_digit(*p); p++, digits++, exponent--)
            mantissa = 10 * mantissa + (uint64_t)(*p - '0');
    struct slice rest = {first, (size_t)(end - first)};
    if (digits == 0)
        return parse_special(rest, negative, out);
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (!parse_exponent(&p, end, &written))
            return false;
    }
    if (p != end)
        return false;
    exponent += written;
    if (digits > DIGITS_MAX || mantissa > UINT64_C(1) << 53 || exponent > EXACT_POWER_MAX ||
        exponent < -EXACT_POWER_MAX)
        return parse_slowly(rest, negative, exponent, out);
    double v = (double)mantissa;
    v = exponent < 0 ? v / powers[-exponent] : v * powers[exponent];
    *out = negative ? -v : v;
    return true;
}
