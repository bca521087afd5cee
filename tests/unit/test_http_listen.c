/* SPDX-License-Identifier: MIT */
/* Addresses to listen on: what people may write, and what is said when it cannot be had. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

#include "http/listen.h"

static void test_words(void **state)
{
    (void)state;
    static const char *const good[] = {":9400",           "localhost",  "localhost:1",
                                       "127.0.0.1:65535", "0.0.0.0:80", "[::]:9400",
                                       "[::1]",           "::1",        "::",
                                       "gpu17.example:9", "1.2.3.4"},
                             *const bad[] = {"",   ":",    ":0",     ":65536", "9400",
                                             ":x", "a:1 ", "a:+1",   "[::1",   "[::1]x:1",
                                             "a:", ":-1",  "[::1]:", "a:1e3"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (listen_check("listen", good[i], NULL))
            fail_msg("\"%s\" is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err = ERROR_INIT;
        if (listen_check("listen", bad[i], &err) != ERR_USAGE)
            fail_msg("\"%s\" is taken", bad[i]);
        assert_contains(err.text, "--listen");
    }
}

static unsigned port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {0};
    socklen_t len = sizeof a;
    assert_int_equal(getsockname(fd, &a.any, &len), 0);
    return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

/* A port that is free now, on loopback and elsewhere. */
static unsigned free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
    unsigned port = port_of(fd);
    close(fd);
    return port;
}

static int try_connect(const char *ip, unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, ip, &a.sin_addr);
    int rc = connect(fd, (const struct sockaddr *)&a, sizeof a);
    close(fd);
    return rc;
}

static void test_loopback(void **state)
{
    (void)state;
    struct listener l = {0}, second = {0};
    struct error err = ERROR_INIT;
    char text[64], port[16];
    unsigned number = free_port();
    snprintf(text, sizeof text, ":%u", number);
    assert_int_equal(listen_open(&l, "listen", text, "1", &err), OK);
    assert_true(l.n >= 1 && l.n <= 2); /* ::1, too, where there is IPv6 */
    assert_false(l.is_public);
    for (size_t i = 0; i < l.n; i++)
        assert_int_equal(port_of(l.fd[i]), number);
    assert_int_equal(try_connect("127.0.0.1", number), 0);
    /* a port in use is one clear line */
    assert_int_equal(listen_open(&second, "listen", text, "1", &err), ERR_IO);
    assert_contains(err.text, "another program listens there");
    assert_contains(err.text, text + 1);
    assert_int_equal(second.n, 0);
    listen_close(&l);
    assert_int_equal(l.n, 0);
    assert_int_not_equal(try_connect("127.0.0.1", number), 0);
    /* the port is said elsewhere */
    snprintf(port, sizeof port, "%u", number);
    assert_int_equal(listen_open(&l, "listen", "127.0.0.1", port, &err), OK);
    assert_int_equal(l.n, 1);
    assert_int_equal(port_of(l.fd[0]), number);
    listen_close(&l);
}

static void test_public(void **state)
{
    (void)state;
    struct listener l = {0};
    char text[64];
    unsigned number = free_port();
    snprintf(text, sizeof text, "0.0.0.0:%u", number);
    assert_int_equal(listen_open(&l, "listen", text, "1", NULL), OK);
    assert_true(l.is_public);
    listen_close(&l);
    snprintf(text, sizeof text, "[::]:%u", number);
    if (listen_open(&l, "listen", text, "1", NULL) == OK) { /* where there is IPv6 */
        assert_true(l.is_public);
        assert_int_equal(try_connect("127.0.0.1", number), 0); /* IPv4, too */
        listen_close(&l);
    }
}

static void test_names(void **state)
{
    (void)state;
    struct listener l = {0};
    struct error err = ERROR_INIT;
    char text[64];
    snprintf(text, sizeof text, "localhost:%u", free_port());
    assert_int_equal(listen_open(&l, "listen", text, "1", &err), OK);
    assert_false(l.is_public);
    listen_close(&l);
    assert_int_equal(listen_open(&l, "listen", "no-such-name.invalid:9400", "1", &err),
                     ERR_NOT_FOUND);
    assert_contains(err.text, "--listen: no-such-name.invalid");
    /* an address that is nobody's here (TEST-NET-1) */
    assert_int_equal(listen_open(&l, "listen", "192.0.2.1:9400", "1", &err), ERR_IO);
    assert_contains(err.text, "192.0.2.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_loopback),
        cmocka_unit_test(test_public),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
