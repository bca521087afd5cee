/* SPDX-License-Identifier: MIT */
/* Limits: who goes for a newcomer, who has had its time, who may stream. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "http/guests.h"

static struct guests t;
static struct guest all[GUESTS_MAX + GUESTS_SPARE];
static const int64_t s1 = 1000000000;

static int set_up(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    memset(all, 0, sizeof all);
    t.max = 20;
    return 0;
}

static struct guest from(const char *ip, enum guest_state state, int64_t since_ns)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a = {0}, to = {.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001)}};
    struct guest g = {.state = state, .since_ns = since_ns};
    if (inet_pton(AF_INET, ip, &a.v4.sin_addr) == 1)
        a.any.sa_family = AF_INET;
    else if (inet_pton(AF_INET6, ip, &a.v6.sin6_addr) == 1)
        a.any.sa_family = AF_INET6;
    guest_address(&g, &a.any, &to.any);
    return g;
}

static struct guest *add(const char *ip, enum guest_state state, int64_t since_ns)
{
    struct guest *g = &all[t.n];
    *g = from(ip, state, since_ns);
    assert_true(guests_add(&t, g));
    return g;
}

static const struct guest *victim(const char *ip, int64_t now_ns)
{
    struct guest newcomer = from(ip, GUEST_READING, now_ns);
    return guests_victim(&t, &newcomer, now_ns);
}

static void test_addresses(void **state)
{
    (void)state;
    assert_true(from("127.0.0.1", 0, 0).is_local);
    assert_true(from("127.9.9.9", 0, 0).is_local);
    assert_true(from("::1", 0, 0).is_local);
    assert_true(from("::ffff:127.0.0.1", 0, 0).is_local);
    assert_false(from("10.0.0.1", 0, 0).is_local);
    assert_false(from("::2", 0, 0).is_local);
    assert_false(from("::ffff:10.0.0.1", 0, 0).is_local);
    assert_false(from("127.0.0.1", 0, 0).on_loopback); /* it came to 10.0.0.1 */
    struct guest a = from("10.0.0.1", 0, 0), b = from("::ffff:10.0.0.1", 0, 0),
                 c = from("10.0.0.2", 0, 0), d = from("2001:db8::1", 0, 0),
                 e = from("2001:db8::2:3", 0, 0), f = from("2001:db8:0:1::1", 0, 0);
    assert_memory_equal(a.address, b.address, 16);
    assert_memory_not_equal(a.address, c.address, 16);
    assert_memory_equal(d.address, e.address, 16); /* one /64 */
    assert_memory_not_equal(d.address, f.address, 16);
}

static void test_room(void **state)
{
    (void)state;
    for (int i = 0; i < 19; i++)
        add("127.0.0.1", GUEST_READING, i);
    assert_null(victim("127.0.0.1", s1)); /* loopback is one address, and has no limit of its own */
    add("127.0.0.1", GUEST_READING, 19);
    assert_ptr_equal(victim("10.0.0.1", s1), &all[0]);
    all[0].is_leaving = true; /* not twice, and it does not count any more */
    assert_null(victim("10.0.0.1", s1));
    add("127.0.0.1", GUEST_READING, 20);
    assert_ptr_equal(victim("10.0.0.1", s1), &all[1]);
}

/* Those who never said a whole request go before those who wait between two, whatever their age. */
static void test_order(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++)
        add("127.0.0.1", GUEST_STREAMING, 0);
    add("127.0.0.1", GUEST_THINKING, 0);
    struct guest *scraper = add("127.0.0.1", GUEST_IDLE, 1);
    scraper->is_known = true;
    struct guest *answered = add("127.0.0.1", GUEST_ANSWERING, 9 * s1);
    struct guest *slow = add("127.0.0.1", GUEST_READING, 9 * s1);
    assert_ptr_equal(victim("127.0.0.1", 10 * s1), slow);
    slow->is_leaving = true;
    struct guest *stranger = add("127.0.0.1", GUEST_IDLE, 8 * s1); /* had errors alone */
    assert_ptr_equal(victim("127.0.0.1", 10 * s1), stranger);
    stranger->state = GUEST_STREAMING;
    assert_ptr_equal(victim("127.0.0.1", 10 * s1), scraper);
    /* who takes its answer slowly is no better than who asks slowly */
    assert_ptr_equal(victim("127.0.0.1", 12 * s1), answered);
    scraper->is_leaving = true;
    add("127.0.0.1", GUEST_THINKING, 0);
    assert_ptr_equal(victim("127.0.0.1", 10 * s1), answered);
    answered->is_leaving = true;
    add("127.0.0.1", GUEST_STREAMING, 0);
    assert_null(victim("127.0.0.1", 10 * s1)); /* who streams or is being checked stays */
}

/* One address is held to its share by its own oldest, not by refusing who comes. */
static void test_one_address(void **state)
{
    (void)state;
    t.max = 1000;
    struct guest *other = add("10.0.0.9", GUEST_READING, 0);
    for (int i = 0; i < GUESTS_NEW; i++) {
        assert_null(victim("10.0.0.1", s1));
        add("10.0.0.1", GUEST_READING, 1 + i);
    }
    assert_ptr_equal(victim("10.0.0.1", s1), other + 1);
    assert_null(victim("10.0.0.2", s1));
    assert_null(victim("127.0.0.1", s1));
    for (size_t i = 1; i < t.n; i++)
        all[i].is_known = true; /* had an answer: a scraper, a proxy */
    assert_null(victim("10.0.0.1", s1));
    while (t.n < 1 + GUESTS_SAME) {
        struct guest *g = add("10.0.0.1", GUEST_IDLE, 100);
        g->is_known = true;
    }
    assert_non_null(victim("10.0.0.1", s1));
    assert_ptr_equal(victim("2001:db8::1", s1), NULL);
}

static void test_late(void **state)
{
    (void)state;
    static const struct {
        enum guest_state state;
        int64_t limit_ns; /* 0 = never */
    } limits[] = {{GUEST_READING, GUESTS_REQUEST_NS},
                  {GUEST_ANSWERING, GUESTS_ANSWER_NS},
                  {GUEST_IDLE, GUESTS_IDLE_NS},
                  {GUEST_THINKING, 0},
                  {GUEST_STREAMING, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct guest g = from("10.0.0.1", limits[i].state, s1);
        assert_false(guest_is_late(&g, s1 + limits[i].limit_ns));
        assert_int_equal(guest_is_late(&g, s1 + limits[i].limit_ns + 1), limits[i].limit_ns != 0);
        assert_int_equal(guest_is_late(&g, 1000000 * s1), limits[i].limit_ns != 0);
        g.is_leaving = true;
        assert_false(guest_is_late(&g, 1000000 * s1));
    }
    assert_int_equal(GUESTS_REQUEST_NS, 5 * s1);
}

static void test_streams(void **state)
{
    (void)state;
    t.max = 1000;
    struct guest local = from("127.0.0.1", GUEST_READING, 0),
                 far = from("10.0.0.1", GUEST_READING, 0),
                 other = from("10.0.0.2", GUEST_READING, 0);
    for (int i = 0; i < GUESTS_STREAMS_SAME; i++) {
        assert_true(guests_may_stream(&t, &far));
        add("10.0.0.1", GUEST_STREAMING, 0);
    }
    assert_false(guests_may_stream(&t, &far));
    assert_true(guests_may_stream(&t, &other));
    while (t.n < GUESTS_STREAMS) {
        assert_true(guests_may_stream(&t, &local));
        add("127.0.0.1", GUEST_STREAMING, 0);
    }
    assert_false(guests_may_stream(&t, &local));
    all[0].is_leaving = true;
    assert_true(guests_may_stream(&t, &local));
}

static void test_checks(void **state)
{
    (void)state;
    struct guest local = from("127.0.0.1", GUEST_READING, 0),
                 far = from("10.0.0.1", GUEST_READING, 0),
                 other = from("10.0.0.2", GUEST_READING, 0);
    for (int i = 0; i < GUESTS_CHECKS_SAME; i++) {
        assert_true(guests_may_ask(&t, &far));
        add("10.0.0.1", GUEST_THINKING, 0);
        add("127.0.0.1", GUEST_THINKING, 0);
    }
    assert_false(guests_may_ask(&t, &far));
    assert_true(guests_may_ask(&t, &other));
    /* loopback's share is larger, but not all; its addresses are counted together */
    for (int i = GUESTS_CHECKS_SAME; i < GUESTS_CHECKS_LOCAL; i++) {
        assert_true(guests_may_ask(&t, &local));
        add(i % 2 ? "::1" : "127.0.0.2", GUEST_THINKING, 0);
    }
    assert_false(guests_may_ask(&t, &local));
    assert_true(guests_may_ask(&t, &other));
}

static void test_table(void **state)
{
    (void)state;
    while (t.n < t.max + GUESTS_SPARE)
        add("10.0.0.1", GUEST_READING, 0);
    struct guest more = from("10.0.0.1", GUEST_READING, 0);
    assert_false(guests_add(&t, &more));
    guests_remove(&t, &more); /* not there */
    guests_remove(&t, &all[3]);
    assert_int_equal(t.n, t.max + GUESTS_SPARE - 1);
    for (size_t i = 0; i < t.n; i++)
        assert_ptr_not_equal(t.list[i], &all[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_addresses, set_up),
        cmocka_unit_test_setup(test_room, set_up),
        cmocka_unit_test_setup(test_order, set_up),
        cmocka_unit_test_setup(test_one_address, set_up),
        cmocka_unit_test_setup(test_late, set_up),
        cmocka_unit_test_setup(test_streams, set_up),
        cmocka_unit_test_setup(test_checks, set_up),
        cmocka_unit_test_setup(test_table, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
