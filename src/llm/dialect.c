/* SPDX-License-Identifier: MIT */
#include "llm/dialect.h"

#include "llm/dialect_tables.h"

static const struct dialect *const dialects[DIALECT_COUNT] = {
    [DIALECT_DYNAMO_WORKER] = &dialect_dynamo_worker,
    [DIALECT_DYNAMO] = &dialect_dynamo,
    [DIALECT_TRITON] = &dialect_triton,
    [DIALECT_VLLM] = &dialect_vllm,
    [DIALECT_SGLANG] = &dialect_sglang,
    [DIALECT_TRTLLM] = &dialect_trtllm,
    [DIALECT_LLAMACPP] = &dialect_llamacpp,
    [DIALECT_TGI] = &dialect_tgi,
    [DIALECT_LMDEPLOY] = &dialect_lmdeploy,
};

static const char *const fresh_names[] = {
#define X(id, name, text) name,
    FRESHNESSES(X)
#undef X
};

static const char *const fresh_texts[] = {
#define X(id, name, text) text,
    FRESHNESSES(X)
#undef X
};

const struct dialect *dialect_get(enum dialect_id id)
{
    return dialects[id];
}

const char *freshness_name(enum freshness fresh)
{
    return fresh_names[fresh];
}

const char *freshness_text(enum freshness fresh)
{
    return fresh_texts[fresh];
}

int dialect_of_name(struct slice name, struct slice *rest)
{
    for (int d = 0; d < DIALECT_COUNT; d++)
        for (const char *const *p = dialects[d]->prefixes; *p; p++)
            if (name.n && name.s[0] == (*p)[0] && slice_starts_with(name, *p)) {
                size_t n = strlen(*p);
                *rest = (struct slice){name.s + n, name.n - n};
                return d;
            }
    return DIALECT_NONE;
}

bool dialect_matches(struct slice rest, const char *name, enum part *part)
{
    /* A counter X is X_total, too: OpenMetrics and prometheus_client add it, others do not. */
    static const struct {
        const char *suffix;
        enum part part;
    } suffixes[] = {{"", PART_VALUE},       {"_total", PART_VALUE}, {"_bucket", PART_BUCKET},
                    {"_count", PART_COUNT}, {"_sum", PART_SUM},     {"_created", PART_CREATED}};
    if (!slice_starts_with(rest, name))
        return false;
    size_t n = strlen(name);
    struct slice suffix = {rest.s + n, rest.n - n};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (slice_is(suffix, suffixes[i].suffix)) {
            *part = suffixes[i].part;
            return true;
        }
    return false;
}
