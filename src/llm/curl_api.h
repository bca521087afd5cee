/* SPDX-License-Identifier: MIT */
/* libcurl, loaded when the first server is named: linked, it and the thirty libraries that it
 * brings would cost every smeff process 6 MiB and 8 ms. */
#ifndef SMEFF_LLM_CURL_API_H
#define SMEFF_LLM_CURL_API_H

#define CURL_DISABLE_TYPECHECK /* its macros cannot stand behind "->" */
#include <curl/curl.h>

#include "base/dl.h"

#define CURL_SYMBOLS(X)                                                                            \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)                                                                         \
    X(curl_multi_init)                                                                             \
    X(curl_multi_cleanup)                                                                          \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_perform)                                                                          \
    X(curl_multi_poll)                                                                             \
    X(curl_multi_info_read)                                                                        \
    X(curl_url)                                                                                    \
    X(curl_url_cleanup)                                                                            \
    X(curl_url_get)                                                                                \
    X(curl_url_set)                                                                                \
    X(curl_free)

struct curl_api {
#define FIELD(name) __typeof__(name) *name;
    CURL_SYMBOLS(FIELD)
#undef FIELD
};

/* Loads it once, and keeps it as long as the process lives. Errors as dl_open's, ERR_IO when it
 * cannot be started. */
enum status curl_api_get(const struct curl_api **out, struct error *err);

#endif
