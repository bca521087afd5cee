/* SPDX-License-Identifier: MIT */
#include "cmd/places.h"

#include <stdlib.h>
#include <string.h>

enum { SERVERS_MAX = 256 };

bool places_is_none(const char *list)
{
    return list && strcmp(list, "none") == 0;
}

/* A URL of target.h always has one. */
unsigned places_port(const struct target *t)
{
    if (!t->is_loopback || t->unix_socket[0])
        return 0;
    const char *host = strstr(t->url, "://");
    const char *end = host ? strchr(host + 3, '/') : NULL;
    while (end && end > host && *end != ':')
        end--;
    return end && end > host + 3 ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
}

enum status places_add_named(struct watch *w, const char *url, const char *token, struct error *err)
{
    struct watch_place place = {.is_named = true, .token = *token ? token : NULL};
    enum status st = target_parse(url, &place.target, err);
    if (!st && watch_count(w) >= SERVERS_MAX)
        st = fail(err, ERR_USAGE, 0, "more than %d servers", SERVERS_MAX);
    unsigned port = st ? 0 : places_port(&place.target);
    if (port)
        place.pid = discover_listener("", port);
    return st ? st : watch_add(w, &place, err);
}

enum status places_add_list(struct watch *w, const char *list, const char *token, struct error *err)
{
    enum status st = OK;
    if (places_is_none(list))
        return OK;
    for (const char *p = list; p && *p && !st;) {
        char url[TARGET_URL_SIZE];
        size_t n = strcspn(p, ",");
        if (n >= sizeof url)
            return fail(err, ERR_USAGE, 0, "the URL is too long");
        memcpy(url, p, n);
        url[n] = '\0';
        st = n ? places_add_named(w, url, token, err) : OK;
        p += n + (p[n] == ',');
    }
    return st;
}

size_t places_find(struct discover_place out[DISCOVER_MAX])
{
    int pids[DISCOVER_HOLDERS_MAX];
    size_t n = discover_gpu_holders("", pids, DISCOVER_HOLDERS_MAX);
    return discover_places("", pids, n, out, DISCOVER_MAX);
}

enum status places_add_found(struct watch *w, const struct discover_place *list, size_t n,
                             struct error *err)
{
    enum status st = OK;
    /* those beyond are left out: it is what this machine has, and nobody's mistake */
    for (size_t i = 0; i < n && !st && watch_count(w) < SERVERS_MAX; i++) {
        struct watch_place place = {.pid = list[i].pid};
        st = target_parse(list[i].url, &place.target, err);
        if (!st)
            st = watch_add(w, &place, err);
    }
    return st;
}

bool places_is_shown(const struct watch_view *v)
{
    return v->is_named || v->is_known || (v->pid && !v->is_absent);
}
