/* SPDX-License-Identifier: MIT */
/* A small HTTP server for tests, in a process of its own: what it does depends on the path. */
#ifndef SMEFF_TESTS_HTTP_SERVER_H
#define SMEFF_TESTS_HTTP_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct http_server {
    pid_t pid;
    unsigned port;
};

static const char http_metrics[] = "vllm:num_requests_running 3\n"
                                   "vllm:generation_tokens_total 100\n";

/* Set before http_start: /metrics is JSON, as that of trtllm-serve is. */
static bool http_is_trtllm;

/* Set before http_start: /metrics is that of something else. */
static bool http_is_other;

/* Set before http_start: a port of IPv4; 0 = any. */
static uint16_t http_port;

static inline void http_say(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        _exit(0);
}

static inline void http_answer(int fd, const char *status, const char *headers, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n%s", status,
             strlen(body), headers, body);
    http_say(fd, text);
}

/* Without an end, or a byte a second. */
static inline void http_trickle(int fd, bool fast)
{
    static char block[65536];
    memset(block, '#', sizeof block);
    http_say(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (;;) {
        if (send(fd, block, fast ? sizeof block : 1, MSG_NOSIGNAL) < 0)
            _exit(0);
        if (!fast)
            sleep(1);
    }
}

/* 32,000 series that count tokens: about 2 MB. */
static inline void http_large(int fd)
{
    enum { SERIES = 32000, LINE = 80 };
    static char body[SERIES * LINE];
    static size_t n;
    char head[128];
    for (int i = 0, is_made = n > 0; i < SERIES && !is_made; i++)
        n += (size_t)snprintf(
            body + n, LINE, "vllm:generation_tokens_total{engine=\"%d\",model_name=\"m\"} 5\n", i);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);
    http_say(fd, head);
    for (size_t sent = 0; sent < n;) {
        ssize_t got = send(fd, body + sent, n - sent, MSG_NOSIGNAL);
        if (got <= 0)
            _exit(0);
        sent += (size_t)got;
    }
}

/* request holds the head; n is the number of the request on this connection, from 1. */
static inline void http_serve(int fd, const char *request, int n)
{
    char path[128] = "", text[600];
    sscanf(request, "GET %127s", path);
    bool has_key = strstr(request, "\r\nAuthorization: Bearer sesame\r\n");
    if (strcmp(path, "/hang") == 0)
        sleep(30);
    else if (strcmp(path, "/slow") == 0 || strcmp(path, "/huge") == 0)
        http_trickle(fd, strcmp(path, "/huge") == 0);
    else if (strcmp(path, "/gzip") == 0)
        http_answer(fd, "200 OK", "Content-Encoding: gzip\r\n", "\x1f\x8b\x08");
    else if (strcmp(path, "/moved") == 0)
        http_answer(fd, "307 Temporary Redirect", "Location: /metrics\r\n", "");
    else if (strcmp(path, "/loop") == 0)
        http_answer(fd, "307 Temporary Redirect", "Location: /loop\r\n", "");
    else if (strcmp(path, "/elsewhere") == 0)
        http_answer(fd, "302 Found", "Location: http://192.0.2.1/metrics\r\n", "");
    else if (strcmp(path, "/file") == 0)
        http_answer(fd, "302 Found", "Location: file:///etc/passwd\r\n", "");
    else if (strcmp(path, "/key") == 0)
        http_answer(fd, has_key ? "200 OK" : "401 Unauthorized", "", has_key ? http_metrics : "{}");
    else if (strcmp(path, "/501") == 0)
        http_answer(fd, "501 Not Implemented", "", "{\"error\":{\"code\":501}}");
    else if (strcmp(path, "/400") == 0)
        http_answer(fd, "400 Bad Request", "", "{}");
    else if (strcmp(path, "/503") == 0)
        http_answer(fd, "503 Service Unavailable", "", "{\"message\":\"Loading model\"}");
    else if (strcmp(path, "/404") == 0)
        http_answer(fd, "404 Not Found", "", "");
    else if (strcmp(path, "/html") == 0)
        http_answer(fd, "200 OK", "", "<html>");
    else if (strcmp(path, "/cut") == 0)
        http_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nvllm:x 1\n");
    else if (strcmp(path, "/garbage") == 0)
        http_say(fd, "\x01\x02garbage\r\n\r\n");
    else if (strcmp(path, "/count") == 0) {
        snprintf(text, sizeof text, "vllm:num_requests_running %d\n", n);
        http_answer(fd, "200 OK", "Process-Start-Time-Unix: 42\r\n", text);
        return;
    } else if (strcmp(path, "/negotiate") == 0) {
        bool plain = strstr(request, "\r\nAccept: text/plain;version=0.0.4\r\n") &&
                     !strstr(request, "Accept-Encoding") && !strstr(request, "Authorization");
        http_answer(fd, plain ? "200 OK" : "406 Not Acceptable", "", http_metrics);
        return;
    } else if (strcmp(path, "/restart") == 0) { /* by 10 a request; anew at the third */
        snprintf(text, sizeof text, "vllm:generation_tokens_total %d\n",
                 n < 3 ? 1000 + 10 * n : 10 * n);
        http_answer(fd, "200 OK", "", text);
        return;
    } else if (strcmp(path, "/steady") == 0) { /* 50 tokens a second */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        snprintf(text, sizeof text,
                 "vllm:num_requests_running{model_name=\"m\"} 3\n"
                 "vllm:generation_tokens_total{model_name=\"m\"} %.3f\n",
                 50 * ((double)now.tv_sec + (double)now.tv_nsec * 1e-9));
        http_answer(fd, "200 OK", "", text);
        return;
    } else if (strcmp(path, "/joined") == 0) { /* one request: 200 tokens a second, 5 ms each */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        double t = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
        snprintf(text, sizeof text,
                 "vllm:num_requests_running 1\nvllm:num_requests_waiting 0\n"
                 "vllm:generation_tokens_total %.3f\n"
                 "vllm:inter_token_latency_seconds_sum %.6f\n"
                 "vllm:inter_token_latency_seconds_count %.3f\n"
                 "vllm:time_to_first_token_seconds_sum 1\n"
                 "vllm:time_to_first_token_seconds_count 10\n",
                 200 * t, t, 200 * t);
        http_answer(fd, "200 OK", "", text);
        return;
    } else if (strcmp(path, "/stuck") ==
               0) { /* all requests were aborted, and no step came since */
        http_answer(fd, "200 OK", "",
                    "vllm:num_requests_running 3\nvllm:num_requests_waiting 2\n"
                    "vllm:kv_cache_usage_perc 0.9\nvllm:generation_tokens_total 7\n"
                    "vllm:prompt_tokens_total 7\n");
        return;
    } else if (strcmp(path, "/large") == 0) {
        http_large(fd);
        return;
    } else if (strcmp(path, "/quiet") == 0) {
        http_answer(fd, "200 OK", "",
                    "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"
                    "vllm:generation_tokens_total 7\n");
        return;
    } else if (strcmp(path, "/metrics") == 0) {
        http_answer(fd, "200 OK", "",
                    http_is_trtllm  ? "[]"
                    : http_is_other ? "up 1\n"
                                    : http_metrics);
        return;
    } else if (strcmp(path, "/prometheus/metrics") == 0 && http_is_trtllm) {
        http_answer(fd, "200 OK", "", "trtllm_num_requests_running 2\n");
        return;
    } else {
        http_answer(fd, "404 Not Found", "", "");
        return;
    }
    _exit(0);
}

static inline void http_connection(int fd)
{
    char request[4096];
    size_t used = 0;
    for (int n = 1;; n++) {
        used = 0;
        request[0] = '\0';
        while (!strstr(request, "\r\n\r\n")) {
            ssize_t got = recv(fd, request + used, sizeof request - 1 - used, 0);
            if (got <= 0)
                _exit(0);
            used += (size_t)got;
            request[used] = '\0';
            if (request[0] == 0x16) { /* TLS, which is not spoken here */
                http_say(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
                _exit(0);
            }
        }
        http_serve(fd, request, n);
    }
}

static inline void http_run(int listener)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            _exit(1);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(listener);
            http_connection(fd);
        }
        close(fd);
    }
}

/* address: "127.0.0.1", "::1", or the path of a socket. pid 0 = this machine cannot. */
static inline struct http_server http_start(const char *address)
{
    struct http_server s = {0, 0};
    struct sockaddr_storage storage = {0};
    socklen_t n = sizeof storage;
    struct sockaddr_in *v4 = (void *)&storage;
    struct sockaddr_in6 *v6 = (void *)&storage;
    struct sockaddr_un *un = (void *)&storage;
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        storage.ss_family = AF_INET;
        v4->sin_port = htons(http_port);
        n = sizeof *v4;
    } else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        storage.ss_family = AF_INET6;
        n = sizeof *v6;
    } else {
        storage.ss_family = AF_UNIX;
        snprintf(un->sun_path, sizeof un->sun_path, "%s", address);
        n = sizeof *un;
    }
    int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int again = 1; /* a port of one that just ended can be had */
    if (fd >= 0 && http_port)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (fd < 0 || bind(fd, (struct sockaddr *)&storage, n) || listen(fd, 64))
        return s;
    n = sizeof storage;
    getsockname(fd, (struct sockaddr *)&storage, &n);
    s.port = ntohs(storage.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
    s.pid = fork();
    if (s.pid == 0)
        http_run(fd);
    close(fd);
    return s;
}

static inline void http_stop(const struct http_server *s)
{
    if (s->pid > 0 && kill(s->pid, SIGKILL) == 0)
        waitpid(s->pid, NULL, 0);
}

#endif
