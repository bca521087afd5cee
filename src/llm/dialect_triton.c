/* SPDX-License-Identifier: MIT */
/* NVIDIA Triton with the TensorRT-LLM back end (https://github.com/triton-inference-server/
 * tensorrtllm_backend). With its vLLM back end the body also has vLLM's series. Newer ones have
 * histograms of the tokens of a request, which are the only count of tokens. */
#include "llm/dialect_tables.h"

enum {
    OUTPUT_LENGTH,
    INPUT_LENGTH,
    ACTIVE,
    WAITING,
    PENDING,
    KV_FRACTION,
    FIRST_RESPONSE,
    REQUEST_TIME,
    SUCCESS,
};

static const struct dialect_series series[] = {
    [OUTPUT_LENGTH] = {"llm_output_token_len", "response_metric_type", "total_output_tokens"},
    [INPUT_LENGTH] = {"llm_input_token_len", "response_metric_type", "total_input_tokens"},
    [ACTIVE] = {"trt_llm_request_metrics", "request_type", "active"},
    [WAITING] = {"trt_llm_request_metrics", "request_type", "waiting"},
    [PENDING] = {.name = "inference_pending_request_count"},
    [KV_FRACTION] = {"trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "fraction"},
    [FIRST_RESPONSE] = {.name = "inference_first_response_histogram_ms"},
    [REQUEST_TIME] = {.name = "inference_request_duration_us"},
    [SUCCESS] = {.name = "inference_request_success"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_SUM,
     .a = OUTPUT_LENGTH,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_NONE,
     .note = "this version of Triton's TensorRT-LLM back end counts no tokens"},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_SUM,
     .a = INPUT_LENGTH,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_NONE,
     .note = "this version of Triton's TensorRT-LLM back end counts no tokens"},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = ACTIVE},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = WAITING},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = PENDING},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = KV_FRACTION, .across = ACROSS_MAX},
    {.metric = METRIC_TTFT, .kind = WAY_MEAN, .a = FIRST_RESPONSE, .scale = 1e-3},
    {.metric = METRIC_E2E_LATENCY,
     .kind = WAY_RATIO,
     .a = REQUEST_TIME,
     .b = SUCCESS,
     .scale = 1e-6,
     .fresh = FRESH_FINISH},
};

static const char *const prefixes[] = {"nv_", NULL};

const struct dialect dialect_triton = {
    .name = "triton", .title = "Triton", .prefixes = prefixes, TABLE(series, ways)};
