/* SPDX-License-Identifier: MIT */
#include "http/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/gate.h"
#include "http/guests.h"
#include "http/mhd_api.h"

/* ACCEPTS: between two looks at what the accepted ones want, so that in a flood a client that has
 * sent its request is served before it is the oldest. MEMORY: of a connection, for request and
 * headers. LOOK: how often deadlines are looked at;
 * CLOSES: how many are closed then, since a thousand that came at once would come back at once.
 * PAUSE: when there is no descriptor left. OWN_FDS: descriptors that are nobody's connection.
 * GUESTS_MIN: where the system allows few. */
enum {
    DOORS_MAX = 16,
    ACCEPTS = 32,
    MEMORY_BYTES = 16384,
    INACTIVE_S = 10,
    LOOK_MS = 100,
    CLOSES = 64,
    PAUSE_MS = 100,
    OWN_FDS = 64,
    GUESTS_MIN = 64,
};

struct door {
    int fd;
    enum http_door kind;
};

struct server {
    const struct mhd_api *mhd;
    struct MHD_Daemon *daemon;
    struct site *site;
    struct auth *auth;
    int epoll_fd;
    struct door doors[DOORS_MAX];
    size_t n_doors;
    struct guests guests;
    struct guest *entering; /* while the library is told of it; NULL = it has left again */
    struct blob *hello;
    int64_t looked_ns, pause_until_ns;
    char said[300]; /* the library's last words */
};

__attribute__((format(printf, 2, 0))) static void say(void *self, const char *fmt, va_list ap)
{
    struct server *s = self;
    vsnprintf(s->said, sizeof s->said, fmt, ap);
    s->said[strcspn(s->said, "\r\n")] = '\0';
}

static void enter(struct guest *g, enum guest_state state)
{
    g->state = state;
    g->since_ns = clock_monotonic_ns();
}

/* ---- the library's calls: connections ---- */

static void resume(struct server *s, struct guest *g)
{
    if (g->is_suspended) {
        g->is_suspended = false;
        s->mhd->MHD_resume_connection(g->library);
    }
}

/* The library notices and closes it. One that it has not begun with is shut down when it does. */
static void shut(struct server *s, struct guest *g)
{
    g->is_leaving = true;
    if (g->library)
        shutdown(g->fd, SHUT_RDWR);
    resume(s, g);
}

static void free_stream(struct guest *g)
{
    if (g->stream)
        stream_fini(g->stream);
    free(g->stream);
    g->stream = NULL;
}

static void leave(struct server *s, struct guest *g)
{
    guests_remove(&s->guests, g);
    auth_forget(s->auth, g);
    free_stream(g);
    if (s->entering == g)
        s->entering = NULL;
    free(g);
}

/* The one with which the library has not begun; let_in sees to it that there is no other. */
static struct guest *waiting_guest(const struct server *s, int fd)
{
    for (size_t i = 0; i < s->guests.n; i++)
        if (s->guests.list[i]->fd == fd && !s->guests.list[i]->library)
            return s->guests.list[i];
    return NULL;
}

/* Versions of the library differ in whether they begin with a connection at once. */
static struct guest *guest_begun(const struct server *s, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        s->mhd->MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? waiting_guest(s, info->connect_fd) : NULL;
}

static void on_connection(void *self, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *s = self;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        struct guest *g = guest_begun(s, c);
        *context = g;
        if (!g)
            return;
        g->library = c;
        if (g->is_leaving) /* chosen to go before the library had begun with it */
            shutdown(g->fd, SHUT_RDWR);
    } else if (*context) {
        leave(s, *context);
        *context = NULL;
    }
}

static struct guest *guest_of(const struct server *s, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        s->mhd->MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* ---- answers ---- */

static void free_body(void *data)
{
    blob_unref(blob_of_data(data));
}

static void add_headers(const struct server *s, struct MHD_Response *r, const struct http_answer *a)
{
    const char *const headers[][2] = {
        {"Content-Type", a->type},
        {"Content-Security-Policy", a->policy},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
        {"Allow", a->allow},
        {"WWW-Authenticate", a->authenticate},
        {"Content-Encoding", a->is_gzip ? "gzip" : NULL},
        {"Vary", a->varies ? "Accept-Encoding" : NULL},
        {"Retry-After", a->retry ? "2" : NULL},
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (headers[i][1])
            s->mhd->MHD_add_response_header(r, headers[i][0], headers[i][1]);
}

static enum MHD_Result queue(struct server *s, struct MHD_Connection *c, struct MHD_Response *r,
                             const struct http_answer *a)
{
    if (!r)
        return MHD_NO; /* no memory: the connection is closed */
    add_headers(s, r, a);
    enum MHD_Result ok = s->mhd->MHD_queue_response(c, a->status, r);
    s->mhd->MHD_destroy_response(r);
    return ok;
}

static enum MHD_Result answer_body(struct server *s, struct MHD_Connection *c, struct guest *g,
                                   const struct http_answer *a)
{
    if (!a->body)
        return MHD_NO;
    struct MHD_Response *r = s->mhd->MHD_create_response_from_buffer_with_free_callback(
        a->body->len, a->body->data, free_body);
    if (!r)
        blob_unref(a->body);
    enter(g, GUEST_ANSWERING);
    g->is_known |= a->status == 200;
    return queue(s, c, r, a);
}

/* ---- event streams ---- */

/* For a server that has a stream, the library asks for more. */
struct reader {
    struct server *server;
    struct guest *guest;
};

static ssize_t read_stream(void *self, uint64_t position, char *dst, size_t size)
{
    struct reader *r = self;
    struct guest *g = r->guest;
    (void)position;
    size_t n = g->stream ? stream_take(g->stream, dst, size) : 0;
    if (n)
        return (ssize_t)n;
    if (g->is_leaving || !g->stream)
        return MHD_CONTENT_READER_END_OF_STREAM;
    g->is_suspended = true;
    r->server->mhd->MHD_suspend_connection(g->library);
    return 0;
}

static bool begin_stream(struct server *s, struct guest *g, unsigned hz)
{
    g->stream = calloc(1, sizeof *g->stream);
    if (!g->stream)
        return false;
    g->stream->hz = hz;
    struct blob *status = site_status_event(s->site);
    stream_push(g->stream, s->hello);
    if (status)
        stream_push(g->stream, status);
    blob_unref(status);
    enter(g, GUEST_STREAMING);
    g->is_known = true;
    return true;
}

/* The library does not look at a stream that waits: who has gone is noticed with the next message.
 */
static void end_gone_streams(struct server *s)
{
    char c;
    for (size_t i = 0; i < s->guests.n; i++) {
        struct guest *g = s->guests.list[i];
        if (g->state != GUEST_STREAMING || g->is_leaving)
            continue;
        ssize_t n = recv(g->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            shut(s, g);
    }
}

static enum MHD_Result answer_stream(struct server *s, struct MHD_Connection *c, struct guest *g,
                                     struct http_answer *a)
{
    struct reader *reader;
    if (!guests_may_stream(&s->guests, g))
        end_gone_streams(s);
    if (!guests_may_stream(&s->guests, g)) {
        answer_text(a, 503, "too many event streams");
        a->retry = true;
        return answer_body(s, c, g, a);
    }
    reader = malloc(sizeof *reader);
    if (!reader || !begin_stream(s, g, a->stream_hz)) {
        free(reader);
        return MHD_NO;
    }
    *reader = (struct reader){s, g};
    struct MHD_Response *r = s->mhd->MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, MEMORY_BYTES / 2, read_stream, reader, free);
    if (!r)
        free(reader);
    return queue(s, c, r, a);
}

/* ---- what is asked ---- */

static const char *header(const struct server *s, struct MHD_Connection *c, const char *name)
{
    return s->mhd->MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const char *argument(const struct server *s, struct MHD_Connection *c, const char *name)
{
    return s->mhd->MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

static struct http_request make_request(const struct server *s, struct MHD_Connection *c,
                                        const struct guest *g, const char *method, const char *path)
{
    const char *length = header(s, c, "Content-Length");
    return (struct http_request){.door = g->door,
                                 .on_loopback = g->on_loopback,
                                 .method = method,
                                 .path = path,
                                 .host = header(s, c, "Host"),
                                 .authorization = header(s, c, "Authorization"),
                                 .accept_encoding = header(s, c, "Accept-Encoding"),
                                 .hz = argument(s, c, "hz"),
                                 .gpu = argument(s, c, "gpu"),
                                 .seconds = argument(s, c, "seconds"),
                                 .columns = argument(s, c, "columns"),
                                 .has_body = (length && strcmp(length, "0") != 0) ||
                                             header(s, c, "Transfer-Encoding")};
}

/* ---- passwords ---- */

static void refuse(const struct server *s, enum auth_answer why, struct http_answer *a)
{
    if (why == AUTH_FULL) {
        answer_text(a, 503, "too many passwords are being checked");
        a->retry = true;
        return;
    }
    answer_text(a, 401, "a password is needed, or this one is wrong");
    a->authenticate = auth_challenge(s->auth);
}

/* AUTH_LATER: the connection sleeps until the answer is there, and is then asked for again. */
static enum auth_answer check_password(struct server *s, struct MHD_Connection *c, struct guest *g,
                                       const struct http_request *r)
{
    if (!s->auth || gate_is_open(r) || g->check == CHECK_RIGHT)
        return AUTH_YES;
    if (g->check != CHECK_NONE)
        return AUTH_NO;
    enum auth_answer answer = auth_ask(s->auth, r->authorization, g, guests_may_ask(&s->guests, g));
    if (answer == AUTH_LATER) {
        g->check = CHECK_RUNS;
        enter(g, GUEST_THINKING);
        g->is_suspended = true;
        s->mhd->MHD_suspend_connection(c);
    }
    return answer;
}

static void take_checks(struct server *s)
{
    void *who;
    bool is_right;
    while (auth_next(s->auth, &who, &is_right)) {
        struct guest *g = who;
        if (!g)
            continue;
        g->check = is_right ? CHECK_RIGHT : CHECK_WRONG;
        resume(s, g);
    }
}

/* ---- requests ---- */

/* The library calls first when it has the headers, and again when it has the whole request, or when
 * the connection slept. */
static enum MHD_Result on_request(void *self, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_len, void **seen)
{
    struct server *s = self;
    struct guest *g = guest_of(s, c);
    struct http_answer a = {0};
    (void)version;
    (void)body;
    *body_len = 0;
    if (!g || g->is_leaving)
        return MHD_NO;
    struct http_request r = make_request(s, c, g, method, path);
    if (!*seen) {
        *seen = g;
        return site_refuses(s->site, &r, &a) ? answer_body(s, c, g, &a) : MHD_YES;
    }
    enum auth_answer may = check_password(s, c, g, &r);
    if (may == AUTH_LATER)
        return MHD_YES;
    if (may == AUTH_YES)
        site_answer(s->site, &r, &a);
    else
        refuse(s, may, &a);
    return a.stream_hz ? answer_stream(s, c, g, &a) : answer_body(s, c, g, &a);
}

static void on_completed(void *self, struct MHD_Connection *c, void **seen,
                         enum MHD_RequestTerminationCode how)
{
    struct guest *g = guest_of(self, c);
    (void)how;
    *seen = NULL;
    if (!g)
        return;
    free_stream(g);
    g->check = CHECK_NONE;
    enter(g, GUEST_IDLE);
}

/* Paths and arguments of ours need no escapes, and "%00" must not end a path. */
static size_t unescape_nothing(void *self, struct MHD_Connection *c, char *text)
{
    (void)self;
    (void)c;
    return strlen(text);
}

/* ---- opening ---- */

/* As many as there are descriptors for. */
static size_t room_for_guests(void)
{
    struct rlimit files;
    rlim_t wanted = GUESTS_MAX + GUESTS_SPARE + OWN_FDS;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return GUESTS_MIN;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= wanted)
        return GUESTS_MAX;
    return files.rlim_cur > GUESTS_MIN + GUESTS_SPARE + OWN_FDS
               ? (size_t)files.rlim_cur - GUESTS_SPARE - OWN_FDS
               : GUESTS_MIN;
}

/* Not older than TLS 1.2 (2008), which every browser and Prometheus speak. */
static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static enum status start(struct server *s, const struct server_options *o, struct error *err)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, s},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, s},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)unescape_nothing, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, GUESTS_MAX + GUESTS_SPARE, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_BYTES, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, INACTIVE_S, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {o->cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)(intptr_t)o->cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(intptr_t)o->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(intptr_t)priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_ERROR_LOG | MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
                     MHD_ALLOW_SUSPEND_RESUME | (o->cert ? MHD_USE_TLS : 0);
    if (o->cert && s->mhd->MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return fail(err, ERR_UNSUPPORTED, 0,
                    "--tls-cert: this libmicrohttpd was built without TLS");
    s->daemon =
        s->mhd->MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER,
                                 say, s, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (!s->daemon && o->cert)
        return fail(err, ERR_USAGE, 0, "--tls-cert and --tls-key: no pair that can be used (%s)",
                    s->said);
    if (!s->daemon)
        return fail(err, ERR_IO, 0, "the HTTP server cannot be started: %s", s->said);
    const union MHD_DaemonInfo *info =
        s->mhd->MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    s->epoll_fd = info ? info->epoll_fd : -1;
    return s->epoll_fd >= 0 ? OK : fail(err, ERR_UNSUPPORTED, 0, "libmicrohttpd without epoll");
}

enum status server_open(struct server **out, struct site *site,
                        const struct server_options *options, struct error *err)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *s =
        (struct server){.site = site, .auth = options->auth, .epoll_fd = -1, .hello = site_hello()};
    s->guests.max = room_for_guests();
    enum status st = s->hello ? mhd_api_get(&s->mhd, err) : fail(err, ERR_NOMEM, 0, "no memory");
    if (!st)
        st = start(s, options, err);
    if (st) {
        server_close(s);
        return st;
    }
    *out = s;
    return OK;
}

void server_close(struct server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->guests.n; i++)
        shut(s, s->guests.list[i]);
    if (s->daemon) {
        s->mhd->MHD_run(s->daemon); /* resumes what was suspended, as it must be for the end */
        s->mhd->MHD_stop_daemon(s->daemon);
    }
    blob_unref(s->hello);
    free(s);
}

enum status server_listen(struct server *s, int fd, enum http_door kind, struct error *err)
{
    if (s->n_doors == DOORS_MAX)
        return fail(err, ERR_NOMEM, 0, "too many listening sockets");
    s->doors[s->n_doors++] = (struct door){fd, kind};
    return OK;
}

/* ---- newcomers ---- */

static void let_in(struct server *s, struct guest *g, const struct sockaddr *from, socklen_t len)
{
    /* a descriptor that is given anew was closed: the library has dropped its guest untold */
    struct guest *dropped = waiting_guest(s, g->fd);
    if (dropped)
        leave(s, dropped);
    struct guest *victim = guests_victim(&s->guests, g, g->since_ns);
    if (victim)
        shut(s, victim);
    if (!guests_add(&s->guests, g)) {
        close(g->fd);
        free(g);
        return;
    }
    s->entering = g;
    bool is_in = s->mhd->MHD_add_connection(s->daemon, g->fd, from, len) == MHD_YES;
    if (!is_in && s->entering)
        leave(s, g); /* the library has closed the socket */
    s->entering = NULL;
}

void server_admit(struct server *s, int fd, enum http_door door)
{
    union {
        struct sockaddr any;
        struct sockaddr_storage storage;
    } from = {0}, to = {0};
    socklen_t from_len = sizeof from, to_len = sizeof to;
    struct guest *g = calloc(1, sizeof *g);
    if (!g || getpeername(fd, &from.any, &from_len) != 0 ||
        getsockname(fd, &to.any, &to_len) != 0) { /* it has gone already */
        free(g);
        close(fd);
        return;
    }
    *g = (struct guest){.fd = fd, .door = door, .since_ns = clock_monotonic_ns()};
    guest_address(g, &from.any, &to.any);
    let_in(s, g, &from.any, from_len);
}

/* false: there is nobody, or it cannot be done now. */
static bool accept_one(struct server *s, const struct door *d)
{
    int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        server_admit(s, fd, d->kind);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        s->pause_until_ns = clock_monotonic_ns() + PAUSE_MS * INT64_C(1000000);
    return fd >= 0 || errno == ECONNABORTED || errno == EINTR;
}

static void accept_some(struct server *s)
{
    if (clock_monotonic_ns() < s->pause_until_ns)
        return;
    for (size_t i = 0; i < s->n_doors; i++)
        for (int n = 0; n < ACCEPTS && accept_one(s, &s->doors[i]); n++)
            ;
}

/* ---- the loop ---- */

void server_waits(const struct server *s, struct waits *w)
{
    MHD_UNSIGNED_LONG_LONG ms;
    int64_t now_ns = clock_monotonic_ns();
    waits_add(w, s->epoll_fd, POLLIN);
    waits_add(w, auth_fd(s->auth), POLLIN);
    for (size_t i = 0; i < s->n_doors && now_ns >= s->pause_until_ns; i++)
        waits_add(w, s->doors[i].fd, POLLIN);
    if (now_ns < s->pause_until_ns)
        waits_within(w, PAUSE_MS);
    if (s->guests.n)
        waits_within(w, LOOK_MS);
    if (s->mhd->MHD_get_timeout(s->daemon, &ms) == MHD_YES)
        waits_within(w, ms < LOOK_MS ? (long long)ms : LOOK_MS);
}

static void end_late_ones(struct server *s)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - s->looked_ns < LOOK_MS * INT64_C(1000000))
        return;
    s->looked_ns = now_ns;
    size_t closed = 0;
    for (size_t i = s->guests.n; i-- > 0 && closed < CLOSES;) {
        struct guest *g = s->guests.list[i];
        if (!g->library && now_ns - g->since_ns > GUESTS_REQUEST_NS)
            leave(s, g); /* the library never began with it, and has closed it */
        else if (guest_is_late(g, now_ns)) {
            shut(s, g);
            closed++;
        }
    }
}

void server_step(struct server *s)
{
    accept_some(s);
    end_late_ones(s);
    take_checks(s);
    s->mhd->MHD_run(s->daemon);
}

size_t server_guests(const struct server *s)
{
    return s->guests.n;
}

size_t server_streams(const struct server *s, unsigned hz)
{
    size_t n = 0;
    for (size_t i = 0; i < s->guests.n; i++) {
        const struct guest *g = s->guests.list[i];
        n += g->stream && (!hz || g->stream->hz == hz);
    }
    return n;
}

void server_send(struct server *s, unsigned hz, struct blob *message)
{
    for (size_t i = 0; i < s->guests.n; i++) {
        struct guest *g = s->guests.list[i];
        if (!g->stream || g->is_leaving || (hz && g->stream->hz != hz))
            continue;
        if (stream_push(g->stream, message))
            resume(s, g);
        else
            shut(s, g);
    }
}
