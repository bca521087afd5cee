/* SPDX-License-Identifier: MIT */
/* Hugging Face's text-generation-inference
 * (https://github.com/huggingface/text-generation-inference, router/src/server.rs). The counters
 * have no _total; tokens are only in the sums of histograms. */
#include "llm/dialect_tables.h"

enum { GENERATED, INPUT, BATCH, QUEUE, PER_TOKEN, DURATION };

static const struct dialect_series series[] = {
    [GENERATED] = {.name = "request_generated_tokens"},
    [INPUT] = {.name = "request_input_length"},
    [BATCH] = {.name = "batch_current_size"},
    [QUEUE] = {.name = "queue_size"},
    [PER_TOKEN] = {.name = "request_mean_time_per_token_duration"},
    [DURATION] = {.name = "request_duration"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_SUM,
     .a = GENERATED,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_SUM,
     .a = INPUT,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = BATCH},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = QUEUE},
    {.metric = METRIC_KV_USAGE,
     .kind = WAY_NONE,
     .note = "TGI shows a budget of tokens, not the use of its KV cache"},
    {.metric = METRIC_TPOT,
     .kind = WAY_MEAN,
     .a = PER_TOKEN,
     .fresh = FRESH_FINISH,
     .note = "a mean over requests, not over tokens"},
    {.metric = METRIC_TTFT, .kind = WAY_NONE, .note = "TGI does not report it"},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_MEAN, .a = DURATION, .fresh = FRESH_FINISH},
    {.metric = METRIC_SPEC_ACCEPTANCE,
     .kind = WAY_NONE,
     .note = "TGI reports extra tokens a step, not how many were drafted"},
    {.metric = METRIC_PREFIX_HIT, .kind = WAY_NONE, .note = "TGI does not report it"},
};

static const char *const prefixes[] = {"tgi_", NULL};

const struct dialect dialect_tgi = {
    .name = "tgi", .title = "TGI", .prefixes = prefixes, TABLE(series, ways)};
