/* SPDX-License-Identifier: MIT */
/* A request as the handlers see it, and their answer: nothing of the library that speaks HTTP. */
#ifndef SMEFF_HTTP_REQUEST_H
#define SMEFF_HTTP_REQUEST_H

#include <stdbool.h>

#include "http/blob.h"

enum http_door {
    HTTP_DOOR_WEB,  /* --listen */
    HTTP_DOOR_DCGM, /* --dcgm-listen */
};

/* NULL = the request has none. Nothing in it is unescaped. */
struct http_request {
    enum http_door door;
    bool on_loopback; /* it came to a loopback address */
    const char *method, *path;
    const char *host, *authorization, *accept_encoding;
    const char *hz, *gpu, *seconds, *columns; /* arguments behind the "?" */
    bool has_body;
};

struct http_answer {
    unsigned status;
    struct blob *body;        /* a reference, the receiver's; NULL: nothing could be made of it */
    const char *type;         /* Content-Type; static */
    const char *policy;       /* Content-Security-Policy; static */
    const char *allow;        /* NULL = no such header; static, as the next one */
    const char *authenticate; /* WWW-Authenticate */
    bool is_gzip, varies;     /* body is packed; it depends on Accept-Encoding */
    bool retry;               /* to be asked again a little later */
    unsigned stream_hz;       /* not 0: an event stream instead of a body */
};

#endif
