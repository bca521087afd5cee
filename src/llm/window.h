/* SPDX-License-Identifier: MIT */
/* Numbers out of one scrape, and out of the interval between two. Differences are taken series by
 * series, so that a fall of one is not hidden by the rise of another, and then added up. */
#ifndef SMEFF_LLM_WINDOW_H
#define SMEFF_LLM_WINDOW_H

#include "llm/scrape.h"

enum amount_kind {
    AMOUNT_NUMBER,
    AMOUNT_ABSENT,     /* no such series */
    AMOUNT_FIRST,      /* no scrape before this one */
    AMOUNT_RESTARTED,  /* a counter fell, or the server started anew */
    AMOUNT_CHANGED,    /* series came or went: what they counted before is not known */
    AMOUNT_DUPLICATE,  /* a series is in one body twice */
    AMOUNT_NOT_FINITE, /* NaN, infinite, or a counter below 0 */
    AMOUNT_MODELS,     /* of several models, and not 0 for all of them */
    AMOUNT_LABELS,     /* of several label sets that nobody knows how to put together, and not 0 */
};

struct amount {
    enum amount_kind kind;
    double v; /* with AMOUNT_NUMBER */
};

/* before NULL: there is none. Both scrapes must outlive it. */
struct window {
    const struct scrape *before, *now;
    bool restarted;
    bool has_engine; /* the series of the engine behind a front end were read already */
    double seconds;  /* between the two; 0 without before */
};

void window_init(struct window *w, const struct scrape *before, const struct scrape *now);

/* A gauge of one scrape, over all its series. */
struct amount window_level(const struct scrape *s, uint16_t series, enum way_across across);

/* The growth of a counter, or of a histogram's sum or count, over all its series. */
struct amount window_growth(const struct window *w, uint16_t series, enum part part);

/* How many series there are of it now, those that repeat one another counted once. */
size_t window_series(const struct window *w, uint16_t series, enum part part);

/* X(NAME, name in JSON) */
#define BOUNDS(X)                                                                                  \
    X(NONE, "none")                                                                                \
    X(BETWEEN, "interpolated")                                                                     \
    X(BELOW, "at_most")                                                                            \
    X(ABOVE, "at_least")

/* A quantile from buckets: interpolated, or only a bound, when it lies in the first or the last. */
struct quantile {
    enum quantile_kind {
#define X(id, name) QUANTILE_##id,
        BOUNDS(X)
#undef X
    } kind;
    double v;
};

const char *quantile_kind_name(enum quantile_kind kind);

/* The quantiles q[n] (0..1) of a histogram's observations in the window; QUANTILE_NONE when there
 * are none, or the buckets are not fit for it (other bounds, a fall, a duplicate). */
void window_quantiles(const struct window *w, uint16_t series, const double *q, size_t n,
                      struct quantile *out);

#endif
