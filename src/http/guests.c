/* SPDX-License-Identifier: MIT */
#include "http/guests.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

/* An answer that was not taken within this time is taken slowly. */
static const int64_t slow_ns = INT64_C(2000000000);

/* ---- addresses ---- */

static bool get_address(const struct sockaddr *a, unsigned char out[16])
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
    memset(out, 0, 16);
    if (a->sa_family == AF_INET) {
        memcpy(out, mapped, sizeof mapped);
        memcpy(out + 12, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
    } else if (a->sa_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, 16);
    }
    return memcmp(out, mapped, sizeof mapped) == 0; /* IPv4 */
}

static bool is_loopback(const unsigned char address[16], bool is_v4)
{
    static const unsigned char one[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return is_v4 ? address[12] == 127 : memcmp(address, one, sizeof one) == 0;
}

void guest_address(struct guest *g, const struct sockaddr *from, const struct sockaddr *to)
{
    unsigned char own[16];
    bool is_v4 = get_address(to, own);
    g->on_loopback = is_loopback(own, is_v4);
    is_v4 = get_address(from, g->address);
    g->is_local = is_loopback(g->address, is_v4);
    if (!is_v4)
        memset(g->address + 8, 0, 8); /* a host of IPv6 has a whole /64 */
}

/* ---- who goes ---- */

static bool is_same(const struct guest *a, const struct guest *b)
{
    return memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* In this order they go; -1 = stays. */
static int expendable(const struct guest *g, int64_t now_ns)
{
    if (g->is_leaving)
        return -1;
    switch (g->state) {
    case GUEST_READING:
        return 0;
    case GUEST_ANSWERING:
        return now_ns - g->since_ns > slow_ns ? 0 : 2;
    case GUEST_IDLE:
        return g->is_known ? 1 : 0;
    case GUEST_THINKING:
    case GUEST_STREAMING:
        break;
    }
    return -1;
}

/* Does a go before b? */
static bool goes_first(const struct guest *a, const struct guest *b, int64_t now_ns)
{
    int of_a = expendable(a, now_ns), of_b = expendable(b, now_ns);
    return of_a != of_b ? of_a < of_b : a->since_ns < b->since_ns;
}

/* The first to go; of one address, or with NULL of all. */
static struct guest *first_to_go(const struct guests *t, const struct guest *address,
                                 int64_t now_ns)
{
    struct guest *first = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct guest *g = t->list[i];
        if (expendable(g, now_ns) < 0 || (address && !is_same(g, address)))
            continue;
        if (!first || goes_first(g, first, now_ns))
            first = g;
    }
    return first;
}

struct guest *guests_victim(const struct guests *t, const struct guest *newcomer, int64_t now_ns)
{
    size_t all = 0, same = 0, fresh = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct guest *g = t->list[i];
        bool counts = !g->is_leaving, is_ours = counts && is_same(g, newcomer);
        all += counts;
        same += is_ours;
        fresh += is_ours && !g->is_known;
    }
    if (!newcomer->is_local && (fresh >= GUESTS_NEW || same >= GUESTS_SAME))
        return first_to_go(t, newcomer, now_ns);
    return all >= t->max ? first_to_go(t, NULL, now_ns) : NULL;
}

bool guest_is_late(const struct guest *g, int64_t now_ns)
{
    static const int64_t limit_ns[] = {[GUEST_READING] = GUESTS_REQUEST_NS,
                                       [GUEST_ANSWERING] = GUESTS_ANSWER_NS,
                                       [GUEST_IDLE] = GUESTS_IDLE_NS,
                                       [GUEST_THINKING] = 0,
                                       [GUEST_STREAMING] = 0};
    int64_t limit = limit_ns[g->state];
    return !g->is_leaving && limit && now_ns - g->since_ns > limit;
}

/* ---- the table ---- */

bool guests_add(struct guests *t, struct guest *g)
{
    if (t->n >= t->max + GUESTS_SPARE)
        return false;
    t->list[t->n++] = g;
    return true;
}

void guests_remove(struct guests *t, struct guest *g)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i] == g) {
            t->list[i] = t->list[--t->n];
            return;
        }
}

bool guests_may_ask(const struct guests *t, const struct guest *g)
{
    size_t same = 0, local = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool thinks = t->list[i]->state == GUEST_THINKING;
        same += thinks && is_same(t->list[i], g);
        local += thinks && t->list[i]->is_local;
    }
    return g->is_local ? local < GUESTS_CHECKS_LOCAL : same < GUESTS_CHECKS_SAME;
}

bool guests_may_stream(const struct guests *t, const struct guest *g)
{
    size_t all = 0, same = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool streams = t->list[i]->state == GUEST_STREAMING && !t->list[i]->is_leaving;
        all += streams;
        same += streams && is_same(t->list[i], g);
    }
    return all < GUESTS_STREAMS && (g->is_local || same < GUESTS_STREAMS_SAME);
}
