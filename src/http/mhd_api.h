/* SPDX-License-Identifier: MIT */
/* libmicrohttpd, loaded by the process that serves: linked, GnuTLS and what it brings would cost
 * every smeff process MiBs. Only server.c uses it. */
#ifndef SMEFF_HTTP_MHD_API_H
#define SMEFF_HTTP_MHD_API_H

#include <microhttpd.h>

#include "base/dl.h"

#define MHD_SYMBOLS(X)                                                                             \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(MHD_run)                                                                                     \
    X(MHD_get_timeout)                                                                             \
    X(MHD_get_daemon_info)                                                                         \
    X(MHD_add_connection)                                                                          \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_lookup_connection_value)                                                                 \
    X(MHD_create_response_from_buffer_with_free_callback)                                          \
    X(MHD_create_response_from_callback)                                                           \
    X(MHD_add_response_header)                                                                     \
    X(MHD_queue_response)                                                                          \
    X(MHD_destroy_response)                                                                        \
    X(MHD_suspend_connection)                                                                      \
    X(MHD_resume_connection)                                                                       \
    X(MHD_is_feature_supported)

struct mhd_api {
#define FIELD(name) __typeof__(name) *name;
    MHD_SYMBOLS(FIELD)
#undef FIELD
};

/* Loads it once, and keeps it as long as the process lives. Errors as dl_open's. */
enum status mhd_api_get(const struct mhd_api **out, struct error *err);

#endif
