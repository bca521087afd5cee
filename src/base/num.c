/* SPDX-License-Identifier: MIT */
#include "base/num.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Switches this thread to the C locale; returns what to give to uselocale afterwards. */
static locale_t enter_c(void)
{
    pthread_once(&once, make_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

static size_t format_special(char *dst, double v)
{
    const char *name = isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
    memcpy(dst, name, strlen(name) + 1);
    return strlen(name);
}

size_t num_format_digits(char dst[NUM_TEXT_SIZE], double v, int digits)
{
    if (!isfinite(v))
        return format_special(dst, v);
    locale_t old = enter_c();
    int n = snprintf(dst, NUM_TEXT_SIZE, "%.*g", digits, v);
    if (old)
        uselocale(old);
    return (size_t)n;
}

size_t num_format(char dst[NUM_TEXT_SIZE], double v)
{
    if (!isfinite(v))
        return format_special(dst, v);
    locale_t old = enter_c();
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(dst, NUM_TEXT_SIZE, "%.*g", digits, v);
        if (digits == 17 || strtod(dst, NULL) == v)
            break;
    }
    if (old)
        uselocale(old);
    return (size_t)n;
}

bool num_parse(const char *s, double *out)
{
    if (!(*s == '-' || *s == '.' || (*s >= '0' && *s <= '9')))
        return false; /* no blanks, no "inf", no "nan" */
    if (s[strspn(s, "0123456789+-.eE")])
        return false; /* strtod takes hexadecimal numbers too */
    locale_t old = enter_c();
    char *end;
    errno = 0;
    double v = strtod(s, &end);
    bool ok = errno == 0 && end != s && *end == '\0' && isfinite(v);
    if (old)
        uselocale(old);
    if (ok)
        *out = v;
    return ok;
}

bool num_parse_u64(const char *s, uint64_t *out)
{
    if (*s < '0' || *s > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}
