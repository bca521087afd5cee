/* SPDX-License-Identifier: MIT */
/* smeff http: the hidden command that is the daemon's HTTP side. A viewer like any other, it keeps
 * what it hears and serves it; it has no privilege, and nobody waits for it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/exporter.h"
#include "cmd/interrupt.h"
#include "cmd/token.h"
#include "collect/collect.h"
#include "collect/frames.h"
#include "collect/totals.h"
#include "daemon/client.h"
#include "event/pipe.h"
#include "http/pem.h"
#include "http/privileges.h"
#include "http/server.h"
#include "show/dcgm.h"
#include "show/prometheus.h"

/* READ: bytes of the stream between two looks at clients: ten minutes of eight GPUs are 60 MB. */
enum { HISTORY_S = 600, READ_BYTES = 256 << 10, FIRST_FD = 3, RATES = 4 };

static const int64_t s1 = INT64_C(1000000000);

/* Samples that are so old are history, not the present. */
static const int64_t behind_ns = INT64_C(2000000000);

/* Who hears nothing for so long is not well. */
static const int64_t silence_ns = INT64_C(10000000000);

/* Frames of one rate. */
struct rate {
    unsigned hz;
    struct frames *frames;
    int64_t due_ns;
};

struct web {
    struct event_pipe pipe;
    int fd; /* the daemon's stream */
    struct collector *collector;
    struct trace *trace;
    struct totals *totals;
    enum dcgm_names names;
    char host[256];
    struct rate rates[RATES];
    struct site *site;
    struct auth *auth;
    struct server *server;
    int64_t tick_ns, heard_ns; /* monotonic */
    int64_t rolled_ns;         /* of the stream */
    bool is_present, closed, ended;
};

/* ---- events ---- */

/* While ten minutes come at once, windows go by the stream's own time. */
static void roll_history(struct web *w)
{
    int64_t t_ns = trace_newest_ns(w->trace);
    if (clock_unix_ns() - t_ns < behind_ns)
        w->is_present = true;
    if (w->is_present || (t_ns >= w->rolled_ns && t_ns - w->rolled_ns < s1))
        return;
    collector_roll(w->collector, 1);
    w->rolled_ns = t_ns;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct web *w = self;
    const struct event_sink collector = collector_sink(w->collector), trace = trace_sink(w->trace),
                            totals = totals_sink(w->totals);
    w->ended |= ev->kind == EVENT_END;
    enum status st = event_push(&collector, ev, err);
    if (!st)
        st = event_push(&trace, ev, err);
    if (!st)
        st = event_push(&totals, ev, err);
    if (ev->kind == EVENT_SAMPLES)
        roll_history(w);
    for (size_t i = 0; !st && i < RATES && (w->is_present || ev->kind == EVENT_PLAN); i++) {
        const struct event_sink frames = frames_sink(w->rates[i].frames);
        st = event_push(&frames, ev, err);
    }
    return st;
}

static enum status read_stream(struct web *w, struct error *err)
{
    const struct event_sink sink = {take, w};
    bool heard = false;
    enum status st = event_pipe_read(&w->pipe, w->fd, &sink, &heard, &w->closed, err);
    if (heard)
        w->heard_ns = clock_monotonic_ns();
    if (!st && w->closed && !w->ended)
        return fail(err, ERR_IO, 0, "the daemon closed the stream");
    return st;
}

/* ---- once a second ---- */

static void tell_health(struct web *w)
{
    char reason[100] = "";
    double silent_s = (double)(clock_monotonic_ns() - w->heard_ns) * 1e-9;
    if (!w->is_present)
        snprintf(reason, sizeof reason, "no sample of the present has come yet");
    if (silent_s * 1e9 > (double)silence_ns)
        snprintf(reason, sizeof reason, "the daemon has said nothing for %.0f s", silent_s);
    site_tell(w->site, reason);
}

static enum status tick(struct web *w, struct error *err)
{
    struct snapshot *fresh = NULL;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns < w->tick_ns)
        return OK;
    w->tick_ns += s1;
    if (w->tick_ns < now_ns) /* the machine slept */
        w->tick_ns = now_ns + s1;
    if (write(STDOUT_FILENO, ".", 1) < 0 && errno == EPIPE)
        return fail(err, ERR_IO, 0, "the daemon has gone");
    if (w->is_present)
        collector_roll(w->collector, 1);
    enum status st = collector_snapshot(w->collector, &fresh, err);
    if (st)
        return st;
    tell_health(w);
    site_take(w->site, fresh);
    if (server_streams(w->server, 0)) {
        struct blob *status = site_status_event(w->site);
        if (status)
            server_send(w->server, 0, status);
        blob_unref(status);
    }
    return OK;
}

/* ---- frames ---- */

static void send_frames(struct web *w)
{
    int64_t now_ns = clock_monotonic_ns();
    for (size_t i = 0; i < RATES; i++) {
        struct rate *r = &w->rates[i];
        if (now_ns < r->due_ns)
            continue;
        r->due_ns += s1 / r->hz;
        if (r->due_ns < now_ns)
            r->due_ns = now_ns + s1 / r->hz;
        struct blob *frame = server_streams(w->server, r->hz) ? site_frame_event(r->frames) : NULL;
        if (frame)
            server_send(w->server, r->hz, frame);
        blob_unref(frame);
        frames_clear(r->frames);
    }
}

/* ---- the loop ---- */

static void wait(struct web *w)
{
    struct waits waits;
    int64_t due_ns = w->tick_ns;
    for (size_t i = 0; i < RATES; i++)
        if (server_streams(w->server, w->rates[i].hz) && w->rates[i].due_ns < due_ns)
            due_ns = w->rates[i].due_ns;
    waits_init(&waits, 1000);
    waits_within(&waits, (due_ns - clock_monotonic_ns() + 999999) / 1000000);
    waits_add(&waits, w->closed ? -1 : w->fd, POLLIN);
    server_waits(w->server, &waits);
    waits_poll(&waits);
}

static enum status loop(struct web *w, struct error *err)
{
    enum status st = OK;
    w->tick_ns = w->heard_ns = clock_monotonic_ns();
    while (!st && !w->ended && !interrupt_raised()) {
        wait(w);
        st = read_stream(w, err);
        if (!st)
            st = tick(w, err);
        send_frames(w);
        server_step(w->server);
    }
    return st;
}

/* ---- texts for scrapers ---- */

/* Its stream lives as long as it does: without it, it ends. A daemon that hangs is not up. */
static bool is_up(const struct web *w)
{
    return w->is_present && clock_monotonic_ns() - w->heard_ns < silence_ns;
}

static void write_metrics(void *self, const struct snapshot *s, struct buf *out)
{
    struct web *w = self;
    struct show_exporter e;
    exporter_read(&e);
    e.is_up = is_up(w);
    show_prometheus(out, s, w->totals, &e);
}

static void write_dcgm(void *self, const struct snapshot *s, struct buf *out)
{
    struct web *w = self;
    if (is_up(w))
        show_dcgm(out, s, w->totals, w->names, w->host);
}

/* ---- opening ---- */

static enum status connect_daemon(struct web *w, const char *run_dir, struct error *err)
{
    char request[64];
    enum status st = client_connect(&w->fd, run_dir, NULL, err);
    if (st)
        return st;
    snprintf(request, sizeof request, "events %d", HISTORY_S);
    st = client_say(w->fd, request, err);
    fcntl(w->fd, F_SETFL, O_NONBLOCK);
    return st;
}

static enum status make_rates(struct web *w, struct error *err)
{
    static const unsigned hz[RATES] = {1, 2, 5, 10};
    enum status st = OK;
    for (size_t i = 0; !st && i < RATES; i++) {
        w->rates[i].hz = hz[i];
        st = frames_create(&w->rates[i].frames, err);
    }
    return st;
}

/* What only the daemon's user may read is read before that is given up. */
static enum status make_auth(struct web *w, const struct options *o, struct error *err)
{
    char token[TOKEN_SIZE] = "";
    enum status st = o->web_token ? token_read(o->web_token, token, err) : OK;
    if (!st)
        st = auth_create(&w->auth, token, o->web_users, err);
    explicit_bzero(token, sizeof token);
    return st;
}

static enum status make_server(struct web *w, const struct options *o, struct error *err)
{
    struct buf cert = BUF_INIT, key = BUF_INIT;
    enum status st = o->tls_cert ? pem_read(&cert, "tls-cert", o->tls_cert, err) : OK;
    if (!st && o->tls_key)
        st = pem_read(&key, "tls-key", o->tls_key, err);
    const struct server_options options = {.cert = o->tls_cert ? buf_str(&cert) : NULL,
                                           .key = o->tls_key ? buf_str(&key) : NULL,
                                           .auth = w->auth};
    if (!st)
        st = server_open(&w->server, w->site, &options, err);
    if (key.data)
        explicit_bzero(key.data, key.cap);
    buf_fini(&key);
    buf_fini(&cert);
    return st;
}

static enum status open_doors(struct web *w, const char *doors, struct error *err)
{
    enum status st = OK;
    for (int i = 0; !st && doors[i]; i++)
        st = server_listen(w->server, FIRST_FD + i,
                           doors[i] == 'd' ? HTTP_DOOR_DCGM : HTTP_DOOR_WEB, err);
    return st;
}

static enum dcgm_names names_of(const char *compat)
{
    return compat && strcmp(compat, "legacy") == 0    ? DCGM_LEGACY
           : compat && strcmp(compat, "current") == 0 ? DCGM_CURRENT
                                                      : DCGM_BOTH;
}

static enum status open_all(struct web *w, const struct options *o, const char *doors,
                            struct error *err)
{
    static const struct site_ops ops = {write_metrics, write_dcgm};
    bool is_root = false;
    int parent = getppid();
    gethostname(w->host, sizeof w->host - 1);
    w->names = names_of(o->dcgm_compat);
    enum status st = event_pipe_init(&w->pipe, err);
    w->pipe.most = READ_BYTES;
    if (!st)
        st = collector_create(&w->collector, err);
    if (!st)
        st = trace_create(&w->trace, err);
    if (!st)
        st = totals_create(&w->totals, clock_unix_ns(), err);
    if (!st)
        st = make_rates(w, err);
    if (!st)
        st = site_create(&w->site, w->trace, w->host, &ops, w, err);
    if (!st)
        st = make_auth(w, o, err);
    if (!st)
        st = make_server(w, o, err);
    if (!st)
        st = open_doors(w, doors, err);
    if (!st)
        st = connect_daemon(w, o->run_dir, err);
    if (!st)
        st = privileges_drop(parent, &is_root, err);
    if (!st)
        st = auth_start(w->auth, err); /* threads have privileges of their own */
    if (!st && is_root)
        complain("http: it may not become another user, and stays root without a capability");
    if (!st)
        collector_roll(w->collector, 1); /* nothing is shown before its window is closed */
    return st;
}

static void close_all(struct web *w)
{
    server_close(w->server);
    auth_destroy(w->auth);
    site_destroy(w->site);
    for (size_t i = 0; i < RATES; i++)
        frames_destroy(w->rates[i].frames);
    trace_destroy(w->trace);
    totals_destroy(w->totals);
    collector_destroy(w->collector);
    event_pipe_fini(&w->pipe);
    if (w->fd >= 0)
        close(w->fd);
}

static int http(const struct options *o, int argc, char **argv)
{
    struct web w = {.fd = -1};
    struct error err = ERROR_INIT;
    if (argc != 1 || !o->run_dir || strspn(argv[0], "wd") != strlen(argv[0]))
        return usage_error(&command_http, "it is started by smeff daemon run --listen");
    interrupt_catch();
    enum status st = open_all(&w, o, argv[0], &err);
    dprintf(STDOUT_FILENO, "%s\n", st ? err.text : "ready");
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK); /* a daemon that hangs does not read */
    if (!st) {
        st = loop(&w, &err);
        if (st)
            complain("http: %s", err.text);
    }
    close_all(&w);
    return st ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

const struct command command_http = {
    .name = "http",
    .arguments = "DOORS",
    .summary = NULL, /* not listed: the daemon starts it itself */
    .details =
        "The daemon's HTTP side, in a process without privileges. Its listening sockets are\n"
        "its descriptors from 3 on, a letter of DOORS each: w for --listen, d for\n"
        "--dcgm-listen.",
    .example = "smeff daemon run --listen :19400",
    .options = OPTION(RUN_DIR) | OPTION(TLS_CERT) | OPTION(TLS_KEY) | OPTION(WEB_TOKEN) |
               OPTION(WEB_USERS) | OPTION(DCGM_COMPAT),
    .run = http,
};
