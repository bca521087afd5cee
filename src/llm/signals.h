/* SPDX-License-Identifier: MIT */
/* What two scrapes of a server say: one value for each metric that the catalogue has of servers. */
#ifndef SMEFF_LLM_SIGNALS_H
#define SMEFF_LLM_SIGNALS_H

#include "llm/window.h"
#include "metric/value.h"

enum {
    SIGNAL_FIRST = METRIC_OUTPUT_TOKENS_PER_SECOND,
    SIGNAL_END = METRIC_ESTIMATED_BYTES + 1,
    SIGNAL_COUNT = SIGNAL_END - SIGNAL_FIRST,
    SIGNAL_SERIES_SIZE = 3 * SCRAPE_NAME_SIZE,
};

struct signal {
    struct value value;
    enum freshness fresh;
    struct quantile p50, p95;        /* of histograms; QUANTILE_NONE for others */
    char series[SIGNAL_SERIES_SIZE]; /* what it comes from, as in the body; "" = none */
    const char *note;                /* static: what to know of it; or NULL */
};

struct signals {
    int dialect;    /* DIALECT_NONE: no scrape */
    double seconds; /* of the window; 0 with one scrape */
    struct signal list[SIGNAL_COUNT];
};

static inline struct signal *signal_of(struct signals *s, enum metric m)
{
    return &s->list[m - SIGNAL_FIRST];
}

/* before NULL: levels alone, rates are warming. Pure. */
void signals_read(const struct scrape *before, const struct scrape *now, struct signals *out);

/* Did a counter that the dialect uses fall between the two, or the server start anew? */
bool signals_restarted(const struct scrape *before, const struct scrape *now);

/* Did a token that is counted while a request streams come between the two? True where that cannot
 * be told. */
bool signals_moved(const struct scrape *before, const struct scrape *now);

/* Gauges of a server whose counters of tokens stood still for quiet_s seconds: after 5 s with
 * requests that run or wait, they may be from before. Some servers' gauges keep their last value
 * when all requests were aborted (https://github.com/vllm-project/vllm/issues/22545). */
void signals_doubt_gauges(struct signals *s, double quiet_s);

/* Every value in this state, for a server that gave no body. */
void signals_none(struct signals *out, enum value_state state, const char *reason);

#endif
