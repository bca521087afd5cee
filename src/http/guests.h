/* SPDX-License-Identifier: MIT */
/* Who is connected, and who has to go: limits that slow and many clients cannot turn against
 * others. A newcomer is never refused for them; whoever has waited longest without need goes.
 *
 * Measured against a flood of 20 addresses with 50 slow connections each, a library's own limits
 * (connections, time of inactivity) starve everybody else, since a client that drips a byte every
 * two seconds is never inactive. */
#ifndef SMEFF_HTTP_GUESTS_H
#define SMEFF_HTTP_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "http/request.h"
#include "http/stream.h"

/* MAX: at once, so that a thousand slow ones are held until their time is up: closing them sooner
 * makes them come back sooner, which costs more. 16 KiB each. SPARE: those that are being closed
 * beside them. NEW: of one address (of IPv6: of one /64) that have had no answer yet, SAME: in all
 * of one address; neither for loopback, where proxies and scrapers are one address. STREAMS: event
 * streams in all, STREAMS_SAME: of one address. CHECKS_SAME: passwords of one address that wait to
 * be checked, CHECKS_LOCAL: of all loopback addresses, of the 16 that can wait (auth.c). */
enum {
    GUESTS_MAX = 1200,
    GUESTS_SPARE = 256,
    GUESTS_NEW = 8,
    GUESTS_SAME = 64,
    GUESTS_STREAMS = 64,
    GUESTS_STREAMS_SAME = 16,
    GUESTS_CHECKS_SAME = 2,
    GUESTS_CHECKS_LOCAL = 12,
};

/* To a complete request; from an answer to the next complete request; for an answer to be taken. */
#define GUESTS_REQUEST_NS INT64_C(5000000000)
#define GUESTS_IDLE_NS    INT64_C(15000000000)
#define GUESTS_ANSWER_NS  INT64_C(30000000000)

enum guest_state {
    GUEST_READING,   /* its request is not complete */
    GUEST_THINKING,  /* its password is being checked */
    GUEST_ANSWERING, /* it has not taken all of its answer */
    GUEST_STREAMING,
    GUEST_IDLE, /* it has its answer, and may ask again */
};

/* Of a request's password. */
enum guest_check { CHECK_NONE, CHECK_RUNS, CHECK_RIGHT, CHECK_WRONG };

struct guest {
    int fd;
    enum http_door door;
    bool on_loopback;          /* came to a loopback address */
    bool is_local;             /* from one */
    unsigned char address[16]; /* IPv4 as ::ffff:a.b.c.d */
    enum guest_state state;
    bool is_known;    /* has had a good answer */
    bool is_leaving;  /* shut down, and not yet closed */
    int64_t since_ns; /* of its state; monotonic */
    struct stream *stream;
    void *library; /* the library's own connection */
    bool is_suspended;
    enum guest_check check;
};

struct guests {
    struct guest *list[GUESTS_MAX + GUESTS_SPARE]; /* owned; those that leave are among them */
    size_t n, max; /* max: at most GUESTS_MAX, less where descriptors are few */
};

/* The address of a connection, with which it is counted. */
void guest_address(struct guest *g, const struct sockaddr *from, const struct sockaddr *to);

/* Before a newcomer is let in: who has to go for it, NULL = nobody. To be asked once. */
struct guest *guests_victim(const struct guests *t, const struct guest *newcomer, int64_t now_ns);

/* Has it had its time? */
bool guest_is_late(const struct guest *g, int64_t now_ns);

/* false: there is no room, even among those that leave. */
bool guests_add(struct guests *t, struct guest *g);
void guests_remove(struct guests *t, struct guest *g);

/* May this guest have an event stream? */
bool guests_may_stream(const struct guests *t, const struct guest *g);

/* May this guest have a password checked? One address must not keep all others waiting. */
bool guests_may_ask(const struct guests *t, const struct guest *g);

#endif
