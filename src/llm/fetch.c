/* SPDX-License-Identifier: MIT */
#include "llm/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/str.h"
#include "llm/curl_api.h"
#include "llm/http_reason.h"
#include "llm/slice.h"

/* Set before the first fetcher is made. */
static const struct curl_api *api;

struct transfer {
    CURL *easy;
    struct curl_slist *headers;
    struct target target;
    struct buf body;
    struct fetch_result result;
    char error[CURL_ERROR_SIZE];
    int64_t began_ns, answered_ns; /* monotonic; answered 0 = not yet */
    int deadline_ms;
    size_t body_max;
    unsigned redirects;
    bool busy, too_large, encoded, has_key;
};

struct fetcher {
    CURLM *multi;
    struct transfer **list; /* owned; each stays where it is, since curl holds its address */
    size_t n;
    int deadline_ms; /* of what is added */
    size_t body_max;
};

/* ---- what curl calls ---- */

static size_t take_body(char *data, size_t size, size_t n, void *self)
{
    struct transfer *t = self;
    size_t len = size * n;
    /* Counted here: CURLOPT_MAXFILESIZE_LARGE did not stop a transfer of unknown length before
     * 8.4.0 (https://curl.se/libcurl/c/CURLOPT_MAXFILESIZE_LARGE.html). */
    t->too_large = t->body.len + len > t->body_max;
    if (t->too_large || t->encoded)
        return 0;
    buf_add(&t->body, data, len);
    return t->body.failed ? 0 : len;
}

/* The value of a header line when it has that name. */
static bool header_value(struct slice line, const char *name, struct slice *value)
{
    size_t n = strlen(name);
    if (line.n <= n || strncasecmp(line.s, name, n) != 0 || line.s[n] != ':')
        return false;
    const char *p = line.s + n + 1, *end = line.s + line.n;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    *value = (struct slice){p, (size_t)(end - p)};
    return true;
}

static size_t take_header(char *data, size_t size, size_t n, void *self)
{
    struct transfer *t = self;
    struct slice line = {data, size * n}, value;
    if (t->answered_ns == 0) {
        t->answered_ns = clock_monotonic_ns();
        t->result.unix_ns = clock_unix_ns();
    }
    if (header_value(line, "Content-Encoding", &value))
        t->encoded = value.n && !slice_is(value, "identity");
    if (header_value(line, "Process-Start-Time-Unix", &value))
        str_clean(t->result.start_mark, sizeof t->result.start_mark, value.s, value.n);
    return line.n;
}

/* ---- one server ---- */

static void transfer_destroy(struct transfer *t)
{
    if (!t)
        return;
    api->curl_easy_cleanup(t->easy);
    api->curl_slist_free_all(t->headers);
    buf_fini(&t->body);
    free(t);
}

static bool add_header(struct transfer *t, const char *line)
{
    struct curl_slist *longer = api->curl_slist_append(t->headers, line);
    t->headers = longer ? longer : t->headers;
    return longer;
}

/* text/plain alone: with an OpenMetrics answer prometheus_client wrote other names
 * (https://github.com/prometheus/client_python/issues/1180). */
static bool set_headers(struct transfer *t, const char *token)
{
    char line[4096];
    if (!add_header(t, "Accept: text/plain;version=0.0.4"))
        return false;
    t->has_key = token != NULL;
    if (!token)
        return true;
    int n = snprintf(line, sizeof line, "Authorization: Bearer %s", token);
    bool ok = n > 0 && (size_t)n < sizeof line && add_header(t, line);
    explicit_bzero(line, sizeof line);
    return ok;
}

static bool set_protocols(CURL *e)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    return api->curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    return api->curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) ==
           CURLE_OK;
#endif
}

/* Without it, giving up on a host whose name is still being looked up waits for the look-up. A
 * library older than the option does not know it. */
static void set_quick_exit(CURL *e)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    (void)api->curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)e;
#endif
}

/* The certificates to trust, under the names that the curl command has for them; libcurl itself
 * knows neither. Without them it is the system's. */
static bool set_certificates(CURL *e)
{
    const char *file = getenv("CURL_CA_BUNDLE");
    if (!file || !*file)
        file = getenv("SSL_CERT_FILE");
    return !file || !*file || api->curl_easy_setopt(e, CURLOPT_CAINFO, file) == CURLE_OK;
}

static bool set_options(struct transfer *t)
{
    CURL *e = t->easy;
    set_quick_exit(e);
    return api->curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK && set_protocols(e) &&
           set_certificates(e) &&
           api->curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_USERAGENT, "smeff/" SMEFF_VERSION) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)t->deadline_ms) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_WRITEDATA, t) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_HEADERDATA, t) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error) == CURLE_OK &&
           api->curl_easy_setopt(e, CURLOPT_PRIVATE, t) == CURLE_OK &&
           /* a proxy of the environment has no business between us and this machine, and would see
            * a key that is not encrypted */
           (!(t->target.is_loopback || (t->has_key && strncmp(t->target.url, "http:", 5) == 0)) ||
            api->curl_easy_setopt(e, CURLOPT_NOPROXY, "*") == CURLE_OK) &&
           (!*t->target.unix_socket ||
            api->curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, t->target.unix_socket) == CURLE_OK);
}

static struct transfer *transfer_create(const struct fetcher *f, const struct target *target,
                                        const char *token)
{
    struct transfer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->target = *target;
    t->deadline_ms = f->deadline_ms;
    t->body_max = f->body_max;
    t->result.state = VALUE_WARMING;
    snprintf(t->result.reason, sizeof t->result.reason, "not asked yet");
    t->easy = api->curl_easy_init();
    if (!t->easy || !set_headers(t, token) || !set_options(t)) {
        transfer_destroy(t);
        return NULL;
    }
    return t;
}

/* ---- the end of a request ---- */

static void conclude(struct transfer *t, enum value_state state, const char *reason)
{
    t->result.state = state;
    str_clean(t->result.reason, sizeof t->result.reason, reason, strlen(reason));
}

/* libcurl's own text names the host of the URL, with which a socket has nothing to do. */
static void explain_socket(const struct transfer *t, char *dst, size_t size)
{
    long why = 0;
    api->curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &why);
    snprintf(dst, size, "nobody answers at %s%s%s", t->target.unix_socket, why ? ": " : "",
             why ? strerror((int)why) : "");
}

static void conclude_error(struct transfer *t, CURLcode code)
{
    char text[2 * CURL_ERROR_SIZE];
    const char *detail = *t->error ? t->error : api->curl_easy_strerror(code);
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        snprintf(text, sizeof text,
                 t->answered_ns ? "did not end its answer within %d ms" : "no answer within %d ms",
                 t->deadline_ms);
        break;
    case CURLE_COULDNT_CONNECT:
        t->result.is_absent = true;
        if (t->target.unix_socket[0])
            explain_socket(t, text, sizeof text);
        else
            snprintf(text, sizeof text, "nobody answers there: %s", detail);
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
        snprintf(text, sizeof text, "TLS: %s", detail);
        break;
    case CURLE_WRITE_ERROR:
        if (t->too_large)
            snprintf(text, sizeof text, "the answer is larger than %zu MiB", t->body_max >> 20);
        else
            snprintf(text, sizeof text, "%s",
                     t->encoded ? "the answer is compressed, though that was not asked for"
                                : "out of memory");
        break;
    default:
        snprintf(text, sizeof text, "%s", detail);
    }
    conclude(t, VALUE_FAILED, text);
}

/* Follows a redirect on the same origin; false when there is none to follow. */
static bool redirect(struct transfer *t, long status)
{
    char *url = NULL;
    struct target next;
    if (status < 300 || status >= 400 ||
        api->curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &url) || !url)
        return false;
    if (target_parse(url, &next, NULL)) {
        conclude(t, VALUE_FAILED, "redirects to what is no web address");
        return false;
    }
    memcpy(next.unix_socket, t->target.unix_socket, sizeof next.unix_socket);
    memcpy(next.shown, t->target.shown, sizeof next.shown);
    if (!target_same_origin(&t->target, &next))
        conclude(t, VALUE_FAILED, "redirects to another server, which is not followed");
    else if (++t->redirects > FETCH_REDIRECTS_MAX)
        conclude(t, VALUE_FAILED, "redirects in a circle");
    else {
        memcpy(t->target.url, next.url, sizeof next.url);
        return true;
    }
    return false;
}

static bool start(struct fetcher *f, struct transfer *t)
{
    buf_clear(&t->body);
    t->too_large = t->encoded = false;
    t->error[0] = '\0';
    t->answered_ns = 0;
    long left = t->deadline_ms - (long)((clock_monotonic_ns() - t->began_ns) / 1000000);
    return api->curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, left > 1 ? left : 1L) == CURLE_OK &&
           api->curl_easy_setopt(t->easy, CURLOPT_URL, t->target.url) == CURLE_OK &&
           api->curl_multi_add_handle(f->multi, t->easy) == CURLM_OK;
}

static void finish(struct fetcher *f, struct transfer *t, CURLcode code)
{
    long status = 0;
    api->curl_multi_remove_handle(f->multi, t->easy);
    api->curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->result.status = (int)status;
    t->result.mono_ns = t->answered_ns;
    t->result.seconds = (double)(clock_monotonic_ns() - t->began_ns) * 1e-9;
    conclude(t, VALUE_OK, "");
    if (code != CURLE_OK) {
        conclude_error(t, code);
    } else if (status != 200) {
        if (redirect(t, status)) {
            if (start(f, t))
                return;
            conclude(t, VALUE_FAILED, "the redirect could not be followed");
        } else if (t->result.state == VALUE_OK) {
            char text[VALUE_REASON_SIZE];
            const struct slice body = {buf_str(&t->body), t->body.len};
            enum value_state state = http_reason(text, sizeof text, (int)status, body);
            conclude(t, state, text);
        }
    }
    t->busy = false;
}

/* ---- all of them ---- */

enum status fetcher_create(struct fetcher **out, struct error *err)
{
    enum status st = curl_api_get(&api, err);
    struct fetcher *f = st ? NULL : calloc(1, sizeof *f);
    if (!f)
        return st ? st : fail(err, ERR_NOMEM, 0, "out of memory");
    if (!(f->multi = api->curl_multi_init())) {
        free(f);
        return fail(err, ERR_IO, 0, "libcurl cannot be used");
    }
    fetcher_limit(f, FETCH_DEADLINE_MS, FETCH_BODY_MAX);
    *out = f;
    return OK;
}

void fetcher_limit(struct fetcher *f, int deadline_ms, size_t body_max)
{
    f->deadline_ms = deadline_ms;
    f->body_max = body_max;
}

void fetcher_destroy(struct fetcher *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++) {
        if (f->list[i]->busy)
            api->curl_multi_remove_handle(f->multi, f->list[i]->easy);
        transfer_destroy(f->list[i]);
    }
    api->curl_multi_cleanup(f->multi);
    free(f->list);
    free(f);
}

enum status fetcher_add(struct fetcher *f, const struct target *target, const char *token,
                        size_t *index, struct error *err)
{
    struct transfer **longer = realloc(f->list, (f->n + 1) * sizeof *longer);
    if (!longer)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    f->list = longer;
    struct transfer *t = transfer_create(f, target, token);
    if (!t)
        return fail(err, ERR_NOMEM, 0, "no memory for a request");
    *index = f->n;
    f->list[f->n++] = t;
    return OK;
}

void fetcher_remove(struct fetcher *f, size_t index)
{
    struct transfer *t = f->list[index];
    if (t->busy)
        api->curl_multi_remove_handle(f->multi, t->easy);
    transfer_destroy(t);
    f->n--;
    memmove(&f->list[index], &f->list[index + 1], (f->n - index) * sizeof f->list[0]);
}

void fetcher_change(struct fetcher *f, size_t index, const struct target *t)
{
    f->list[index]->target = *t;
}

enum status fetcher_begin(struct fetcher *f, size_t index, struct error *err)
{
    struct transfer *t = f->list[index];
    if (t->busy)
        return OK;
    t->result = (struct fetch_result){.state = VALUE_WARMING, .reason = "asked, no answer yet"};
    t->redirects = 0;
    t->began_ns = clock_monotonic_ns();
    t->busy = start(f, t);
    return t->busy ? OK : fail(err, ERR_IO, 0, "%s: cannot be asked", t->target.shown);
}

size_t fetcher_step(struct fetcher *f, int timeout_ms)
{
    int running = 0, waiting = 0;
    api->curl_multi_perform(f->multi, &running);
    if (running && timeout_ms > 0) {
        api->curl_multi_poll(f->multi, NULL, 0, timeout_ms, NULL);
        api->curl_multi_perform(f->multi, &running);
    }
    for (CURLMsg *m; (m = api->curl_multi_info_read(f->multi, &waiting));) {
        char *self = NULL;
        CURLcode code = m->data.result;
        if (m->msg != CURLMSG_DONE)
            continue;
        api->curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &self);
        finish(f, (struct transfer *)(void *)self, code);
    }
    size_t busy = 0;
    for (size_t i = 0; i < f->n; i++)
        busy += f->list[i]->busy;
    return busy;
}

bool fetcher_is_busy(const struct fetcher *f, size_t index)
{
    return f->list[index]->busy;
}

const struct fetch_result *fetcher_result(const struct fetcher *f, size_t index)
{
    struct transfer *t = f->list[index];
    t->result.body = &t->body;
    return &t->result;
}
