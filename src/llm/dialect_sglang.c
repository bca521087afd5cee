/* SPDX-License-Identifier: MIT */
/* SGLang (https://github.com/sgl-project/sglang, python/sglang/srt/observability/
 * metrics_collector.py), from 0.4 on. realtime_tokens_total came about 0.5.7; before it the token
 * counters moved only when a request ended. cache_hit_rate is of the last batch alone and not used
 * (https://github.com/sgl-project/sglang/issues/26608). */
#include "llm/dialect_tables.h"

enum {
    DECODE,
    PREFILL,
    PREFILL_CACHED,
    THROUGHPUT,
    GENERATION,
    PROMPT,
    RUNNING,
    QUEUE,
    FULL_USAGE,
    USAGE,
    INTER_TOKEN,
    TIME_PER_TOKEN,
    FIRST_TOKEN,
    END_TO_END,
    ACCEPT_RATE,
    CACHED,
    READ_BYTES,
    WRITE_BYTES,
};

static const struct dialect_series series[] = {
    [DECODE] = {"realtime_tokens", "mode", "decode"},
    [PREFILL] = {"realtime_tokens", "mode", "prefill_compute"},
    [PREFILL_CACHED] = {"realtime_tokens", "mode", "prefill_cache"},
    [THROUGHPUT] = {.name = "gen_throughput"},
    [GENERATION] = {.name = "generation_tokens"},
    [PROMPT] = {.name = "prompt_tokens"},
    [RUNNING] = {.name = "num_running_reqs"},
    [QUEUE] = {.name = "num_queue_reqs"},
    [FULL_USAGE] = {.name = "full_token_usage"},
    [USAGE] = {.name = "token_usage"},
    [INTER_TOKEN] = {.name = "inter_token_latency_seconds"},
    [TIME_PER_TOKEN] = {.name = "time_per_output_token_seconds"},
    [FIRST_TOKEN] = {.name = "time_to_first_token_seconds"},
    [END_TO_END] = {.name = "e2e_request_latency_seconds"},
    [ACCEPT_RATE] = {.name = "spec_accept_rate"},
    [CACHED] = {.name = "cached_tokens"},
    [READ_BYTES] = {.name = "estimated_read_bytes_per_gpu"},
    [WRITE_BYTES] = {.name = "estimated_write_bytes_per_gpu"},
};

static const struct way ways[] = {
    /* The steps of decoding count theirs; a request's first token comes with its prompt, and is not
     * among them (metrics_reporter.py: report_prefill_stats). */
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_FIRST,
     .a = DECODE,
     .b = FIRST_TOKEN},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = DECODE,
     .note = "without the first token of each request"},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_LEVEL,
     .a = THROUGHPUT,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = GENERATION,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND, .kind = WAY_RATE, .a = PREFILL},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = PROMPT,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = RUNNING, .fresh = FRESH_STEPS},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = QUEUE, .fresh = FRESH_STEPS},
    {.metric = METRIC_KV_USAGE,
     .kind = WAY_LEVEL,
     .a = FULL_USAGE,
     .across = ACROSS_MAX,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_KV_USAGE,
     .kind = WAY_LEVEL,
     .a = USAGE,
     .across = ACROSS_MAX,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_TPOT, .kind = WAY_MEAN, .a = INTER_TOKEN},
    {.metric = METRIC_TPOT, .kind = WAY_MEAN, .a = TIME_PER_TOKEN},
    {.metric = METRIC_TTFT, .kind = WAY_MEAN, .a = FIRST_TOKEN},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_MEAN, .a = END_TO_END, .fresh = FRESH_FINISH},
    {.metric = METRIC_SPEC_ACCEPTANCE,
     .kind = WAY_LEVEL,
     .a = ACCEPT_RATE,
     .across = ACROSS_MEAN,
     .fresh = FRESH_STEPS},
    {.metric = METRIC_PREFIX_HIT, .kind = WAY_SHARE, .a = PREFILL_CACHED, .b = PREFILL},
    {.metric = METRIC_PREFIX_HIT,
     .kind = WAY_RATIO,
     .a = CACHED,
     .b = PROMPT,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_ESTIMATED_BYTES, .kind = WAY_RATE_PAIR, .a = READ_BYTES, .b = WRITE_BYTES},
};

static const char *const prefixes[] = {"sglang:", "sglang_", NULL};

const struct dialect dialect_sglang = {
    .name = "sglang", .title = "SGLang", .prefixes = prefixes, TABLE(series, ways)};
