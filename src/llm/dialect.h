/* SPDX-License-Identifier: MIT */
/* What each server calls its metrics: one table a server. A signal is got in one of several ways,
 * in order of preference, since names changed from version to version. */
#ifndef SMEFF_LLM_DIALECT_H
#define SMEFF_LLM_DIALECT_H

#include <stdint.h>

#include "llm/slice.h"
#include "metric/metric.h"

/* X(NAME, name in JSON, title). In the order in which a body is recognised: the first of which it
 * has a sample. A worker of Dynamo, Triton and a router also show the series of an engine. */
#define DIALECTS(X)                                                                                \
    X(DYNAMO_WORKER, "dynamo_worker", "Dynamo worker")                                             \
    X(DYNAMO, "dynamo", "Dynamo")                                                                  \
    X(TRITON, "triton", "Triton")                                                                  \
    X(VLLM, "vllm", "vLLM")                                                                        \
    X(SGLANG, "sglang", "SGLang")                                                                  \
    X(TRTLLM, "trtllm", "TensorRT-LLM")                                                            \
    X(LLAMACPP, "llama.cpp", "llama.cpp")                                                          \
    X(TGI, "tgi", "TGI")                                                                           \
    X(LMDEPLOY, "lmdeploy", "LMDeploy")

enum dialect_id {
#define X(id, name, title) DIALECT_##id,
    DIALECTS(X)
#undef X
        DIALECT_COUNT
};

enum { DIALECT_NONE = -1, DIALECT_SERIES_MAX = 48 };

/* A family of samples, by its name behind the dialect's prefix and without _total, _sum, …; with
 * label, only the samples whose label has that value; "" = that have no such label. */
struct dialect_series {
    const char *name, *label, *value;
};

enum way_kind {
    WAY_LEVEL,       /* gauge a */
    WAY_LEVEL_SHARE, /* gauge a ÷ gauge b */
    WAY_LEVEL_RATE,  /* gauge a × gauge b ÷ gauge c */
    WAY_RATE,        /* Δ counter a ÷ Δt */
    WAY_RATE_FIRST,  /* (Δ counter a + Δ count of histogram b) ÷ Δt */
    WAY_RATE_PAIR,   /* (Δ counter a + Δ counter b) ÷ Δt, the mean over their series */
    WAY_RATE_SUM,    /* Δ sum of histogram a ÷ Δt */
    WAY_RATE_WORK,   /* Δ (counter a × gauge b, the mean over the server's life) ÷ Δt */
    WAY_MEAN,        /* Δ sum ÷ Δ count of histogram a */
    WAY_MEAN_TOKEN,  /* Δ sum of histogram a ÷ (Δ counter b − Δ count of histogram c) */
    WAY_RATIO,       /* Δ counter a ÷ Δ counter b */
    WAY_SHARE,       /* Δ counter a ÷ (Δ counter a + Δ counter b) */
    WAY_NONE,        /* there is none, and the note says why */
};

/* Over the samples of one series. Those that differ only in tp_rank, pp_rank or moe_ep_rank repeat
 * one another, and the largest stands for them; counters are always added. */
enum way_across { ACROSS_SUM, ACROSS_MAX, ACROSS_MEAN };

/* X(NAME, name in JSON, text) */
#define FRESHNESSES(X)                                                                             \
    X(LIVE, "live", "moves while a request streams")                                               \
    X(STEPS, "steps", "renewed every so many steps")                                               \
    X(PREFILL, "on_prefill", "moves when a prompt is done")                                        \
    X(FINISH, "on_finish", "moves when a request ends")                                            \
    X(ESTIMATE, "estimate", "reckoned from other series, moves while a request streams")           \
    X(LIFE, "life_average", "a mean over the server's whole life")

enum freshness {
#define X(id, name, text) FRESH_##id,
    FRESHNESSES(X)
#undef X
        FRESH_COUNT
};

struct way {
    enum metric metric;
    enum way_kind kind;
    unsigned a, b, c; /* which series of the table */
    enum way_across across;
    enum freshness fresh;
    double scale;     /* result × scale = catalogue unit; 0 = 1 */
    const char *note; /* why there is none; else what to know of the value, or NULL */
};

/* Series from which steps and tokens can be compared; of a server whose tokens are reckoned. */
struct dialect_steps {
    unsigned tokens;         /* of requests that ended */
    unsigned steps, slots;   /* steps, and the mean number of sequences in them */
    unsigned drafts;         /* speculations of requests that ended */
    unsigned longest;        /* the longest sequence so far, in tokens */
    unsigned prompt, cached; /* tokens of prompts: read, and found in a cache */
};

struct dialect {
    const char *name, *title;
    const char *const *prefixes; /* ends with NULL */
    const struct dialect_series *series;
    size_t n_series;
    const struct way *ways;
    size_t n_ways;
    int digits;                        /* significant digits that the server prints; 0 = all */
    const struct dialect_steps *steps; /* NULL = none */
};

/* Static storage. */
const struct dialect *dialect_get(enum dialect_id id);
const char *freshness_name(enum freshness fresh);
const char *freshness_text(enum freshness fresh);

/* What a sample's name is made of. */
enum part { PART_VALUE, PART_SUM, PART_COUNT, PART_BUCKET, PART_CREATED };

/* The dialect by the name's prefix; *rest is the name behind it. DIALECT_NONE for others. */
int dialect_of_name(struct slice name, struct slice *rest);

/* Is rest (from dialect_of_name) a sample of the family name? Then *part says which. */
bool dialect_matches(struct slice rest, const char *name, enum part *part);

#endif
