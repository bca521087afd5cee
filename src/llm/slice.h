/* SPDX-License-Identifier: MIT */
/* A piece of somebody else's text, not terminated. */
#ifndef SMEFF_LLM_SLICE_H
#define SMEFF_LLM_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *s; /* not owned */
    size_t n;
};

static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_of(text));
}

static inline bool slice_starts_with(struct slice a, const char *prefix)
{
    size_t n = strlen(prefix);
    return a.n >= n && memcmp(a.s, prefix, n) == 0;
}

static inline bool slice_ends_with(struct slice a, const char *end)
{
    size_t n = strlen(end);
    return a.n >= n && memcmp(a.s + a.n - n, end, n) == 0;
}

#endif
