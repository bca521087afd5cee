/* SPDX-License-Identifier: MIT */
/* NVIDIA Dynamo (https://github.com/ai-dynamo/dynamo, lib/runtime/src/metrics/prometheus_names.rs):
 * its front end, called nv_llm_http_service before the middle of 2025, and its workers, which also
 * show the series of their engine. */
#include "llm/dialect_tables.h"

enum {
    OUTPUT,
    OUTPUT_LENGTH,
    INPUT_LENGTH,
    ACTIVE,
    INFLIGHT,
    ROUTER_QUEUE,
    INTER_TOKEN,
    FIRST_TOKEN,
    DURATION,
};

static const struct dialect_series series[] = {
    [OUTPUT] = {.name = "output_tokens"},
    [OUTPUT_LENGTH] = {.name = "output_sequence_tokens"},
    [INPUT_LENGTH] = {.name = "input_sequence_tokens"},
    [ACTIVE] = {.name = "active_requests"},
    [INFLIGHT] = {.name = "inflight_requests"},
    [ROUTER_QUEUE] = {.name = "router_queue_pending_requests"},
    [INTER_TOKEN] = {.name = "inter_token_latency_seconds"},
    [FIRST_TOKEN] = {.name = "time_to_first_token_seconds"},
    [DURATION] = {.name = "request_duration_seconds"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND, .kind = WAY_RATE, .a = OUTPUT},
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_SUM,
     .a = OUTPUT_LENGTH,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_SUM,
     .a = INPUT_LENGTH,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = ACTIVE},
    {.metric = METRIC_RUNNING,
     .kind = WAY_LEVEL,
     .a = INFLIGHT,
     .note = "over a request's whole life, waiting too"},
    /* queued_requests lasts until the first token: no queue
     * (https://github.com/ai-dynamo/dynamo/issues/8054). */
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = ROUTER_QUEUE},
    {.metric = METRIC_KV_USAGE, .kind = WAY_NONE, .note = "Dynamo's workers show it"},
    {.metric = METRIC_TPOT, .kind = WAY_MEAN, .a = INTER_TOKEN},
    {.metric = METRIC_TTFT, .kind = WAY_MEAN, .a = FIRST_TOKEN},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_MEAN, .a = DURATION, .fresh = FRESH_FINISH},
    {.metric = METRIC_SPEC_ACCEPTANCE, .kind = WAY_NONE, .note = "Dynamo's workers show it"},
};

static const char *const prefixes[] = {"dynamo_frontend_", "nv_llm_http_service_", NULL};

const struct dialect dialect_dynamo = {
    .name = "dynamo", .title = "Dynamo", .prefixes = prefixes, TABLE(series, ways)};

enum { WORKER_KV_USAGE, WORKER_INFLIGHT, WORKER_INFLIGHT_OLD };

static const struct dialect_series worker_series[] = {
    [WORKER_KV_USAGE] = {.name = "gpu_cache_usage_percent"}, /* 0..1 all the same */
    /* of its endpoints only "generate" has to do with tokens; load_metrics is asked by routers */
    [WORKER_INFLIGHT] = {.name = "inflight_requests",
                         .label = "dynamo_endpoint",
                         .value = "generate"},
    [WORKER_INFLIGHT_OLD] = {.name = "inflight_requests", .label = "dynamo_endpoint", .value = ""},
};

static const struct way worker_ways[] = {
    {.metric = METRIC_RUNNING,
     .kind = WAY_LEVEL,
     .a = WORKER_INFLIGHT,
     .note = "over a request's whole life, waiting too"},
    {.metric = METRIC_RUNNING,
     .kind = WAY_LEVEL,
     .a = WORKER_INFLIGHT_OLD,
     .note = "over a request's whole life, waiting too"},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = WORKER_KV_USAGE, .across = ACROSS_MAX},
};

static const char *const worker_prefixes[] = {"dynamo_component_", NULL};

const struct dialect dialect_dynamo_worker = {.name = "dynamo_worker",
                                              .title = "Dynamo worker",
                                              .prefixes = worker_prefixes,
                                              TABLE(worker_series, worker_ways)};
