/* SPDX-License-Identifier: MIT */
/* LMDeploy from 0.9 on (https://github.com/InternLM/lmdeploy, lmdeploy/metrics/loggers.py). */
#include "llm/dialect_tables.h"

enum {
    GENERATION,
    PROMPT,
    RUNNING,
    WAITING,
    KV_USAGE,
    TIME_PER_TOKEN,
    FIRST_TOKEN,
    END_TO_END,
    ACCEPTED,
    DRAFTED,
    ACCEPT_RATE,
    CACHED,
    HIT_RATE,
};

static const struct dialect_series series[] = {
    [GENERATION] = {.name = "generation_tokens"},
    [PROMPT] = {.name = "prompt_tokens"},
    [RUNNING] = {.name = "num_requests_running"},
    [WAITING] = {.name = "num_requests_waiting"},
    [KV_USAGE] = {.name = "gpu_cache_usage_perc"},
    [TIME_PER_TOKEN] = {.name = "time_per_output_token_seconds"},
    [FIRST_TOKEN] = {.name = "time_to_first_token_seconds"},
    [END_TO_END] = {.name = "e2e_request_latency_seconds"},
    [ACCEPTED] = {.name = "spec_decode_num_accepted_tokens"},
    [DRAFTED] = {.name = "spec_decode_num_draft_tokens"},
    [ACCEPT_RATE] = {.name = "spec_decode_mean_accept_rate"},
    [CACHED] = {.name = "cached_tokens"},
    [HIT_RATE] = {.name = "prefix_cache_hit_rate"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND, .kind = WAY_RATE, .a = GENERATION},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND, .kind = WAY_RATE, .a = PROMPT},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = RUNNING},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = WAITING},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = KV_USAGE, .across = ACROSS_MAX},
    {.metric = METRIC_TPOT, .kind = WAY_MEAN, .a = TIME_PER_TOKEN},
    {.metric = METRIC_TTFT, .kind = WAY_MEAN, .a = FIRST_TOKEN},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_MEAN, .a = END_TO_END, .fresh = FRESH_FINISH},
    {.metric = METRIC_SPEC_ACCEPTANCE, .kind = WAY_RATIO, .a = ACCEPTED, .b = DRAFTED},
    {.metric = METRIC_SPEC_ACCEPTANCE,
     .kind = WAY_LEVEL,
     .a = ACCEPT_RATE,
     .across = ACROSS_MEAN,
     .fresh = FRESH_LIFE},
    {.metric = METRIC_PREFIX_HIT, .kind = WAY_RATIO, .a = CACHED, .b = PROMPT},
    {.metric = METRIC_PREFIX_HIT,
     .kind = WAY_LEVEL,
     .a = HIT_RATE,
     .across = ACROSS_MEAN,
     .fresh = FRESH_LIFE},
};

static const char *const prefixes[] = {"lmdeploy:", "lmdeploy_", NULL};

const struct dialect dialect_lmdeploy = {
    .name = "lmdeploy", .title = "LMDeploy", .prefixes = prefixes, TABLE(series, ways)};
