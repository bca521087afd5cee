/* SPDX-License-Identifier: MIT */
/* The tables of dialect_*.c. */
#ifndef SMEFF_LLM_DIALECT_TABLES_H
#define SMEFF_LLM_DIALECT_TABLES_H

#include "llm/dialect.h"

#define TABLE(series_, ways_)                                                                      \
    .series = series_, .n_series = sizeof series_ / sizeof series_[0], .ways = ways_,              \
    .n_ways = sizeof ways_ / sizeof ways_[0]

extern const struct dialect dialect_vllm, dialect_sglang, dialect_llamacpp, dialect_tgi,
    dialect_trtllm, dialect_triton, dialect_lmdeploy, dialect_dynamo, dialect_dynamo_worker;

#endif
