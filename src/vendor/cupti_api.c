/* SPDX-License-Identifier: MIT */
#include "vendor/cupti_api.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct dl_symbol symbols[] = {
#define REQUIRED(name) {#name, offsetof(struct cupti_api, name), true},
#define OPTIONAL(name) {#name, offsetof(struct cupti_api, name), false},
    CUPTI_SYMBOLS(REQUIRED, OPTIONAL, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

/* Sorts "libcupti.so.12.9" after "libcupti.so.12": the soname's number times 1000 plus the minor.
 * Files named after the year (libcupti.so.2025.3.1) and the developer's link come before all of
 * them, as they say nothing about the interface. -1 = not a libcupti. */
static long rank(const char *file)
{
    static const char stem[] = "libcupti.so";
    if (strncmp(file, stem, sizeof stem - 1) != 0)
        return -1;
    const char *rest = file + sizeof stem - 1;
    if (*rest == '\0')
        return 0;
    int major = 0, minor = 0, used = 0;
    int n = sscanf(rest, ".%4d%n.%3d%n", &major, &used, &minor, &used);
    if (n < 1 || major <= 0 || minor < 0)
        return -1;
    if (major >= 1000)
        return 1;
    return rest[used] == '\0' ? major * 1000L + minor : -1;
}

/* The best libcupti in dir, as a file name. */
static enum status find_libcupti(const char *dir, char *file, size_t size, struct error *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return fail(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "%s: %s", dir,
                    strerror(errno));
    long best = -1;
    for (const struct dirent *e; (e = readdir(d));) {
        long r = rank(e->d_name);
        if (r > best && strlen(e->d_name) < size) {
            best = r;
            snprintf(file, size, "%s", e->d_name);
        }
    }
    closedir(d);
    if (best < 0)
        return fail(err, ERR_NOT_FOUND, 0, "%s: no libcupti.so.* in this folder", dir);
    return OK;
}

static enum status open_in(struct dl_lib *lib, const char *dir, const char *file,
                           const struct dl_symbol *list, size_t n, void *api, struct error *err)
{
    char path[PATH_MAX + 64];
    int len = snprintf(path, sizeof path, "%s/%s", dir, file);
    if (len < 0 || (size_t)len >= sizeof path)
        return fail(err, ERR_USAGE, 0, "%s: too long for a path", dir);
    const char *const names[] = {path, NULL};
    return dl_open(lib, names, list, n, api, err);
}

static enum status load(struct cupti_api *api, const char *dir, struct error *err)
{
    static const char helper[] = "CUPTI needs a library from its own folder";
    char file[NAME_MAX + 1];
    enum status st = find_libcupti(dir, file, sizeof file, err);
    if (st != OK)
        return st;
    /* libcupti opens these two by bare name and does not look beside itself. Once they are loaded
     * they are found by their sonames, without LD_LIBRARY_PATH. */
    st = open_in(&api->host, dir, "libnvperf_host.so", NULL, 0, NULL, err);
    if (st != OK)
        return fail_wrap(err, st, "%s", helper);
    st = open_in(&api->target, dir, "libnvperf_target.so", NULL, 0, NULL, err);
    if (st != OK)
        return fail_wrap(err, st, "%s", helper);
    st = open_in(&api->lib, dir, file, symbols, sizeof symbols / sizeof symbols[0], api, err);
    if (st != OK)
        return st;
    CUptiResult rc = api->cuptiGetVersion(&api->version);
    if (rc != CUPTI_SUCCESS)
        return fail_wrap(err, cupti_fail(err, "cuptiGetVersion", rc), "%s", api->lib.path);
    if (api->version < CUPTI_MIN_VERSION)
        return fail(err, ERR_UNSUPPORTED, 0,
                    "%s is too old: interface version %u, needed is %d (CUDA 12.8) or newer",
                    api->lib.path, (unsigned)api->version, CUPTI_MIN_VERSION);
    return OK;
}

enum status cupti_api_load(struct cupti_api *api, const char *dir, struct error *err)
{
    struct cupti_api fresh = {0};
    char absolute[PATH_MAX];
    if (!realpath(dir, absolute))
        return fail(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "%s: %s", dir,
                    strerror(errno));
    enum status st = load(&fresh, absolute, err);
    if (st == OK)
        *api = fresh;
    else
        cupti_api_unload(&fresh);
    return st;
}

void cupti_api_unload(struct cupti_api *api)
{
    if (!api)
        return;
    dl_close(&api->lib);
    dl_close(&api->target);
    dl_close(&api->host);
    *api = (struct cupti_api){0};
}

struct result {
    CUptiResult rc;
    enum status status;
    const char *name, *text;
};

static struct result find_result(CUptiResult rc)
{
    static const struct result results[] = {
#define X(name, number, status, text) {number, status, #name, text},
        X(SUCCESS, 0, OK, "done") CUPTI_RESULTS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].rc == rc)
            return results[i];
    return (struct result){rc, ERR_VENDOR, "?", "unknown result"};
}

const char *cupti_result_name(CUptiResult rc)
{
    return find_result(rc).name;
}

const char *cupti_result_text(CUptiResult rc)
{
    return find_result(rc).text;
}

enum status cupti_status(CUptiResult rc)
{
    return find_result(rc).status;
}

enum status cupti_fail(struct error *err, const char *call, CUptiResult rc)
{
    struct result r = find_result(rc);
    return fail(err, r.status, rc, "%s: %s (%s, %d)", call, r.text, r.name, rc);
}
