/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_monotonic_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

int64_t clock_unix_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

const char *clock_iso8601(char dst[CLOCK_TEXT_SIZE], int64_t unix_ns, int digits)
{
    int64_t seconds = unix_ns / 1000000000, ns = unix_ns % 1000000000;
    if (ns < 0) {
        ns += 1000000000;
        seconds--;
    }
    time_t t = (time_t)seconds;
    struct tm utc;
    gmtime_r(&t, &utc);
    size_t n = strftime(dst, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    char fraction[16];
    snprintf(fraction, sizeof fraction, ".%09d", (int)ns);
    int keep = digits > 0 ? digits + 1 : 0;
    snprintf(dst + n, CLOCK_TEXT_SIZE - n, "%.*sZ", keep > 10 ? 10 : keep, fraction);
    return dst;
}
