/* SPDX-License-Identifier: MIT */
#include "http/digits.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/num.h"

enum { DIGITS = 5, EXPONENT_MIN = -5, EXPONENT_MAX = 14 };

static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

static double scale(double v, int exponent)
{
    return exponent < 0 ? v / powers[-exponent] : v * powers[exponent];
}

/* Fills text from its end; returns where it begins. */
static char *put_integer(char *end, uint64_t n)
{
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

/* a = digits × 10^(exponent - 4), digits of five places. */
static void put_parts(struct buf *out, uint64_t digits, int exponent)
{
    char text[40], *end = text + sizeof text, *begin;
    int fraction = DIGITS - 1 - exponent; /* places behind the point */
    if (fraction <= 0) {
        begin = put_integer(end, digits * (uint64_t)powers[-fraction]);
        buf_add(out, begin, (size_t)(end - begin));
        return;
    }
    for (; fraction && digits % 10 == 0; fraction--)
        digits /= 10;
    uint64_t unit = (uint64_t)powers[fraction], rest = digits % unit;
    begin = end;
    for (int i = 0; i < fraction; i++, rest /= 10)
        *--begin = (char)('0' + rest % 10);
    if (fraction)
        *--begin = '.';
    begin = put_integer(begin, digits / unit);
    buf_add(out, begin, (size_t)(end - begin));
}

void digits_put(struct buf *out, double v)
{
    char text[NUM_TEXT_SIZE];
    double a = fabs(v);
    if (!isfinite(v)) {
        buf_puts(out, "null");
        return;
    }
    if (a == 0) {
        buf_putc(out, '0');
        return;
    }
    int exponent = (int)floor(log10(a));
    if (exponent < EXPONENT_MIN || exponent > EXPONENT_MAX) {
        buf_add(out, text, num_format_digits(text, v, DIGITS));
        return;
    }
    uint64_t digits = (uint64_t)llround(scale(a, DIGITS - 1 - exponent));
    if (digits >= 100000) { /* it was rounded up to the next power */
        digits /= 10;
        exponent++;
    }
    if (v < 0)
        buf_putc(out, '-');
    put_parts(out, digits, exponent);
}
