/* SPDX-License-Identifier: MIT */
/* TensorRT-LLM's trtllm-serve (https://github.com/NVIDIA/TensorRT-LLM, tensorrt_llm/metrics/
 * collector.py), under /prometheus/metrics: its /metrics is JSON. */
#include "llm/dialect_tables.h"

enum {
    GENERATION,
    PROMPT,
    GENERATING,
    PER_STEP,
    STEP_SECONDS,
    RUNNING,
    WAITING,
    KV_USAGE,
    TIME_PER_TOKEN,
    FIRST_TOKEN,
    END_TO_END,
    ACCEPTED,
    DRAFTED,
    CACHED,
};

static const struct dialect_series series[] = {
    [GENERATION] = {.name = "generation_tokens"},
    [PROMPT] = {.name = "prompt_tokens"},
    [GENERATING] = {.name = "num_generation_requests"},
    [PER_STEP] = {.name = "avg_decoded_tokens_per_iter"},
    [STEP_SECONDS] = {.name = "iteration_latency_seconds"},
    [RUNNING] = {.name = "num_requests_running"},
    [WAITING] = {.name = "num_requests_waiting"},
    [KV_USAGE] = {.name = "kv_cache_utilization"},
    [TIME_PER_TOKEN] = {.name = "time_per_output_token_seconds"},
    [FIRST_TOKEN] = {.name = "time_to_first_token_seconds"},
    [END_TO_END] = {.name = "e2e_request_latency_seconds"},
    [ACCEPTED] = {.name = "spec_decode_num_accepted_tokens"},
    [DRAFTED] = {.name = "spec_decode_num_draft_tokens"},
    [CACHED] = {.name = "prompt_cached_tokens"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = GENERATION,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_LEVEL_RATE,
     .a = GENERATING,
     .b = PER_STEP,
     .c = STEP_SECONDS,
     .fresh = FRESH_ESTIMATE},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = PROMPT,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = RUNNING},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = WAITING},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = KV_USAGE, .across = ACROSS_MAX},
    {.metric = METRIC_TPOT,
     .kind = WAY_MEAN,
     .a = TIME_PER_TOKEN,
     .fresh = FRESH_FINISH,
     .note = "a mean over requests, not over tokens"},
    {.metric = METRIC_TTFT, .kind = WAY_MEAN, .a = FIRST_TOKEN, .fresh = FRESH_FINISH},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_MEAN, .a = END_TO_END, .fresh = FRESH_FINISH},
    {.metric = METRIC_SPEC_ACCEPTANCE,
     .kind = WAY_RATIO,
     .a = ACCEPTED,
     .b = DRAFTED}, /* of each iteration, with enable_iter_perf_stats */
    {.metric = METRIC_PREFIX_HIT,
     .kind = WAY_RATIO,
     .a = CACHED,
     .b = PROMPT,
     .fresh = FRESH_FINISH},
};

static const char *const prefixes[] = {"trtllm_", "trtllm:", NULL};

const struct dialect dialect_trtllm = {
    .name = "trtllm", .title = "TensorRT-LLM", .prefixes = prefixes, TABLE(series, ways)};
