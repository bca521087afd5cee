/* SPDX-License-Identifier: MIT */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/num.h"

/* Who waits to be accepted; the kernel takes the smaller of this and net.core.somaxconn. */
enum { BACKLOG = 1024 };

struct place {
    char host[256], port[8]; /* "" = none was said */
};

static enum status wrong(const char *option, const char *text, struct error *err)
{
    return fail(err, ERR_USAGE, 0,
                "--%s: not \"%s\"; ADDRESS:PORT, [IPV6]:PORT, :PORT (loopback) or ADDRESS", option,
                text);
}

/* Where host ends and ":PORT" begins; NULL = it cannot be told. */
static const char *find_port(const char *text)
{
    if (*text == '[') {
        const char *end = strchr(text, ']');
        return end && (end[1] == ':' || !end[1]) ? end + 1 : NULL;
    }
    const char *colon = strchr(text, ':');
    if (colon && strchr(colon + 1, ':'))
        return text + strlen(text); /* an IPv6 address alone */
    return colon ? colon : text + strlen(text);
}

static bool is_port(const char *text)
{
    uint64_t number;
    return num_parse_u64(text, &number) && number > 0 && number < 65536 && strlen(text) < 6;
}

static enum status parse(struct place *p, const char *option, const char *text, struct error *err)
{
    const char *port = find_port(text);
    bool in_brackets = *text == '[';
    if (!port || (*port && !is_port(port + 1)))
        return wrong(option, text, err);
    size_t n = (size_t)(port - text) - 2 * in_brackets;
    if (n >= sizeof p->host)
        return wrong(option, text, err);
    memcpy(p->host, text + in_brackets, n);
    p->host[n] = '\0';
    snprintf(p->port, sizeof p->port, "%s", *port ? port + 1 : "");
    /* "9400" alone would be the address 0.0.36.184 */
    if ((!*p->host && !*p->port) || (*p->host && is_port(p->host)))
        return wrong(option, text, err);
    return OK;
}

enum status listen_check(const char *option, const char *text, struct error *err)
{
    struct place p;
    return parse(&p, option, text, err);
}

/* ---- sockets ---- */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

/* Of IPv6, "::" alone takes IPv4, too. */
static int open_one(const struct addrinfo *a)
{
    int on = 1, only_v6 = 0;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (a->ai_family == AF_INET6) {
        only_v6 = !IN6_IS_ADDR_UNSPECIFIED(
            &((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Where one family is switched off, or has no such address here, the other one is enough. */
static bool is_missing(int why)
{
    return why == EAFNOSUPPORT || why == EADDRNOTAVAIL;
}

static enum status open_all(struct listener *l, const struct addrinfo *list, const char *option,
                            const char *host, const char *port, struct error *err)
{
    int why = 0;
    for (const struct addrinfo *a = list; a && l->n < LISTEN_SOCKETS_MAX; a = a->ai_next) {
        int fd = open_one(a);
        if (fd >= 0) {
            l->fd[l->n++] = fd;
            l->is_public |= !is_loopback(a->ai_addr);
            continue;
        }
        why = errno;
        if (!is_missing(why))
            break;
    }
    if (l->n && (!why || is_missing(why)))
        return OK;
    listen_close(l);
    return fail(err, ERR_IO, why, "--%s: %s port %s: %s", option, host, port,
                why == EADDRINUSE ? "another program listens there" : strerror(why));
}

enum status listen_open(struct listener *l, const char *option, const char *text,
                        const char *otherwise, struct error *err)
{
    struct place p;
    struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
    enum status st = parse(&p, option, text, err);
    if (st)
        return st;
    const char *host = *p.host ? p.host : "localhost", *port = *p.port ? p.port : otherwise;
    struct listener fresh = {0};
    int why = 0;
    if (*p.host) {
        why = getaddrinfo(host, port, &hints, &list);
    } else { /* both, whatever /etc/hosts says of localhost */
        struct addrinfo *v6 = NULL;
        hints.ai_flags = AI_NUMERICHOST;
        why = getaddrinfo("127.0.0.1", port, &hints, &list);
        if (!why && getaddrinfo("::1", port, &hints, &v6) == 0)
            list->ai_next = v6; /* freed with it */
    }
    if (why)
        return fail(err, ERR_NOT_FOUND, 0, "--%s: %s: %s", option, host, gai_strerror(why));
    st = open_all(&fresh, list, option, host, port, err);
    freeaddrinfo(list);
    if (!st)
        *l = fresh;
    return st;
}

void listen_close(struct listener *l)
{
    for (size_t i = 0; i < l->n; i++)
        close(l->fd[i]);
    *l = (struct listener){0};
}
