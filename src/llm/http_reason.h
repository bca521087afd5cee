/* SPDX-License-Identifier: MIT */
/* What an HTTP status other than 200 means for somebody who wants metrics. */
#ifndef SMEFF_LLM_HTTP_REASON_H
#define SMEFF_LLM_HTTP_REASON_H

#include "llm/slice.h"
#include "metric/value.h"

/* Writes the reason in words, with what to do where that is known. body: what the server said. */
enum value_state http_reason(char *dst, size_t size, int status, struct slice body);

#endif
