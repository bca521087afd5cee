/* SPDX-License-Identifier: MIT */
#include "llm/http_reason.h"

#include <stdio.h>

static bool says(struct slice body, const char *word)
{
    return memmem(body.s, body.n, word, strlen(word)) != NULL;
}

enum value_state http_reason(char *dst, size_t size, int status, struct slice body)
{
    switch (status) {
    case 400:
        snprintf(
            dst, size,
            "HTTP 400: a router of llama.cpp wants ?model=NAME, which loads that model when it "
            "is not; name such a URL only for a loaded one");
        return VALUE_UNSUPPORTED;
    case 401:
    case 403:
        snprintf(dst, size,
                 "HTTP %d: the server wants a key, or another one: --token-file, or SMEFF_TOKEN",
                 status);
        return VALUE_NO_PERMISSION;
    case 404:
        snprintf(dst, size,
                 "HTTP 404: no metrics there. SGLang has them with --enable-metrics, older "
                 "LMDeploy too; behind a proxy the path may be another");
        return VALUE_UNSUPPORTED;
    case 501:
        snprintf(dst, size,
                 "HTTP 501: metrics are off; start llama-server with --metrics "
                 "(or LLAMA_ARG_ENDPOINT_METRICS=1)");
        return VALUE_UNSUPPORTED;
    case 503:
        if (says(body, "oading")) {
            snprintf(dst, size, "HTTP 503: the server still loads its model");
            return VALUE_WARMING;
        }
        snprintf(dst, size, "HTTP 503: unavailable; mistral.rs says so with --disable-metrics");
        return VALUE_UNSUPPORTED;
    default:
        snprintf(dst, size, "HTTP %d", status);
        return VALUE_FAILED;
    }
}
