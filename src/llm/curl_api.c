/* SPDX-License-Identifier: MIT */
#include "llm/curl_api.h"

#include <pthread.h>

static const struct dl_symbol symbols[] = {
#define REQUIRED(name) {#name, offsetof(struct curl_api, name), true},
    CURL_SYMBOLS(REQUIRED)
#undef REQUIRED
};

static struct curl_api api;
static struct dl_lib lib;
static enum status status;
static struct error error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    /* libcurl.so.4 has had the same interface since 2006; the second name is Debian's other build
     */
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
    status = dl_open(&lib, names, symbols, sizeof symbols / sizeof symbols[0], &api, &error);
    if (!status && api.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        status = fail(&error, ERR_IO, 0, "libcurl cannot be started");
    if (status)
        fail_wrap(&error, status, "servers cannot be asked without libcurl");
}

enum status curl_api_get(const struct curl_api **out, struct error *err)
{
    pthread_once(&once, load);
    if (status)
        return fail(err, status, error.native, "%s", error.text);
    *out = &api;
    return OK;
}
