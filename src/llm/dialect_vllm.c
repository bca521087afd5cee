/* SPDX-License-Identifier: MIT */
/* vLLM from 0.3.3 on (https://github.com/vllm-project/vllm, vllm/v1/metrics/loggers.py; before V1
 * vllm/engine/metrics.py), vLLM on Ray Serve, and Aphrodite from 0.20 on. Versions behind names:
 * 0.9.2 renamed gpu_cache_usage_perc and gpu_prefix_cache_*, 0.11 time_per_output_token_seconds;
 * for some releases both names are there, so that the first is taken and never both. */
#include "llm/dialect_tables.h"

enum {
    GENERATION,
    AVG_GENERATION,
    PROMPT,
    AVG_PROMPT,
    RUNNING,
    WAITING,
    KV_USAGE,
    GPU_KV_USAGE,
    INTER_TOKEN,
    TIME_PER_TOKEN,
    FIRST_TOKEN,
    END_TO_END,
    ACCEPTED,
    DRAFTED,
    ACCEPTANCE_RATE,
    HITS,
    QUERIES,
    GPU_HITS,
    GPU_QUERIES,
    GPU_HIT_RATE,
    READ_BYTES,
    WRITE_BYTES,
};

static const struct dialect_series series[] = {
    [GENERATION] = {.name = "generation_tokens"},
    [AVG_GENERATION] = {.name = "avg_generation_throughput_toks_per_s"},
    [PROMPT] = {.name = "prompt_tokens"},
    [AVG_PROMPT] = {.name = "avg_prompt_throughput_toks_per_s"},
    [RUNNING] = {.name = "num_requests_running"},
    [WAITING] = {.name = "num_requests_waiting"},
    [KV_USAGE] = {.name = "kv_cache_usage_perc"},
    [GPU_KV_USAGE] = {.name = "gpu_cache_usage_perc"},
    [INTER_TOKEN] = {.name = "inter_token_latency_seconds"},
    [TIME_PER_TOKEN] = {.name = "time_per_output_token_seconds"},
    [FIRST_TOKEN] = {.name = "time_to_first_token_seconds"},
    [END_TO_END] = {.name = "e2e_request_latency_seconds"},
    [ACCEPTED] = {.name = "spec_decode_num_accepted_tokens"},
    [DRAFTED] = {.name = "spec_decode_num_draft_tokens"},
    [ACCEPTANCE_RATE] = {.name = "spec_decode_draft_acceptance_rate"},
    [HITS] = {.name = "prefix_cache_hits"},
    [QUERIES] = {.name = "prefix_cache_queries"},
    [GPU_HITS] = {.name = "gpu_prefix_cache_hits"},
    [GPU_QUERIES] = {.name = "gpu_prefix_cache_queries"},
    [GPU_HIT_RATE] = {.name = "gpu_prefix_cache_hit_rate"},
    [READ_BYTES] = {.name = "estimated_read_bytes_per_gpu"},
    [WRITE_BYTES] = {.name = "estimated_write_bytes_per_gpu"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND, .kind = WAY_RATE, .a = GENERATION},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_LEVEL,
     .a = AVG_GENERATION,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND, .kind = WAY_RATE, .a = PROMPT},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_LEVEL,
     .a = AVG_PROMPT,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = RUNNING},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = WAITING},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = KV_USAGE, .across = ACROSS_MAX},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = GPU_KV_USAGE, .across = ACROSS_MAX},
    /* One observation is an engine step, which with speculation has several tokens
     * (https://github.com/vllm-project/vllm/issues/47382): so divided by the tokens. A request's
     * first token has no interval. */
    {.metric = METRIC_TPOT,
     .kind = WAY_MEAN_TOKEN,
     .a = INTER_TOKEN,
     .b = GENERATION,
     .c = FIRST_TOKEN},
    {.metric = METRIC_TPOT,
     .kind = WAY_MEAN_TOKEN,
     .a = TIME_PER_TOKEN,
     .b = GENERATION,
     .c = FIRST_TOKEN},
    {.metric = METRIC_TTFT, .kind = WAY_MEAN, .a = FIRST_TOKEN},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_MEAN, .a = END_TO_END, .fresh = FRESH_FINISH},
    {.metric = METRIC_SPEC_ACCEPTANCE, .kind = WAY_RATIO, .a = ACCEPTED, .b = DRAFTED},
    {.metric = METRIC_SPEC_ACCEPTANCE,
     .kind = WAY_LEVEL,
     .a = ACCEPTANCE_RATE,
     .across = ACROSS_MEAN,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_PREFIX_HIT, .kind = WAY_RATIO, .a = HITS, .b = QUERIES},
    {.metric = METRIC_PREFIX_HIT, .kind = WAY_RATIO, .a = GPU_HITS, .b = GPU_QUERIES},
    {.metric = METRIC_PREFIX_HIT,
     .kind = WAY_LEVEL,
     .a = GPU_HIT_RATE,
     .across = ACROSS_MEAN,
     .fresh = FRESH_STEPS}, /* -1: off */
    {.metric = METRIC_ESTIMATED_BYTES, .kind = WAY_RATE_PAIR, .a = READ_BYTES, .b = WRITE_BYTES},
};

static const char *const prefixes[] = {"vllm:",      "vllm_",      "ray_vllm:", "ray_vllm_",
                                       "aphrodite:", "aphrodite_", NULL};

const struct dialect dialect_vllm = {
    .name = "vllm", .title = "vLLM", .prefixes = prefixes, TABLE(series, ways)};
