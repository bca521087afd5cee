/* SPDX-License-Identifier: MIT */
/* Any bytes from a client. The first byte says how: odd, as parts of a request for the handlers
 * (divided by NULs); even, as what a connection sends to the whole server. Every answer has one of
 * our codes and a body or a stream; nobody who shows no password sees a status. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collect/collect.h"
#include "http/auth.h"
#include "http/gate.h"
#include "http/listen.h"
#include "http/secret.h"
#include "http/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTS = 9, PART_SIZE = 600 };

static struct site *site;
static struct trace *trace;
static struct auth *auth;
static struct server *server;

static void make_text(void *self, const struct snapshot *s, struct buf *out)
{
    (void)self;
    (void)s;
    buf_puts(out, "secret_metric 1\n");
}

/* One GPU with one sample. */
static void feed(const struct event_sink *sink)
{
    static const struct plan_series series = {
        METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0};
    static const int64_t t0 = 1800000000 * INT64_C(1000000000), t1 = t0 + 20000000;
    static const uint32_t column = 0;
    static const double v = 0.5;
    const struct event events[] = {
        {.kind = EVENT_GPU, .u.gpu = {0, "H200", "GPU-0", "GH100", "0"}},
        {.kind = EVENT_PLAN, .u.plan = {0, SOURCE_PM, 50, 1, &series}},
        {.kind = EVENT_SAMPLES, .u.samples = {0, SOURCE_PM, 1, &t0, &t1, 1, &column, &v, 1}}};
    for (size_t i = 0; i < 3; i++)
        if (event_push(sink, &events[i], NULL))
            abort();
}

static void begin(void)
{
    static const struct site_ops ops = {make_text, make_text};
    struct collector *c = NULL;
    struct snapshot *s = NULL;
    if (collector_create(&c, NULL) || trace_create(&trace, NULL) ||
        site_create(&site, trace, "box", &ops, NULL, NULL) || auth_create(&auth, "key", NULL, NULL))
        abort();
    struct event_sink sinks[] = {collector_sink(c), trace_sink(trace)};
    feed(&sinks[0]);
    feed(&sinks[1]);
    if (collector_snapshot(c, &s, NULL))
        abort();
    site_take(site, s);
    site_tell(site, "");
    collector_destroy(c);
    const struct server_options options = {.auth = auth};
    if (server_open(&server, site, &options, NULL))
        server = NULL; /* no libmicrohttpd here: the handlers alone */
}

static bool is_ours(int code)
{
    static const int codes[] = {100, 200, 400, 401, 404, 405, 413,
                                414, 421, 431, 500, 501, 503, 505};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* ---- the handlers ---- */

static void check(const struct http_request *r, const struct http_answer *a)
{
    if (!is_ours((int)a->status) || !a->type || !a->policy || !a->body == !a->stream_hz)
        abort();
    if ((a->status == 405) != (a->allow != NULL))
        abort();
    if (a->is_gzip && !gate_accepts_gzip(r->accept_encoding))
        abort();
    if (a->stream_hz > 10)
        abort();
}

static void try_handlers(char (*part)[PART_SIZE], uint8_t flags)
{
    char decoded[PART_SIZE];
    const char *p[PARTS];
    struct http_answer a = {0};
    for (size_t i = 0; i < PARTS; i++)
        p[i] = part[i][0] ? part[i] : NULL;
    const struct http_request r = {.door = flags & 2 ? HTTP_DOOR_DCGM : HTTP_DOOR_WEB,
                                   .on_loopback = flags & 4,
                                   .has_body = flags & 8,
                                   .method = flags & 16 ? "GET" : part[0],
                                   .path = part[1],
                                   .host = p[2],
                                   .authorization = p[3],
                                   .accept_encoding = p[4],
                                   .hz = p[5],
                                   .gpu = p[6],
                                   .seconds = p[7],
                                   .columns = p[8]};
    if (!site_refuses(site, &r, &a))
        site_answer(site, &r, &a);
    check(&r, &a);
    blob_unref(a.body);
    if (auth_ask(auth, r.authorization, NULL, true) == AUTH_YES &&
        (!r.authorization || strcmp(r.authorization + strlen(r.authorization) - 3, "key") != 0))
        abort();
    (void)secret_decode(part[3], decoded, sizeof decoded);
    (void)listen_check("listen", part[2], NULL);
}

static void split(const uint8_t *data, size_t size, char (*part)[PART_SIZE])
{
    size_t i = 0, n = 0;
    for (size_t k = 0; k < size && i < PARTS; k++) {
        if (data[k] == '\0') {
            i++;
            n = 0;
        } else if (n + 1 < PART_SIZE) {
            part[i][n++] = (char)data[k];
        }
    }
}

/* ---- the server ---- */

static void look(const char *reply, bool has_key)
{
    int code = 0;
    if (*reply && (sscanf(reply, "HTTP/1.%*1[01] %d ", &code) != 1 || !is_ours(code)))
        abort();
    if (!has_key && (strstr(reply, "secret_metric") || strstr(reply, "\"schema\"")))
        abort();
}

static void try_server(const uint8_t *data, size_t size, uint8_t flags)
{
    static char reply[1 << 16];
    int ends[2];
    size_t n = 0;
    if (!server || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    server_admit(server, ends[1], flags & 2 ? HTTP_DOOR_DCGM : HTTP_DOOR_WEB);
    /* in two pieces: what is cut anywhere is the same request */
    size_t cut = size ? (size_t)(flags >> 3) * size / 32 : 0;
    if (send(ends[0], data, cut, MSG_NOSIGNAL) >= 0)
        server_step(server);
    if (send(ends[0], data + cut, size - cut, MSG_NOSIGNAL) >= 0 && (flags & 4))
        shutdown(ends[0], SHUT_WR);
    for (int i = 0; i < 6; i++) {
        server_step(server);
        ssize_t got = recv(ends[0], reply + n, sizeof reply - 1 - n, 0);
        n += got > 0 ? (size_t)got : 0;
    }
    reply[n] = '\0';
    look(reply, memmem(data, size, "key", 3) != NULL);
    close(ends[0]);
    server_step(server);
    server_step(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char part[PARTS][PART_SIZE];
    if (!site)
        begin();
    if (size == 0)
        return 0;
    if (data[0] & 1) {
        memset(part, 0, sizeof part);
        split(data + 1, size - 1, part);
        try_handlers(part, data[0]);
    } else {
        try_server(data + 1, size - 1, data[0]);
    }
    return 0;
}
