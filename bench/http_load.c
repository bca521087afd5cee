/* SPDX-License-Identifier: MIT */
/* A client that is many, for bench/http.sh and tests/e2e/http.sh. Prints one JSON object.
 *
 *   http_load load ADDR PORT PATH CONNECTIONS REQUESTS [gzip]  kept-alive connections, one request
 * in flight each http_load probe ADDR PORT PATH SECONDS EVERY_MS     a new connection for each
 * request http_load slow ADDR PORT CLIENTS SECONDS [FIRST_SOURCE SOURCES] a header line every 2 s,
 * never a whole request; who is closed connects again http_load events ADDR PORT HZ CLIENTS SECONDS
 * event streams
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 65536, EVENTS = 256, HEAD_MAX = 4096 };

static struct sockaddr_in server;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "http_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* source 0 = any. Blocks until it is connected, or fails: -1. */
static int dial(uint32_t source)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(source)};
    if (fd < 0)
        die("socket");
    if (source && bind(fd, (const struct sockaddr *)&from, sizeof from) != 0)
        die("bind");
    if (connect(fd, (const struct sockaddr *)&server, sizeof server) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    size_t i = (size_t)(q * (double)n);
    return n ? sorted[i < n ? i : n - 1] : NAN;
}

/* ---- answers ---- */

/* What was read of one answer. */
struct answer {
    char head[HEAD_MAX];
    size_t head_len, body_left;
    bool in_body, is_chunked;
    char tail[5]; /* the last bytes of a chunked body */
    int status;
};

static bool end_of_head(struct answer *a, const char *data, size_t n, size_t *used)
{
    for (*used = 0; *used < n;) {
        if (a->head_len == HEAD_MAX - 1)
            return false;
        a->head[a->head_len++] = data[(*used)++];
        if (a->head_len >= 4 && memcmp(a->head + a->head_len - 4, "\r\n\r\n", 4) == 0) {
            a->head[a->head_len] = '\0';
            return true;
        }
    }
    return false;
}

/* One request is in flight, so a body in chunks ends where the last, empty one does. */
static bool take_chunks(struct answer *a, const char *data, size_t n)
{
    size_t size = sizeof a->tail, kept = n < size ? size - n : 0;
    memmove(a->tail, a->tail + size - kept, kept);
    memcpy(a->tail + kept, data + n - (size - kept), size - kept);
    return memcmp(a->tail, "0\r\n\r\n", size) == 0;
}

/* Takes n bytes; true: the answer is whole. */
static bool take(struct answer *a, const char *data, size_t n)
{
    size_t used = 0;
    if (!a->in_body) {
        if (!end_of_head(a, data, n, &used))
            return false;
        const char *length = strcasestr(a->head, "\r\nContent-Length:");
        a->status = (int)strtol(a->head + 9, NULL, 10);
        a->body_left = length ? strtoul(length + 17, NULL, 10) : 0;
        a->is_chunked = strcasestr(a->head, "\r\nTransfer-Encoding: chunked") != NULL;
        a->in_body = true;
        memset(a->tail, 0, sizeof a->tail);
    }
    n -= used;
    if (a->is_chunked)
        return take_chunks(a, data + used, n);
    a->body_left -= n < a->body_left ? n : a->body_left;
    return a->body_left == 0;
}

/* ---- load ---- */

struct connection {
    int fd;
    double sent_s;
    struct answer answer;
};

static void send_request(struct connection *c, const char *request, size_t len)
{
    c->answer.head_len = 0;
    c->answer.in_body = false;
    c->sent_s = now_s();
    if (send(c->fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
        die("send");
}

static int load(char **argv, int argc)
{
    static char chunk[CHUNK];
    size_t n = strtoul(argv[1], NULL, 10), wanted = strtoul(argv[2], NULL, 10), sent = 0, done = 0;
    size_t bad = 0, bytes = 0;
    bool gzip = argc > 3 && strcmp(argv[3], "gzip") == 0;
    char request[512];
    size_t len = (size_t)snprintf(request, sizeof request,
                                  "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: "
                                  "http_load\r\nAccept: */*\r\n%s\r\n",
                                  argv[0], gzip ? "Accept-Encoding: gzip\r\n" : "");
    struct connection *list = calloc(n, sizeof *list);
    double *took = malloc(wanted * sizeof *took);
    int poller = epoll_create1(0);
    if (!list || !took || poller < 0)
        die("no memory");
    double begin_s = now_s();
    for (size_t i = 0; i < n && sent < wanted; i++, sent++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &list[i]};
        list[i].fd = dial(0);
        if (list[i].fd < 0)
            die("connect");
        epoll_ctl(poller, EPOLL_CTL_ADD, list[i].fd, &e);
        send_request(&list[i], request, len);
    }
    while (done < sent) {
        struct epoll_event ready[EVENTS];
        int k = epoll_wait(poller, ready, EVENTS, 10000);
        if (k <= 0)
            die("no answer within 10 s");
        for (int i = 0; i < k; i++) {
            struct connection *c = ready[i].data.ptr;
            ssize_t got = recv(c->fd, chunk, sizeof chunk, 0);
            if (got <= 0)
                die("the connection was closed");
            bytes += (size_t)got;
            if (!take(&c->answer, chunk, (size_t)got))
                continue;
            took[done++] = now_s() - c->sent_s;
            bad += c->answer.status != 200;
            if (sent < wanted) {
                sent++;
                send_request(c, request, len);
            }
        }
    }
    double seconds = now_s() - begin_s;
    qsort(took, done, sizeof *took, compare);
    printf(
        "{\"requests\":%zu,\"not_200\":%zu,\"seconds\":%.3f,\"per_second\":%.1f,\"bytes_each\":%zu,"
        "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n",
        done, bad, seconds, (double)done / seconds, bytes / (done ? done : 1),
        1e3 * quantile(took, done, 0.5), 1e3 * quantile(took, done, 0.99),
        1e3 * quantile(took, done, 1));
    free(list);
    free(took);
    return 0;
}

/* ---- probe ---- */

/* Seconds that one request takes with its connection; NaN = no good answer within 5 s. */
static double ask_once(const char *request)
{
    static char chunk[CHUNK];
    struct answer a = {.head_len = 0};
    double begin_s = now_s();
    int fd = dial(0);
    bool whole = false;
    if (fd < 0)
        return NAN;
    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
        close(fd);
        return NAN;
    }
    while (!whole && now_s() - begin_s < 5) {
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t got = poll(&p, 1, 1000) > 0 ? recv(fd, chunk, sizeof chunk, 0) : -1;
        if (got == 0 || (got < 0 && p.revents))
            break;
        whole = got > 0 && take(&a, chunk, (size_t)got);
    }
    close(fd);
    return whole && a.status == 200 ? now_s() - begin_s : (double)NAN;
}

static int probe(char **argv)
{
    char request[512];
    double seconds = strtod(argv[1], NULL), every_s = strtod(argv[2], NULL) / 1e3;
    size_t most = (size_t)(seconds / every_s) + 2, n = 0, failed = 0;
    double *took = malloc(most * sizeof *took), begin_s = now_s();
    if (!took)
        die("no memory");
    snprintf(request, sizeof request,
             "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", argv[0]);
    while (now_s() - begin_s < seconds && n + failed < most) {
        double next_s = begin_s + (double)(n + failed + 1) * every_s, t = ask_once(request);
        if (isnan(t))
            failed++;
        else
            took[n++] = t;
        double pause_s = next_s - now_s();
        if (pause_s > 0)
            usleep((useconds_t)(pause_s * 1e6));
    }
    qsort(took, n, sizeof *took, compare);
    printf("{\"ok\":%zu,\"failed\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n", n,
           failed, 1e3 * quantile(took, n, 0.5), 1e3 * quantile(took, n, 0.99),
           1e3 * quantile(took, n, 1));
    free(took);
    return 0;
}

/* ---- slow ---- */

static bool send_text(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

static bool is_closed(int fd)
{
    char c;
    ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

static int slow(char **argv, int argc)
{
    size_t n = strtoul(argv[0], NULL, 10), closed = 0, refused = 0, rounds = 0;
    double seconds = strtod(argv[1], NULL), begin_s = now_s(), open_sum = 0;
    struct in_addr first = {0};
    uint32_t sources = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    int *fd = malloc(n * sizeof *fd);
    if (!fd || (sources && inet_aton(argv[2], &first) == 0))
        die("sources");
    for (size_t i = 0; i < n; i++)
        fd[i] = -1;
    for (size_t turn = 0; now_s() - begin_s < seconds; turn++) {
        size_t open_now = 0;
        /* a twentieth of them each tenth of a second: each one every 2 s */
        for (size_t i = 0; i < n; i++) {
            if (fd[i] >= 0 && is_closed(fd[i])) {
                close(fd[i]);
                fd[i] = -1;
                closed++;
            }
            if (fd[i] < 0) {
                fd[i] = dial(sources ? ntohl(first.s_addr) + (uint32_t)(i % sources) : 0);
                if (fd[i] < 0)
                    refused++;
                else
                    send_text(fd[i], "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n");
            } else if (i % 20 == turn % 20) {
                send_text(fd[i], "X-Slow: 1\r\n");
            }
            open_now += fd[i] >= 0;
        }
        open_sum += (double)open_now;
        rounds++;
        usleep(100000);
    }
    printf("{\"clients\":%zu,\"seconds\":%.1f,\"open_mean\":%.1f,\"closed\":%zu,\"refused\":%zu}\n",
           n, now_s() - begin_s, open_sum / (double)(rounds ? rounds : 1), closed, refused);
    free(fd);
    return 0;
}

/* ---- events ---- */

static size_t count(const char *data, size_t n, const char *what)
{
    size_t found = 0, len = strlen(what);
    for (const char *p = data; (p = memmem(p, (size_t)(data + n - p), what, len)); p += len)
        found++;
    return found;
}

static int events(char **argv)
{
    static char chunk[CHUNK];
    size_t n = strtoul(argv[1], NULL, 10), frames = 0, statuses = 0, bytes = 0, closed = 0;
    double seconds = strtod(argv[2], NULL), begin_s = now_s();
    char request[256];
    int poller = epoll_create1(0);
    snprintf(request, sizeof request, "GET /events?hz=%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
             argv[0]);
    for (size_t i = 0; i < n; i++) {
        struct epoll_event e = {.events = EPOLLIN};
        e.data.fd = dial(0);
        if (e.data.fd < 0 || !send_text(e.data.fd, request))
            die("connect");
        epoll_ctl(poller, EPOLL_CTL_ADD, e.data.fd, &e);
    }
    while (now_s() - begin_s < seconds) {
        struct epoll_event ready[EVENTS];
        int k = epoll_wait(poller, ready, EVENTS, 200);
        for (int i = 0; i < k; i++) {
            ssize_t got = recv(ready[i].data.fd, chunk, sizeof chunk, 0);
            if (got <= 0) {
                close(ready[i].data.fd);
                closed++;
                continue;
            }
            bytes += (size_t)got;
            frames += count(chunk, (size_t)got, "event: frame");
            statuses += count(chunk, (size_t)got, "event: status");
        }
    }
    printf("{\"clients\":%zu,\"seconds\":%.1f,\"frames\":%zu,\"statuses\":%zu,\"bytes\":%zu,"
           "\"closed\":%zu}\n",
           n, now_s() - begin_s, frames, statuses, bytes, closed);
    return 0;
}

int main(int argc, char **argv)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (argc > 3) {
        server = (struct sockaddr_in){.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)strtoul(argv[3], NULL, 10))};
        if (inet_aton(argv[2], &server.sin_addr) == 0)
            die(argv[2]);
    }
    if (argc > 6 && strcmp(argv[1], "load") == 0)
        return load(argv + 4, argc - 4);
    if (argc == 7 && strcmp(argv[1], "probe") == 0)
        return probe(argv + 4);
    if (argc > 5 && strcmp(argv[1], "slow") == 0)
        return slow(argv + 4, argc - 4);
    if (argc == 7 && strcmp(argv[1], "events") == 0)
        return events(argv + 4);
    fprintf(stderr, "usage: http_load load|probe|slow|events ADDR PORT … (see the source)\n");
    return 2;
}
