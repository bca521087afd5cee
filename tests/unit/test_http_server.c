/* SPDX-License-Identifier: MIT */
/* The server with libmicrohttpd, over pairs of sockets: what clients send that they should not,
 * what they do not send, and how much of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#include "base/clock.h"
#include "http/guests.h"
#include "http/mhd_api.h"
#include "http/server.h"
#include "http_site.h"

static struct server *server;
static char reply[1 << 20];
static size_t reply_len;

static int open_server(struct auth *auth)
{
    const struct server_options options = {.auth = auth};
    struct error err = ERROR_INIT;
    open_site(TEST_ROOT "/data/h200/live/decode.jsonl.gz");
    if (server_open(&server, site, &options, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(77);
    }
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    return open_server(NULL);
}

static int tear_down(void **state)
{
    (void)state;
    server_close(server);
    close_site();
    return 0;
}

/* ---- clients ---- */

static int join_as(enum http_door door)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    server_admit(server, ends[1], door);
    return ends[0];
}

static int join(void)
{
    return join_as(HTTP_DOOR_WEB);
}

static void steps(int n)
{
    while (n-- > 0)
        server_step(server);
}

static bool say_all(int fd, const char *text, size_t n)
{
    for (int tries = 0; n && tries < 1000; tries++) {
        ssize_t done = send(fd, text, n, MSG_NOSIGNAL);
        if (done < 0 && errno != EAGAIN)
            return false; /* it was closed before it had said all */
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        }
        server_step(server);
    }
    return n == 0;
}

static bool say(int fd, const char *text)
{
    return say_all(fd, text, strlen(text));
}

static int patience = 12; /* the library reads a large header in small pieces */

/* Takes what comes until nothing has come for some steps; true: the server has closed. */
static bool hear(int fd)
{
    reply_len = 0;
    for (int quiet = 0; quiet < patience;) {
        server_step(server);
        ssize_t n = recv(fd, reply + reply_len, sizeof reply - 1 - reply_len, 0);
        if (n < 0 && errno == ECONNRESET)
            continue; /* closed before it had read all; what it said comes next */
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            reply[reply_len] = '\0';
            return true;
        }
        quiet = n > 0 ? 0 : quiet + 1;
        reply_len += n > 0 ? (size_t)n : 0;
    }
    reply[reply_len] = '\0';
    return false;
}

/* 0 = no answer. */
static int code(void)
{
    int n = 0;
    return sscanf(reply, "HTTP/1.%*1[01] %d ", &n) == 1 ? n : 0;
}

/* One request on a connection of its own. */
static int ask(const char *request)
{
    int fd = join();
    say(fd, request);
    hear(fd);
    close(fd);
    steps(3);
    return code();
}

static const char *find(const char *name)
{
    static char value[300];
    char line[64];
    snprintf(line, sizeof line, "\r\n%s: ", name);
    const char *at = strstr(reply, line);
    if (!at)
        return "";
    at += strlen(line);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

/* memmem: the sanitizer's strict strstr measures all of the rest at each hit. */
static size_t count(const char *what)
{
    size_t n = 0, len = strlen(what);
    const char *end = reply + strlen(reply);
    for (const char *p = reply; (p = memmem(p, (size_t)(end - p), what, len)); p += len)
        n++;
    return n;
}

/* ---- tests ---- */

static void test_answers(void **state)
{
    (void)state;
    static const char *const paths[] = {"/", "/metrics", "/status.json", "/history.json",
                                        "/healthz"};
    char request[200];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", paths[i]);
        assert_int_equal(ask(request), 200);
        const char *body = strstr(reply, "\r\n\r\n") + 4;
        assert_int_equal(strtoul(find("Content-Length"), NULL, 10), strlen(body));
        assert_string_equal(find("X-Content-Type-Options"), "nosniff");
        assert_string_equal(find("X-Frame-Options"), "DENY");
        assert_string_equal(find("Referrer-Policy"), "no-referrer");
        assert_string_equal(find("Cache-Control"), "no-store");
        assert_string_equal(find("Cross-Origin-Resource-Policy"), "same-origin");
        assert_contains(find("Content-Security-Policy"), "default-src 'none'");
        assert_string_equal(find("Access-Control-Allow-Origin"), "");
        snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\nHost: a\r\n\r\n", paths[i]);
        assert_int_equal(ask(request), 200);
        assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n"); /* no body, but its length */
        assert_int_equal(strtoul(find("Content-Length"), NULL, 10) > 0, 1);
    }
    assert_int_equal(ask("GET /metrics HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"), 200);
    assert_string_equal(find("Content-Encoding"), "gzip");
    assert_string_equal(find("Vary"), "Accept-Encoding");
    assert_string_equal(find("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    assert_int_equal(ask("GET /history.json?gpu=0&seconds=5&columns=3 HTTP/1.1\r\nHost: a\r\n\r\n"),
                     200);
    assert_contains(reply, "\"gpu\":0");
    assert_int_equal(ask("GET /history.json?gpu=7 HTTP/1.1\r\nHost: a\r\n\r\n"), 404);
    assert_int_equal(ask("GET /metrics HTTP/1.0\r\n\r\n"), 200);
}

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        int code;
    } wrong[] = {
        {"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 405},
        {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\nabc", 405},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
         405},
        {"DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
        {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 405},
        {"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
        {"BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n", 405},
        {"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 413},
        {"GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413},
        {"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 404},
        {"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 404},
        {"GET //etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 404},
        {"GET /metrics%00.html HTTP/1.1\r\nHost: a\r\n\r\n", 404},
        {"GET /metrics HTTP/1.1\r\n\r\n", 400}, /* HTTP/1.1 wants a Host */
        {"GET /events?hz=7 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /history.json?seconds=%31 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (ask(wrong[i].request) != wrong[i].code)
            fail_msg("%s\n%s", wrong[i].request, reply);
    assert_int_equal(ask("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), 405);
    assert_string_equal(find("Allow"), "GET, HEAD");
    assert_int_equal(server_guests(server), 0);
}

static void test_too_large(void **state)
{
    (void)state;
    static char big[200000];
    patience = 200;
    size_t n = (size_t)snprintf(big, sizeof big, "GET /");
    memset(big + n, 'a', 100000);
    snprintf(big + n + 100000, 100, " HTTP/1.1\r\nHost: a\r\n\r\n");
    int got = ask(big);
    assert_int_equal(got, 414);
    /* one header of 100,000 bytes */
    n = (size_t)snprintf(big, sizeof big, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    memset(big + n, 'b', 100000);
    snprintf(big + n + 100000, 100, "\r\n\r\n");
    got = ask(big);
    assert_int_equal(got, 431);
    /* ten thousand headers */
    n = (size_t)snprintf(big, sizeof big, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 10000; i++)
        n += (size_t)snprintf(big + n, sizeof big - n, "X%d: y\r\n", i);
    snprintf(big + n, sizeof big - n, "\r\n");
    got = ask(big);
    patience = 12;
    assert_int_equal(got, 431);
    assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
}

static void test_pipelined(void **state)
{
    (void)state;
    char text[4096] = "";
    size_t n = 0;
    for (int i = 0; i < 30; i++)
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    int fd = join();
    say(fd, text);
    for (int i = 0; i < 50; i++)
        server_step(server);
    assert_false(hear(fd));
    assert_int_equal(count("HTTP/1.1 200 OK\r\n"), 30);
    assert_int_equal(count("\r\n\r\nok\n"), 30);
    /* a wrong one among them does not turn the next into something else */
    say(fd, "GET /nope HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd);
    assert_int_equal(count("HTTP/1.1 404"), 1);
    assert_int_equal(count("HTTP/1.1 200"), 1);
    close(fd);
}

static void test_half_closed(void **state)
{
    (void)state;
    int fd = join();
    say(fd, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    shutdown(fd, SHUT_WR);
    hear(fd);
    assert_int_equal(code(), 200); /* asked, then closed its side: it still gets its answer */
    close(fd);
    fd = join();
    say(fd, "GET /healthz HTT");
    shutdown(fd, SHUT_WR);
    assert_true(hear(fd)); /* half a request, and no more can come */
    close(fd);
    fd = join(); /* gone without a word */
    close(fd);
    steps(5);
    assert_int_equal(server_guests(server), 0);
}

static void test_one_byte_at_a_time(void **state)
{
    (void)state;
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
    int fd = join();
    for (size_t i = 0; i < sizeof request - 1; i++)
        say_all(fd, request + i, 1);
    hear(fd);
    assert_int_equal(code(), 200);
    close(fd);
}

/* Those of one address (here: none of the Internet's) are held to their share by their oldest. */
static void test_one_address(void **state)
{
    (void)state;
    int fd[100];
    for (int i = 0; i < 100; i++) {
        fd[i] = join();
        say(fd[i], "GET /metrics HTTP/1.1\r\nX: ");
        steps(1);
        assert_true(server_guests(server) <= GUESTS_NEW + 2);
    }
    steps(3);
    assert_int_equal(server_guests(server), GUESTS_NEW);
    for (int i = 0; i < 100 - GUESTS_NEW; i++)
        assert_true(hear(fd[i])); /* the older ones */
    assert_false(hear(fd[99]));
    assert_int_equal(ask("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
                     200); /* whoever comes is served */
    for (int i = 0; i < 100; i++)
        close(fd[i]);
    steps(3);
    assert_int_equal(server_guests(server), 0);
}

/* ---- a library that begins with connections later, in its own turn, as some versions do ---- */

enum { LATE_MAX = 100 };

static struct {
    struct mhd_api *api, real;
    int fd[LATE_MAX], n;
    bool drops; /* it closes them, and never tells of them */
} late;

static enum MHD_Result late_add(struct MHD_Daemon *d, MHD_socket fd, const struct sockaddr *from,
                                socklen_t len)
{
    (void)d;
    (void)from;
    (void)len;
    if (late.drops)
        close(fd);
    else if (late.n < LATE_MAX)
        late.fd[late.n++] = fd;
    return MHD_YES;
}

static enum MHD_Result late_run(struct MHD_Daemon *d)
{
    const struct sockaddr from = {.sa_family = AF_UNIX};
    for (int i = 0; i < late.n; i++)
        late.real.MHD_add_connection(d, late.fd[i], &from, sizeof from);
    late.n = 0;
    return late.real.MHD_run(d);
}

static void be_late(bool is_late)
{
    const struct mhd_api *api;
    if (is_late) {
        assert_int_equal(mhd_api_get(&api, NULL), OK);
        late.api = (struct mhd_api *)(uintptr_t)api;
        late.real = *api;
        late.api->MHD_add_connection = late_add;
        late.api->MHD_run = late_run;
    } else {
        *late.api = late.real;
    }
}

/* Many that are let in before the library has begun with any: no less held to the share, and those
 * who drip go as well. */
static void check_burst(void)
{
    enum { BURST = 60 };
    int fd[BURST], closed = 0;
    for (int i = 0; i < BURST; i++) {
        fd[i] = join();
        assert_true(send(fd[i], "GET /metrics HTTP/1.1\r\nX: ", 26, MSG_NOSIGNAL) > 0);
    }
    for (int round = 0; round < 20; round++) {
        steps(1);
        for (int i = 0; i < BURST; i++)
            send(fd[i], "x", 1, MSG_NOSIGNAL);
    }
    assert_int_equal(server_guests(server), GUESTS_NEW);
    for (int i = 0; i < BURST; i++) {
        char c;
        ssize_t n = recv(fd[i], &c, 1, 0);
        closed += n == 0 || (n < 0 && errno != EAGAIN);
        close(fd[i]);
    }
    assert_int_equal(closed, BURST - GUESTS_NEW);
    steps(3);
    assert_int_equal(server_guests(server), 0);
}

static void test_burst(void **state)
{
    (void)state;
    check_burst();
    be_late(true);
    check_burst();
    be_late(false);
}

/* As join_as, with that descriptor on the server's side. */
static int join_with(int wanted, enum http_door door)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(dup3(ends[1], wanted, O_CLOEXEC), wanted);
    close(ends[1]);
    server_admit(server, wanted, door);
    return ends[0];
}

/* The library may close a connection before it tells of it. The next one with its descriptor is
 * another, from another door. */
static void test_dropped(void **state)
{
    (void)state;
    enum { FD = 500 };
    be_late(true);
    late.drops = true;
    int gone = join_with(FD, HTTP_DOOR_DCGM);
    late.drops = false;
    assert_int_equal(server_guests(server), 1);
    int fd = join_with(FD, HTTP_DOOR_WEB);
    assert_int_equal(server_guests(server), 1);
    say(fd, "GET /status.json HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd);
    assert_int_equal(code(), 200); /* DCGM's door has none */
    close(fd);
    close(gone);
    steps(5);
    assert_int_equal(server_guests(server), 0);
    be_late(false);
}

static void pause_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* A client that drips a byte every tenth of a second is never inactive: it has five seconds, be it
 * for its headers or for its first line. */
static void test_drips(void **state)
{
    (void)state;
    int fd[] = {join(), join()};
    double end_s[] = {0, 0};
    int64_t begin_ns = clock_monotonic_ns();
    say(fd[0], "GET /metrics HTTP/1.1\r\nHost: a\r\nX: ");
    say(fd[1], "G");
    for (double t = 0; t < 7 && !(end_s[0] > 0 && end_s[1] > 0);) {
        char c;
        t = (double)(clock_monotonic_ns() - begin_ns) * 1e-9;
        steps(2);
        for (int i = 0; i < 2; i++)
            if (!(end_s[i] > 0) && recv(fd[i], &c, 1, 0) == 0)
                end_s[i] = t;
            else
                send(fd[i], "x", 1, MSG_NOSIGNAL);
        pause_ms(100);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(end_s[i] > 4.9 && end_s[i] < 6);
        close(fd[i]);
    }
    steps(3);
    assert_int_equal(server_guests(server), 0);
}

/* ---- event streams ---- */

static void broadcast(unsigned hz, const char *text)
{
    struct blob *b = blob_make(text, strlen(text));
    assert_non_null(b);
    server_send(server, hz, b);
    blob_unref(b);
}

static void test_events(void **state)
{
    (void)state;
    int five = join(), ten = join();
    say(five, "GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_false(hear(five));
    assert_int_equal(code(), 200);
    assert_string_equal(find("Content-Type"), "text/event-stream");
    assert_contains(reply, "retry: 2000\n\n");
    assert_contains(reply, "event: status\nid: 1\ndata: {\"schema\":1,");
    assert_true(strstr(reply, "retry: 2000") < strstr(reply, "event: status"));
    say(ten, "GET /events?hz=10 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_false(hear(ten));
    assert_int_equal(server_streams(server, 0), 2);
    assert_int_equal(server_streams(server, 5), 1);
    assert_int_equal(server_streams(server, 1), 0);
    broadcast(10, "event: frame\ndata: {\"ten\":1}\n\n");
    broadcast(0, "event: status\ndata: {\"all\":1}\n\n");
    hear(five);
    assert_null(strstr(reply, "ten"));
    assert_contains(reply, "{\"all\":1}\n\n");
    hear(ten);
    assert_contains(reply, "{\"ten\":1}\n\n");
    assert_contains(reply, "{\"all\":1}\n\n");
    close(five);
    broadcast(0, ": beat\n\n"); /* who has gone is noticed with the next message */
    steps(5);
    broadcast(0, ": beat\n\n");
    steps(5);
    assert_int_equal(server_streams(server, 0), 1);
    close(ten);
}

/* A client that takes nothing is closed when its queue is full; the others get everything. */
static void test_slow_stream(void **state)
{
    (void)state;
    static char big[100000];
    int slow = join(), good = join();
    size_t got = 0;
    memset(big, 'x', sizeof big - 1);
    say(slow, "GET /events?hz=10 HTTP/1.1\r\nHost: a\r\n\r\n");
    say(good, "GET /events?hz=10 HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(good);
    for (int i = 0; i < 2 * STREAM_QUEUE; i++) {
        broadcast(10, big);
        hear(good);
        got += count("x");
    }
    steps(5);
    assert_int_equal(server_streams(server, 0), 1);
    assert_int_equal(got, (sizeof big - 1) * 2 * STREAM_QUEUE);
    assert_int_equal(server_guests(server), 1);
    close(slow);
    close(good);
}

static void test_too_many_streams(void **state)
{
    (void)state;
    int fd[GUESTS_STREAMS_SAME + 1];
    for (int i = 0; i < GUESTS_STREAMS_SAME; i++) {
        fd[i] = join();
        say(fd[i], "GET /events?hz=1 HTTP/1.1\r\nHost: a\r\n\r\n");
        steps(3);
    }
    assert_int_equal(server_streams(server, 0), GUESTS_STREAMS_SAME);
    assert_int_equal(ask("GET /events?hz=1 HTTP/1.1\r\nHost: a\r\n\r\n"), 503);
    assert_string_equal(find("Retry-After"), "2");
    close(fd[0]); /* its place is free at once, though nothing was sent to it */
    int next = join();
    say(next, "GET /events?hz=1 HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(next);
    assert_int_equal(code(), 200);
    for (int i = 1; i < GUESTS_STREAMS_SAME; i++)
        close(fd[i]);
    close(next);
}

/* ---- passwords ---- */

static const char ann[] = "ann:$2b$04$z71zgYEpqaG8WVJxC7VsvOnh4Nq08V9S4HsXOFfXBFpWz/hubsOb.\n";

static int ask_as(const char *path, const char *authorization)
{
    char request[400];
    int fd = join();
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n", path,
             authorization ? "Authorization: " : "", authorization ? authorization : "",
             authorization ? "\r\n" : "");
    say(fd, request);
    for (int i = 0; i < 400; i++) {
        hear(fd);
        if (code())
            break;
        pause_ms(5); /* it is being checked */
    }
    close(fd);
    steps(3);
    return code();
}

static struct auth *make_auth(void)
{
    char path[] = "/tmp/test_http_server.XXXXXX";
    struct auth *auth = NULL;
    int file = mkstemp(path);
    assert_int_equal(write(file, ann, sizeof ann - 1), sizeof ann - 1);
    close(file);
    assert_int_equal(auth_create(&auth, "tok", path, NULL), OK);
    unlink(path);
    return auth;
}

/* Whoever sends wrong passwords keeps no token of the same address out. */
static void test_wrong_beside_right(void **state)
{
    (void)state;
    struct auth *auth = make_auth(); /* not started: what waits goes on waiting */
    int fd[GUESTS_CHECKS_SAME];
    open_server(auth);
    for (int i = 0; i < GUESTS_CHECKS_SAME; i++) {
        fd[i] = join();
        say(fd[i], "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YW5uOnh4\r\n\r\n");
        assert_false(hear(fd[i]));
        assert_int_equal(code(), 0);
    }
    assert_int_equal(ask_as("/metrics", "Basic YW5uOnh5"), 503);
    assert_int_equal(ask_as("/metrics", "Bearer tok"), 200);
    assert_int_equal(ask_as("/metrics", "Bearer toc"), 401);
    assert_int_equal(ask_as("/metrics", NULL), 401);
    tear_down(NULL);
    for (int i = 0; i < GUESTS_CHECKS_SAME; i++)
        close(fd[i]);
    auth_destroy(auth);
}

static void test_passwords(void **state)
{
    (void)state;
    struct auth *auth = make_auth();
    assert_int_equal(auth_start(auth, NULL), OK);
    open_server(auth);
    assert_int_equal(ask_as("/healthz", NULL), 200);
    static const char *const paths[] = {"/",       "/metrics",      "/status.json",
                                        "/events", "/history.json", "/nope"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(ask_as(paths[i], NULL), 401);
        assert_contains(find("WWW-Authenticate"), "Basic realm=");
        assert_null(strstr(reply, "schema"));
    }
    assert_int_equal(ask_as("/metrics", "Basic YW5uOnNlY3JldA=="), 200); /* ann:secret */
    assert_int_equal(ask_as("/metrics", "Basic YW5uOnNlY3JldA=="), 200);
    assert_int_equal(ask_as("/metrics", "Basic YW5uOnNlY3JlVA=="), 401);
    assert_int_equal(ask_as("/metrics", "Bearer tok"), 200);
    assert_int_equal(ask_as("/metrics", "Bearer toc"), 401);
    assert_int_equal(ask_as("/nope", "Bearer tok"), 404);
    /* two on one connection: the first one's right is not the second one's */
    int fd = join();
    say(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer tok\r\n\r\n"
            "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd);
    assert_int_equal(count("HTTP/1.1 200"), 1);
    assert_int_equal(count("HTTP/1.1 401"), 1);
    close(fd);
    /* gone while its password is checked; and the end while one is */
    fd = join();
    say(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YW5uOndyb25n\r\n\r\n");
    close(fd);
    for (int i = 0; i < 200 && server_guests(server); i++) {
        steps(1);
        pause_ms(5);
    }
    assert_int_equal(server_guests(server), 0);
    fd = join();
    say(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YW5uOndyb25nMg==\r\n\r\n");
    tear_down(NULL);
    close(fd);
    auth_destroy(auth);
}

/* ---- anything ---- */

static unsigned long long seed = 88172645463325252;

static unsigned draw(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

#define PICK(list) list[draw(sizeof list / sizeof list[0])]

/* A request that is one, and the code that it must have. */
static int sound_request(char *dst, size_t size)
{
    static const char *const methods[] = {"GET", "HEAD",   "GET",   "POST",
                                          "PUT", "DELETE", "PATCH", "FOO"};
    static const struct {
        const char *path;
        int code;
    } paths[] = {{"/", 200},
                 {"/metrics", 200},
                 {"/metrics?x=y", 200},
                 {"/status.json", 200},
                 {"/healthz", 200},
                 {"/history.json?columns=3", 200},
                 {"/history.json?columns=3000", 400},
                 {"/history.json?gpu=63", 404},
                 {"/events?hz=3", 400},
                 {"/metrics/../..", 404},
                 {"/x", 404},
                 {"/?", 200},
                 {"/health", 404}};
    static const char *const extra[] = {"",
                                        "",
                                        "Accept-Encoding: gzip\r\n",
                                        "Accept: */*\r\nX-A: b\r\n",
                                        "Authorization: Basic xxx\r\n",
                                        "Cookie: a=b; c=d\r\n",
                                        "Connection: close\r\n",
                                        "Range: bytes=0-3\r\n",
                                        "If-None-Match: *\r\n"};
    const char *method = PICK(methods);
    size_t which = draw(sizeof paths / sizeof paths[0]);
    snprintf(dst, size, "%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n", method, paths[which].path,
             PICK(extra));
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ? paths[which].code : 405;
}

/* Bytes are changed, lost, doubled, or are none of HTTP at all. */
static size_t spoil(char *text, size_t n, size_t size)
{
    for (unsigned i = draw(6) + 1; i; i--) {
        size_t at = n ? draw((unsigned)n) : 0;
        switch (draw(6)) {
        case 0:
            text[at] = (char)draw(256);
            break;
        case 1:
            n = at;
            break;
        case 2:
            if (n + 8 < size) {
                memmove(text + at + 8, text + at, n - at);
                n += 8;
            }
            break;
        case 3:
            text[at] = "\r\n :/%\0?"[draw(8)];
            break;
        case 4:
            memmove(text + at, text + at + (at < n), n - at - (at < n));
            n -= at < n;
            break;
        default:
            for (size_t k = at; k < n && k < at + 20; k++)
                text[k] = (char)draw(256);
        }
    }
    return n;
}

static void test_anything(void **state)
{
    (void)state;
    static const int codes[] = {200, 400, 404, 405, 408, 411, 413, 414, 421, 431, 501, 505};
    char text[2048];
    size_t answered = 0, silent = 0;
    for (int i = 0; i < 10000; i++) {
        int expected = sound_request(text, sizeof text), fd = join();
        size_t n = strlen(text);
        bool is_sound = draw(2) == 0;
        if (!is_sound)
            n = spoil(text, n, sizeof text);
        say_all(fd, text, n);
        if (draw(3) == 0)
            shutdown(fd, SHUT_WR);
        if (draw(50) != 0)
            hear(fd);
        else
            reply[0] = '\0'; /* goes without its answer */
        int got = code();
        bool is_known = got == 0;
        for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++)
            is_known |= got == codes[k];
        if (!is_known || (is_sound && reply[0] && got != expected))
            fail_msg("request %d: %d instead of %d for\n%.*s", i, got, expected, (int)n, text);
        answered += got != 0;
        silent += got == 0;
        close(fd);
        if (i % 16 == 0)
            steps(3);
    }
    steps(10);
    broadcast(0, ": beat\n\n"); /* some were changed into streams, which are noticed late */
    steps(10);
    assert_int_equal(server_guests(server), 0);
    assert_true(answered > 7000 && silent > 100);
    assert_int_equal(ask("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
}

/* The end with connections in every state. */
static void test_end(void **state)
{
    (void)state;
    int fd[4];
    for (int i = 0; i < 4; i++)
        fd[i] = join();
    say(fd[0], "GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    say(fd[1], "GET /met");
    say(fd[2], "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    steps(3);
    tear_down(NULL);
    for (int i = 0; i < 4; i++)
        close(fd[i]);
    open_server(NULL);
}

int main(void)
{
#define WITH_SERVER(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SERVER(test_answers),
        WITH_SERVER(test_wrong),
        WITH_SERVER(test_too_large),
        WITH_SERVER(test_pipelined),
        WITH_SERVER(test_half_closed),
        WITH_SERVER(test_one_byte_at_a_time),
        WITH_SERVER(test_one_address),
        WITH_SERVER(test_burst),
        WITH_SERVER(test_dropped),
        WITH_SERVER(test_drips),
        WITH_SERVER(test_events),
        WITH_SERVER(test_slow_stream),
        WITH_SERVER(test_too_many_streams),
        cmocka_unit_test(test_passwords),
        cmocka_unit_test(test_wrong_beside_right),
        WITH_SERVER(test_anything),
        WITH_SERVER(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
