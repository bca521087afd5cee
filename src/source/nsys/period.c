/* SPDX-License-Identifier: MIT */
#include "source/nsys/period.h"

#include <stdbool.h>
#include <stdlib.h>

#include "metric/metric.h"

/* Intervals are counted in classes of 1/64 octave: the period is the mean of the fullest class,
 * which no gap and no jitter of single samples moves. nsys samples at 10 Hz or faster; an interval
 * of an hour is no period, and 2^42 ns is more than that. */
enum { OCTAVES = 42, CLASSES = 64 * OCTAVES };
static const int64_t period_max_ns = 3600000000000;

/* Where a timer reads the counters, intervals move by 0.1 µs, and twice the period means that a
 * sample is missing. Turing and GA100 read them every so many cycles of the SYS clock (user guide
 * of Nsight Systems), so that a change of the clock stretches the interval. */
static const double timer_reach = 1.5, cycles_reach = 3;
#define CHIPS_BY_CYCLES "TU1* GA100"

/* An interval that does not fit becomes the new period when this many alike came in a row, or two
 * as long as the period is only a guess. Without that, one short interval would make a gap of every
 * later one. */
enum { ODD_IN_ROW_MAX = 8, ODD_AT_FIRST_MAX = 2, REGULAR_MIN = 2 };

struct nsys_interval_class {
    uint64_t count;
    double sum_ns;
};

enum status nsys_period_init(struct nsys_period *p, const char *chip, double nominal_hz,
                             struct error *err)
{
    double nominal_ns = nominal_hz > 0 ? 1e9 / nominal_hz : 0;
    bool by_cycles = chip[0] && metric_chip_matches(CHIPS_BY_CYCLES, chip);
    *p = (struct nsys_period){.reach = by_cycles ? cycles_reach : timer_reach};
    if (nominal_ns >= 1 && nominal_ns <= (double)period_max_ns)
        p->nominal_ns = (int64_t)nominal_ns;
    p->classes = calloc(CLASSES, sizeof *p->classes);
    return p->classes ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
}

void nsys_period_fini(struct nsys_period *p)
{
    free(p->classes);
    *p = (struct nsys_period){0};
}

static void count(struct nsys_period *p, int64_t interval_ns)
{
    unsigned octave = 63 - (unsigned)__builtin_clzll((unsigned long long)interval_ns);
    unsigned fraction = octave >= 6 ? (unsigned)(interval_ns >> (octave - 6)) & 63
                                    : (unsigned)(interval_ns << (6 - octave)) & 63;
    if (octave >= OCTAVES)
        return;
    struct nsys_interval_class *c = &p->classes[octave * 64 + fraction];
    c->count++;
    c->sum_ns += (double)interval_ns;
}

static bool alike(int64_t a, int64_t b, double reach)
{
    return (double)a <= reach * (double)b && (double)b <= reach * (double)a;
}

static int64_t covers(struct nsys_period *p, int64_t ns)
{
    if (ns > p->longest_ns)
        p->longest_ns = ns;
    return ns;
}

int64_t nsys_period_first(struct nsys_period *p, int64_t interval_ns)
{
    /* only the nominal rate can tell that samples are missing right after the first */
    bool fits = p->nominal_ns ? (double)interval_ns <= p->reach * (double)p->nominal_ns
                              : interval_ns <= period_max_ns;
    p->local_ns = fits ? interval_ns : p->nominal_ns;
    return covers(p, p->local_ns);
}

/* Is it one more of several intervals that do not fit the local period, but each other? */
static bool is_new_period(struct nsys_period *p, int64_t interval_ns)
{
    bool same = p->odd_ns && alike(interval_ns, p->odd_ns, timer_reach);
    p->odd_in_row = same ? p->odd_in_row + 1 : 1;
    p->odd_ns = interval_ns;
    return p->odd_in_row >= (p->regular < REGULAR_MIN ? ODD_AT_FIRST_MAX : ODD_IN_ROW_MAX);
}

int64_t nsys_period_next(struct nsys_period *p, int64_t interval_ns)
{
    count(p, interval_ns);
    if (interval_ns > period_max_ns)
        return covers(p, p->local_ns);
    if (!p->local_ns || alike(interval_ns, p->local_ns, p->reach) ||
        is_new_period(p, interval_ns)) {
        p->odd_ns = 0;
        p->odd_in_row = 0;
        p->regular += p->regular < REGULAR_MIN;
        p->local_ns = interval_ns;
        return covers(p, interval_ns);
    }
    return covers(p, interval_ns < p->local_ns ? interval_ns : p->local_ns);
}

double nsys_period_rate_hz(const struct nsys_period *p)
{
    const struct nsys_interval_class *best = p->classes;
    for (size_t i = 1; i < CLASSES; i++)
        if (p->classes[i].count > best->count)
            best = &p->classes[i];
    return best->count ? 1e9 * (double)best->count / best->sum_ns : 0;
}
