/* SPDX-License-Identifier: MIT */
#include "http/users.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "http/secret.h"

enum { USERS_MAX = 256, LINE_SIZE = 1024 };

struct user {
    char *name, *hash; /* one allocation, of name */
};

/* Of crypt(3): the plain call, which every libcrypt has; one thread uses it. */
struct crypt_api {
    char *(*crypt)(const char *password, const char *hash);
};

struct users {
    struct user list[USERS_MAX];
    size_t n;
    struct dl_lib lib;
    struct crypt_api api;
};

static enum status load(struct users *u, struct error *err)
{
    static const char *const names[] = {"libcrypt.so.1", "libcrypt.so.2", NULL};
    static const struct dl_symbol symbols[] = {{"crypt", offsetof(struct crypt_api, crypt), true}};
    struct error why = ERROR_INIT;
    enum status st = dl_open(&u->lib, names, symbols, 1, &u->api, &why);
    return st ? fail(err, st, 0, "--web-users needs libcrypt: %s", why.text) : OK;
}

/* How far a hash tells its method and cost: "$2b$12$", "$y$j9T$", "$6$rounds=5000$". Of one that
 * tells no cost it reaches over the salt, and is its own. */
static size_t length_of_method(const char *hash)
{
    const char *end = hash;
    for (int dollars = 0; dollars < 3; end++) {
        if (!*end)
            return 0;
        dollars += *end == '$';
    }
    return (size_t)(end - hash);
}

/* Is it made as one that is known to be good, and as long? Then libcrypt takes it, too. */
static bool is_like_another(const struct users *u, const char *hash)
{
    static const char digits[] =
        "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz$";
    size_t method = length_of_method(hash), n = strlen(hash);
    if (!method || strspn(hash + method, digits) != n - method)
        return false;
    for (size_t i = 0; i < u->n; i++)
        if (strlen(u->list[i].hash) == n && strncmp(u->list[i].hash, hash, method) == 0)
            return true;
    return false;
}

/* A hash that libcrypt does not know gives NULL or "*0". The old ones without a "$" are broken in
 * an hour: they are refused. To ask costs what a password costs, so it is asked once for all that
 * were made the same way: 256 users must not keep the start waiting for a minute. */
static bool is_hash(const struct users *u, const char *hash)
{
    if (*hash != '$')
        return false;
    if (is_like_another(u, hash))
        return true;
    const char *made = u->api.crypt("", hash);
    return made && *made != '*';
}

static enum status add_line(struct users *u, const char *path, int number, char *line,
                            struct error *err)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *colon = strchr(line, ':');
    if (!*line || *line == '#')
        return OK;
    if (u->n == USERS_MAX)
        return fail(err, ERR_USAGE, 0, "%s: more than %d users", path, USERS_MAX);
    if (!colon || colon == line || !is_hash(u, colon + 1))
        return fail(err, ERR_USAGE, 0,
                    "%s:%d: not USER:HASH with a hash of crypt(3), such as htpasswd -B makes", path,
                    number);
    char *copy = strdup(line);
    if (!copy)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    copy[colon - line] = '\0';
    u->list[u->n++] = (struct user){copy, copy + (colon - line) + 1};
    return OK;
}

static enum status read_lines(struct users *u, const char *path, struct error *err)
{
    char line[LINE_SIZE];
    enum status st = OK;
    FILE *f = fopen(path, "re");
    if (!f)
        return fail(err, ERR_USAGE, errno, "--web-users: %s: %s", path, strerror(errno));
    for (int number = 1; !st && fgets(line, sizeof line, f); number++)
        st = strlen(line) == sizeof line - 1
                 ? fail(err, ERR_USAGE, 0, "%s:%d: the line is too long", path, number)
                 : add_line(u, path, number, line, err);
    if (!st && ferror(f))
        st = fail(err, ERR_USAGE, errno, "--web-users: %s: %s", path, strerror(errno));
    fclose(f);
    secret_wipe(line, sizeof line);
    if (!st && u->n == 0)
        st = fail(err, ERR_USAGE, 0, "--web-users: %s has no user in it", path);
    return st;
}

enum status users_read(struct users **out, const char *path, struct error *err)
{
    struct users *u = calloc(1, sizeof *u);
    if (!u)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = load(u, err);
    if (!st)
        st = read_lines(u, path, err);
    if (st) {
        users_destroy(u);
        return st;
    }
    *out = u;
    return OK;
}

void users_destroy(struct users *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->n; i++) {
        secret_wipe(u->list[i].hash, strlen(u->list[i].hash));
        free(u->list[i].name);
    }
    dl_close(&u->lib);
    free(u);
}

bool users_check(const struct users *u, const char *credentials)
{
    char name[USERS_CREDENTIALS_SIZE];
    const char *colon = strchr(credentials, ':');
    const struct user *user = NULL;
    if (!colon || (size_t)(colon - credentials) >= sizeof name)
        return false;
    memcpy(name, credentials, (size_t)(colon - credentials));
    name[colon - credentials] = '\0';
    for (size_t i = 0; i < u->n; i++)
        if (secret_equal(u->list[i].name, name))
            user = &u->list[i];
    const char *hash = user ? user->hash : u->list[0].hash;
    const char *made = u->api.crypt(colon + 1, hash);
    return user && made && *made != '*' && secret_equal(hash, made);
}
