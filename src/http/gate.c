/* SPDX-License-Identifier: MIT */
#include "http/gate.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char nothing[] = "default-src 'none'; frame-ancestors 'none'";

void answer_text(struct http_answer *out, unsigned status, const char *line)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%s\n", line);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    *out = (struct http_answer){.status = status,
                                .body = blob_make(text, len),
                                .type = "text/plain; charset=utf-8",
                                .policy = nothing};
}

/* ---- Host ---- */

/* The host of "host:port", "[v6]:port" or "host" without its port; false: it is none. */
static bool cut_port(const char *host, char *dst, size_t size)
{
    bool in_brackets = *host == '[';
    const char *from = host + in_brackets;
    size_t n = strcspn(from, in_brackets ? "]" : ":");
    const char *rest = from + n + in_brackets;
    if (n == 0 || n >= size || (in_brackets && from[n] != ']') ||
        (*rest && (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1))))
        return false;
    memcpy(dst, from, n);
    dst[n] = '\0';
    return true;
}

static bool is_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static bool is_ours(const char *host, const char *this_host)
{
    size_t short_len = strcspn(this_host, "."), n = strlen(host);
    if (n && host[n - 1] == '.') /* the root of all names */
        n--;
    return (n == strlen("localhost") && strncasecmp(host, "localhost", n) == 0) ||
           (n == strlen(this_host) && n && strncasecmp(host, this_host, n) == 0) ||
           (n == short_len && n && strncasecmp(host, this_host, n) == 0);
}

static bool is_foreign(const struct http_request *r, const char *this_host)
{
    char host[256];
    if (!r->on_loopback || !r->host) /* without: HTTP/1.0, which no browser speaks */
        return false;
    return !cut_port(r->host, host, sizeof host) ||
           (!is_address(host) && !is_ours(host, this_host));
}

/* ---- the gate ---- */

bool gate_refuses(const struct http_request *r, const char *this_host, struct http_answer *out)
{
    if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0) {
        answer_text(out, 405, "only GET and HEAD");
        out->allow = "GET, HEAD";
        return true;
    }
    if (r->has_body) {
        answer_text(out, 413, "nothing here takes a body");
        return true;
    }
    if (is_foreign(r, this_host)) {
        answer_text(out, 421,
                    "on loopback this is served to localhost, to addresses and to this host's "
                    "name, not to the name in the request");
        return true;
    }
    return false;
}

bool gate_is_open(const struct http_request *r)
{
    return strcmp(r->path, r->door == HTTP_DOOR_DCGM ? "/health" : "/healthz") == 0;
}

/* ---- gzip ---- */

/* "q=0", "q=0.0": refused. */
static bool is_zero(const char *parameters, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if ((parameters[i] == 'q' || parameters[i] == 'Q') && parameters[i + 1] == '=')
            return strspn(parameters + i + 2, "0.") >= n - i - 2 && n - i - 2 > 0;
    return false;
}

bool gate_accepts_gzip(const char *accept_encoding)
{
    for (const char *p = accept_encoding; p && *p;) {
        p += strspn(p, " \t,");
        size_t item = strcspn(p, ","), name = strcspn(p, " \t;,");
        bool is_gzip = (name == 4 && strncasecmp(p, "gzip", 4) == 0) ||
                       (name == 6 && strncasecmp(p, "x-gzip", 6) == 0);
        size_t end = item;
        while (end > name && (p[end - 1] == ' ' || p[end - 1] == '\t'))
            end--;
        if (is_gzip)
            return !is_zero(p + name, end - name);
        p += item;
    }
    return false;
}
