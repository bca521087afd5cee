/* SPDX-License-Identifier: MIT */
#include "collect/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tally_init(struct tally *t)
{
    *t = (struct tally){.min = INFINITY, .max = -INFINITY};
}

void tally_fini(struct tally *t)
{
    free(t->buckets);
    *t = (struct tally){0};
}

static uint32_t key_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (uint32_t)(bits >> 42);
}

/* The slot of key, or the free one where it belongs (there always is one: load <= 1/2). */
static struct tally_bucket *find(struct tally_bucket *buckets, size_t cap, uint32_t key)
{
    size_t i = (key * UINT32_C(2654435769)) & (cap - 1);
    while (buckets[i].weight && buckets[i].key != key)
        i = (i + 1) & (cap - 1);
    return &buckets[i];
}

static bool grow(struct tally *t)
{
    size_t cap = t->cap ? 2 * t->cap : 16;
    struct tally_bucket *buckets = calloc(cap, sizeof *buckets);
    if (!buckets)
        return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->buckets[i].weight)
            *find(buckets, cap, t->buckets[i].key) = t->buckets[i];
    free(t->buckets);
    t->buckets = buckets;
    t->cap = cap;
    return true;
}

/* Compensated summation (A. Neumaier, 1974): millions of samples lose no digit of the mean. */
static void add_exactly(struct tally *t, double v)
{
    double sum = t->sum + v;
    t->lost += fabs(t->sum) >= fabs(v) ? (t->sum - sum) + v : (v - sum) + t->sum;
    t->sum = sum;
}

void tally_add(struct tally *t, double v, uint64_t weight)
{
    if (!isfinite(v))
        return;
    v += 0.0; /* -0 and 0 are one value */
    t->count++;
    t->weight += weight;
    add_exactly(t, v * (double)weight);
    if (v < t->min)
        t->min = v;
    if (v > t->max)
        t->max = v;
    if (t->failed || (2 * (t->used + 1) > t->cap && !grow(t))) {
        t->failed = true;
        return;
    }
    uint32_t key = key_of(v);
    struct tally_bucket *b = find(t->buckets, t->cap, key);
    if (b->weight == 0) {
        *b = (struct tally_bucket){.key = key, .first = v};
        t->used++;
    }
    b->mixed |= v != b->first;
    b->weight += weight;
    b->sum += v * (double)weight;
}

double tally_mean(const struct tally *t)
{
    if (t->count == 0 || t->min >= t->max) /* of equal ones no division takes a digit */
        return t->count ? t->min : NAN;
    return (t->sum + t->lost) / (double)t->weight;
}

static double bucket_value(const struct tally_bucket *b)
{
    return b->mixed ? b->sum / (double)b->weight : b->first;
}

static int by_value(const void *a, const void *b)
{
    double x = bucket_value(*(const struct tally_bucket *const *)a);
    double y = bucket_value(*(const struct tally_bucket *const *)b);
    return (x > y) - (x < y);
}

double tally_quantile(const struct tally *t, double q)
{
    if (t->count == 0 || t->failed)
        return NAN;
    const struct tally_bucket **sorted = calloc(t->used, sizeof *sorted);
    if (!sorted)
        return NAN;
    size_t n = 0;
    for (size_t i = 0; i < t->cap; i++)
        if (t->buckets[i].weight)
            sorted[n++] = &t->buckets[i];
    qsort(sorted, n, sizeof *sorted, by_value);
    double rank = ceil(q * (double)t->weight - 1e-9);
    double seen = 0, result = NAN;
    for (size_t i = 0; i < n; i++) {
        seen += (double)sorted[i]->weight;
        result = bucket_value(sorted[i]);
        if (seen >= rank)
            break;
    }
    free(sorted);
    return result;
}
