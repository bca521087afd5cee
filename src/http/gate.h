/* SPDX-License-Identifier: MIT */
/* What is refused before anybody looks at the path. */
#ifndef SMEFF_HTTP_GATE_H
#define SMEFF_HTTP_GATE_H

#include "http/request.h"

/* Fills *out with an answer of plain text: one line. Its body may be NULL. */
void answer_text(struct http_answer *out, unsigned status, const char *line);

/* Other methods than GET and HEAD, requests with a body, and, on loopback, a foreign name as Host:
 * a web page can make its own name point to 127.0.0.1 and would read what is served there (DNS
 * rebinding). this_host: this machine's name. true: refused, *out is filled. */
bool gate_refuses(const struct http_request *r, const char *this_host, struct http_answer *out);

/* Is this path served without a password? */
bool gate_is_open(const struct http_request *r);

/* Does Accept-Encoding (may be NULL) allow gzip? */
bool gate_accepts_gzip(const char *accept_encoding);

#endif
