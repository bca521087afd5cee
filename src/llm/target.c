/* SPDX-License-Identifier: MIT */
#include "llm/target.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "llm/curl_api.h"

static const char default_path[] = "/metrics";

/* The parts of a URL that matter here; owned by curl. */
struct parts {
    char *scheme, *host, *port, *path, *query;
};

static void parts_fini(const struct curl_api *api, struct parts *p)
{
    api->curl_free(p->scheme);
    api->curl_free(p->host);
    api->curl_free(p->port);
    api->curl_free(p->path);
    api->curl_free(p->query);
    *p = (struct parts){0};
}

static enum status parts_get(const struct curl_api *api, CURLU *u, struct parts *p,
                             struct error *err)
{
    char *user = NULL, *password = NULL;
    api->curl_url_get(u, CURLUPART_USER, &user, 0);
    api->curl_url_get(u, CURLUPART_PASSWORD, &password, 0);
    bool has_secret = user || password;
    api->curl_free(user);
    api->curl_free(password);
    if (has_secret) /* and the URL is not repeated */
        return fail(err, ERR_USAGE, 0, "a URL must not have a user or a password");
    if (api->curl_url_get(u, CURLUPART_SCHEME, &p->scheme, 0) ||
        api->curl_url_get(u, CURLUPART_HOST, &p->host, 0) ||
        api->curl_url_get(u, CURLUPART_PORT, &p->port, CURLU_DEFAULT_PORT) ||
        api->curl_url_get(u, CURLUPART_PATH, &p->path, 0))
        return fail(err, ERR_USAGE, 0, "not a URL of a server");
    api->curl_url_get(u, CURLUPART_QUERY, &p->query, 0);
    if (strcmp(p->scheme, "http") != 0 && strcmp(p->scheme, "https") != 0)
        return fail(err, ERR_USAGE, 0, "%s: only http, https and unix: are known", p->scheme);
    return OK;
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    char bare[64];
    size_t n = strlen(host);
    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (n < 2 || n >= sizeof bare || host[0] != '[')
        return false;
    memcpy(bare, host + 1, n - 2);
    bare[n - 2] = '\0';
    return inet_pton(AF_INET6, bare, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* FNV-1a: tells queries apart without showing them. */
static unsigned mark_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static enum status fill(struct target *t, const struct parts *p, struct error *err)
{
    /* what clients of the API are given: the metrics stand beside it */
    bool is_api = strcmp(p->path, "/v1") == 0 || strcmp(p->path, "/v1/") == 0;
    t->has_path = (strcmp(p->path, "/") != 0 && !is_api) || p->query;
    t->is_loopback = is_loopback(p->host);
    const char *path = t->has_path ? p->path : default_path;
    int n = snprintf(t->url, sizeof t->url, "%s://%s:%s%s%s%s", p->scheme, p->host, p->port, path,
                     p->query ? "?" : "", p->query ? p->query : "");
    if (n < 0 || (size_t)n >= sizeof t->url)
        return fail(err, ERR_USAGE, 0, "the URL is too long");
    char shown[TARGET_URL_SIZE];
    int length = snprintf(shown, sizeof shown, "%.*s", (int)strcspn(t->url, "?"), t->url);
    if (p->query) /* may hold a secret, but two places must not have one name */
        snprintf(shown + length, sizeof shown - (size_t)length, "?#%08x", mark_of(p->query));
    str_clean(t->shown, sizeof t->shown, shown, strlen(shown));
    return OK;
}

static enum status parse_url(const char *text, struct target *t, struct error *err)
{
    struct parts p = {0};
    const struct curl_api *api = NULL;
    enum status st = curl_api_get(&api, err);
    CURLU *u = st ? NULL : api->curl_url();
    if (!u)
        return st ? st : fail(err, ERR_NOMEM, 0, "out of memory");
    if (api->curl_url_set(u, CURLUPART_URL, text, CURLU_DEFAULT_SCHEME | CURLU_NON_SUPPORT_SCHEME))
        st = fail(err, ERR_USAGE, 0, "not a URL of a server");
    if (!st)
        st = parts_get(api, u, &p, err);
    if (!st)
        st = fill(t, &p, err);
    parts_fini(api, &p);
    api->curl_url_cleanup(u);
    return st;
}

/* "8080" or "0x7f.1": curl and the system take such for an address, 8080 for 0.0.31.144. A person
 * meant a port, and the key must not go to a stranger. */
static bool is_odd_number(const char *host, size_t n)
{
    char text[64];
    struct in_addr v4;
    if (n == 0 || n >= sizeof text)
        return false;
    memcpy(text, host, n);
    text[n] = '\0';
    const char *last = strrchr(text, '.') ? strrchr(text, '.') + 1 : text;
    return *last >= '0' && *last <= '9' && inet_pton(AF_INET, text, &v4) != 1;
}

static enum status check_host(const char *text, struct error *err)
{
    const char *scheme = strstr(text, "://"), *host = scheme ? scheme + 3 : text;
    size_t n = strcspn(host, ":/?#");
    if (!is_odd_number(host, n))
        return OK;
    return fail(err, ERR_USAGE, 0, "\"%.*s\" is no host: a port of this machine is localhost:%.*s",
                (int)n, host, (int)n, host);
}

/* curl guesses a scheme from the host's name ("ftp.example"); here it is http. */
static enum status parse_tcp(const char *text, struct target *t, struct error *err)
{
    char full[TARGET_URL_SIZE];
    const char *scheme = strstr(text, "://") ? "" : "http://";
    int n = snprintf(full, sizeof full, "%s%s", scheme, text);
    if (n < 0 || (size_t)n >= sizeof full)
        return fail(err, ERR_USAGE, 0, "the URL is too long");
    enum status st = check_host(text, err);
    return st ? st : parse_url(full, t, err);
}

static enum status parse_unix(const char *text, struct target *t, struct error *err)
{
    const char *path = strstr(text, ":/");
    size_t n = path ? (size_t)(path - text) : strlen(text);
    char url[TARGET_URL_SIZE];
    if (n == 0 || text[0] != '/' || n >= sizeof t->unix_socket)
        return fail(err, ERR_USAGE, 0,
                    "unix: wants the path of a socket, from / on, of at most %d bytes",
                    TARGET_SOCKET_SIZE - 1);
    snprintf(url, sizeof url, "http://localhost%s", path ? path + 1 : "");
    enum status st = parse_url(url, t, err);
    if (st)
        return st;
    memcpy(t->unix_socket, text, n);
    t->unix_socket[n] = '\0';
    char shown[TARGET_URL_SIZE];
    snprintf(shown, sizeof shown, "unix:%s%s%s", t->unix_socket, path ? ":" : "",
             path ? path + 1 : "");
    str_clean(t->shown, sizeof t->shown, shown, strlen(shown));
    return OK;
}

enum status target_parse(const char *text, struct target *out, struct error *err)
{
    struct target t = {0};
    enum status st =
        strncmp(text, "unix:", 5) == 0 ? parse_unix(text + 5, &t, err) : parse_tcp(text, &t, err);
    if (!st)
        *out = t;
    return st;
}

/* How many bytes of a URL are scheme, host and port. */
static size_t origin_length(const char *url)
{
    const char *host = strstr(url, "://");
    return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : strlen(url);
}

enum status target_with_path(const struct target *t, const char *path, struct target *out,
                             struct error *err)
{
    char url[TARGET_URL_SIZE];
    int n = snprintf(url, sizeof url, "%.*s%s", (int)origin_length(t->url), t->url, path);
    struct target other = {0};
    if (n < 0 || (size_t)n >= sizeof url)
        return fail(err, ERR_USAGE, 0, "the URL is too long");
    enum status st = parse_url(url, &other, err);
    if (st)
        return st;
    memcpy(other.unix_socket, t->unix_socket, sizeof other.unix_socket);
    if (*t->unix_socket) {
        char shown[TARGET_URL_SIZE + TARGET_SOCKET_SIZE];
        snprintf(shown, sizeof shown, "unix:%s:%s", t->unix_socket, path);
        str_clean(other.shown, sizeof other.shown, shown, strlen(shown));
    }
    *out = other;
    return OK;
}

bool target_same_origin(const struct target *a, const struct target *b)
{
    size_t n = origin_length(a->url);
    return n == origin_length(b->url) && memcmp(a->url, b->url, n) == 0 &&
           strcmp(a->unix_socket, b->unix_socket) == 0;
}
