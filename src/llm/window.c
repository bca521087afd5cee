/* SPDX-License-Identifier: MIT */
#include "llm/window.h"

#include <math.h>

enum { BUCKETS_MAX = 256 };

static bool same_series(const struct point *a, const struct point *b)
{
    return a->group == b->group && a->id == b->id && a->le == b->le;
}

static bool is_duplicate(const struct point *p, size_t i)
{
    return i > 0 && same_series(&p[i - 1], &p[i]);
}

void window_init(struct window *w, const struct scrape *before, const struct scrape *now)
{
    *w = (struct window){.before = before, .now = now};
    if (!before)
        return;
    w->seconds = (double)(now->mono_ns - before->mono_ns) * 1e-9;
    w->restarted = before->process_start != now->process_start ||
                   strcmp(before->start_mark, now->start_mark) != 0;
}

/* May samples be put together? Of counters only those matter that are not as they were in
 * before[n]: what did not move adds nothing, whether it is a part or repeats. Of a level nobody
 * knows that: a series can keep its value from before. */
static enum amount_kind check_labels(const struct point *p, const struct point *before, size_t n)
{
    const struct point *first = NULL;
    for (size_t i = 1; i < n; i++)
        if (p[i].model != p[0].model)
            return AMOUNT_MODELS;
    for (size_t i = 0; i < n; i++) {
        if (before && p[i].value == before[i].value)
            continue;
        if (first && p[i].other != first->other)
            return AMOUNT_LABELS;
        first = &p[i];
    }
    return AMOUNT_NUMBER;
}

struct amount window_level(const struct scrape *s, uint16_t series, enum way_across across)
{
    size_t n;
    const struct point *p = scrape_find(s, series, PART_VALUE, &n);
    double sum = 0, top = -(double)INFINITY, groups = 0;
    if (n == 0)
        return (struct amount){AMOUNT_ABSENT, 0};
    for (size_t i = 0; i < n;) {
        double largest = -(double)INFINITY;
        for (uint64_t group = p[i].group; i < n && p[i].group == group; i++) {
            if (!isfinite(p[i].value))
                return (struct amount){AMOUNT_NOT_FINITE, 0};
            if (is_duplicate(p, i))
                return (struct amount){AMOUNT_DUPLICATE, 0};
            largest = fmax(largest, p[i].value);
        }
        sum += largest;
        top = fmax(top, largest);
        groups++;
    }
    enum amount_kind kind = check_labels(p, NULL, n);
    if (kind != AMOUNT_NUMBER && (sum != 0 || top != 0)) /* nothing of each is nothing */
        return (struct amount){kind, 0};
    double v = across == ACROSS_MAX ? top : across == ACROSS_MEAN ? sum / groups : sum;
    return (struct amount){AMOUNT_NUMBER, v};
}

/* Is a point's growth from a to b one to count with? */
static enum amount_kind check_growth(const struct point *a, const struct point *b, size_t i)
{
    if (is_duplicate(a, i) || is_duplicate(b, i))
        return AMOUNT_DUPLICATE;
    if (!same_series(&a[i], &b[i]))
        return AMOUNT_CHANGED;
    if (!isfinite(a[i].value) || !isfinite(b[i].value) || b[i].value < 0)
        return AMOUNT_NOT_FINITE;
    return b[i].value < a[i].value ? AMOUNT_RESTARTED : AMOUNT_NUMBER;
}

/* Did the server make one of the series anew? X_created tells when, where it is shown. */
static bool created_anew(const struct window *w, uint16_t series)
{
    size_t n, m;
    const struct point *a = scrape_find(w->before, series, PART_CREATED, &n);
    const struct point *b = scrape_find(w->now, series, PART_CREATED, &m);
    for (size_t i = 0; n == m && i < n; i++)
        if (same_series(&a[i], &b[i]) && a[i].value != b[i].value)
            return true;
    return false;
}

struct amount window_growth(const struct window *w, uint16_t series, enum part part)
{
    size_t n, m = 0;
    const struct point *b = scrape_find(w->now, series, part, &n), *a = NULL;
    if (n == 0)
        return (struct amount){AMOUNT_ABSENT, 0};
    if (!w->before)
        return (struct amount){AMOUNT_FIRST, 0};
    if (w->restarted || created_anew(w, series))
        return (struct amount){AMOUNT_RESTARTED, 0};
    a = scrape_find(w->before, series, part, &m);
    if (n != m)
        return (struct amount){AMOUNT_CHANGED, 0};
    double sum = 0;
    for (size_t i = 0; i < n;) {
        double largest = 0;
        for (uint64_t group = b[i].group; i < n && b[i].group == group; i++) {
            enum amount_kind kind = check_growth(a, b, i);
            if (kind != AMOUNT_NUMBER)
                return (struct amount){kind, 0};
            largest = fmax(largest, b[i].value - a[i].value);
        }
        sum += largest;
    }
    enum amount_kind kind = check_labels(b, a, n);
    if (kind != AMOUNT_NUMBER && sum > 0)
        return (struct amount){kind, 0};
    return (struct amount){AMOUNT_NUMBER, sum};
}

size_t window_series(const struct window *w, uint16_t series, enum part part)
{
    size_t n, groups = 0;
    const struct point *p = scrape_find(w->now, series, part, &n);
    for (size_t i = 0; i < n; i++)
        groups += i == 0 || p[i].group != p[i - 1].group;
    return groups;
}

/* ---- quantiles ---- */

const char *quantile_kind_name(enum quantile_kind kind)
{
    static const char *const names[] = {
#define X(id, name) name,
        BOUNDS(X)
#undef X
    };
    return names[kind];
}

struct buckets {
    size_t n;
    double le[BUCKETS_MAX], growth[BUCKETS_MAX]; /* cumulative, as in the body */
};

/* Adds the growth of every series of the histogram; false when they do not fit one another. */
static bool add_up(const struct window *w, uint16_t series, struct buckets *out)
{
    size_t n, m, at = 0;
    const struct point *b = scrape_find(w->now, series, PART_BUCKET, &n);
    const struct point *a = scrape_find(w->before, series, PART_BUCKET, &m);
    if (n == 0 || n != m || check_labels(b, NULL, n) != AMOUNT_NUMBER)
        return false;
    for (size_t i = 0; i < n; i++, at++) {
        if (i > 0 && (b[i].id != b[i - 1].id || b[i].group != b[i - 1].group)) {
            if (at != out->n)
                return false;
            at = 0;
        }
        bool is_first = b[i].id == b[0].id && b[i].group == b[0].group;
        if (check_growth(a, b, i) != AMOUNT_NUMBER || at == BUCKETS_MAX ||
            (!is_first && (at >= out->n || out->le[at] != b[i].le)))
            return false;
        if (is_first) {
            out->le[at] = b[i].le;
            out->n = at + 1;
        }
        out->growth[at] += b[i].value - a[i].value;
    }
    return at == out->n && out->n >= 2 && isinf(out->le[out->n - 1]);
}

static struct quantile quantile_of(const struct buckets *b, double q)
{
    double wanted = q * b->growth[b->n - 1];
    size_t i = 0;
    while (i + 1 < b->n && b->growth[i] < wanted)
        i++;
    if (i == 0)
        return (struct quantile){QUANTILE_BELOW, b->le[0]};
    if (i + 1 == b->n)
        return (struct quantile){QUANTILE_ABOVE, b->le[i - 1]};
    double share = (wanted - b->growth[i - 1]) / (b->growth[i] - b->growth[i - 1]);
    return (struct quantile){QUANTILE_BETWEEN, b->le[i - 1] + share * (b->le[i] - b->le[i - 1])};
}

void window_quantiles(const struct window *w, uint16_t series, const double *q, size_t n,
                      struct quantile *out)
{
    struct buckets b = {0};
    for (size_t i = 0; i < n; i++)
        out[i] = (struct quantile){QUANTILE_NONE, 0};
    if (!w->before || w->restarted || created_anew(w, series) || !add_up(w, series, &b) ||
        !(b.growth[b.n - 1] > 0))
        return;
    for (size_t i = 1; i < b.n; i++)
        if (b.growth[i] < b.growth[i - 1])
            return; /* cumulative counts cannot */
    for (size_t i = 0; i < n; i++)
        out[i] = quantile_of(&b, q[i]);
}
