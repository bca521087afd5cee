/* SPDX-License-Identifier: MIT */
/* llama.cpp's llama-server with --metrics (https://github.com/ggml-org/llama.cpp,
 * tools/server/server-context.cpp), and ik_llama.cpp, which kept the series of 2025. */
#include "llm/dialect_tables.h"

enum {
    PREDICTED,
    PREDICTED_SECONDS,
    DECODES,
    BUSY_SLOTS,
    PROMPT,
    PROMPT_CACHED,
    PROCESSING,
    DEFERRED,
    KV_USAGE,
    ACCEPTED,
    DRAFTED,
    DRAFTS,
    LONGEST,
};

static const struct dialect_series series[] = {
    [PREDICTED] = {.name = "tokens_predicted"},
    [PREDICTED_SECONDS] = {.name = "tokens_predicted_seconds"},
    [DECODES] = {.name = "n_decode"},
    [BUSY_SLOTS] = {.name = "n_busy_slots_per_decode"},
    [PROMPT] = {.name = "prompt_tokens"},
    [PROMPT_CACHED] = {.name = "prompt_tokens_cached"},
    [PROCESSING] = {.name = "requests_processing"},
    [DEFERRED] = {.name = "requests_deferred"},
    [KV_USAGE] = {.name = "kv_cache_usage_ratio"},
    [ACCEPTED] = {.name = "spec_decode_num_accepted_tokens"},
    [DRAFTED] = {.name = "spec_decode_num_draft_tokens"},
    [DRAFTS] = {.name = "spec_decode_num_drafts"},
    [LONGEST] = {.name = "n_tokens_max"},
};

static const struct way ways[] = {
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = PREDICTED,
     .fresh = FRESH_FINISH},
    /* Busy slots of all calls: also those of a prefill, and with drafts one token of several. */
    {.metric = METRIC_OUTPUT_TOKENS_PER_SECOND,
     .kind = WAY_RATE_WORK,
     .a = DECODES,
     .b = BUSY_SLOTS,
     .fresh = FRESH_ESTIMATE},
    {.metric = METRIC_PROMPT_TOKENS_PER_SECOND,
     .kind = WAY_RATE,
     .a = PROMPT,
     .fresh = FRESH_PREFILL},
    {.metric = METRIC_RUNNING, .kind = WAY_LEVEL, .a = PROCESSING},
    {.metric = METRIC_WAITING, .kind = WAY_LEVEL, .a = DEFERRED},
    {.metric = METRIC_KV_USAGE, .kind = WAY_LEVEL, .a = KV_USAGE, .across = ACROSS_MAX},
    {.metric = METRIC_KV_USAGE,
     .kind = WAY_NONE,
     .note = "llama.cpp has not reported it since May 2025"},
    /* Seconds of overlapping slots add up: this is the time of one request's token. */
    {.metric = METRIC_TPOT,
     .kind = WAY_RATIO,
     .a = PREDICTED_SECONDS,
     .b = PREDICTED,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_TTFT, .kind = WAY_NONE, .note = "llama.cpp does not report it"},
    {.metric = METRIC_E2E_LATENCY, .kind = WAY_NONE, .note = "llama.cpp does not report it"},
    {.metric = METRIC_SPEC_ACCEPTANCE,
     .kind = WAY_RATIO,
     .a = ACCEPTED,
     .b = DRAFTED,
     .fresh = FRESH_FINISH},
    {.metric = METRIC_PREFIX_HIT, .kind = WAY_SHARE, .a = PROMPT_CACHED, .b = PROMPT},
};

static const struct dialect_steps steps = {.tokens = PREDICTED,
                                           .steps = DECODES,
                                           .slots = BUSY_SLOTS,
                                           .drafts = DRAFTS,
                                           .longest = LONGEST,
                                           .prompt = PROMPT,
                                           .cached = PROMPT_CACHED};

static const char *const prefixes[] = {"llamacpp:", "llamacpp_", NULL};

const struct dialect dialect_llamacpp = {
    .name = "llama.cpp",
    .title = "llama.cpp",
    .prefixes = prefixes,
    TABLE(series, ways),
    .digits = 6, /* the default of C++ streams */
    .steps = &steps,
};
