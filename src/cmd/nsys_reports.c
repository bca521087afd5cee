/* SPDX-License-Identifier: MIT */
#include "cmd/nsys_reports.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "source/nsys/nsys.h"
#include "source/nsys/tool.h"

struct report {
    const char *path;
    char *sqlite;     /* owned; NULL: path itself is read */
    struct error why; /* why there is no export */
};

struct reports {
    struct nsys_tool tool;
    bool has_tool;
    int n;
    struct report *list; /* owned */
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static bool is_report(const char *path)
{
    return ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep");
}

static enum status find_tool(struct reports *r, const char *nsys, struct error *err)
{
    const struct nsys_places places = nsys_places_here();
    enum status st = nsys_tool_open(&r->tool, &places, nsys, err);
    r->has_tool = !st;
    return st;
}

static enum status export(struct reports *r, int i, struct error *err) {
    struct report *p = &r->list[i]; char path[PATH_MAX];
    char *real = realpath(p->path, NULL); /* a name may begin with a dash */
    if (!real) return fail(err, ERR_IO, 0, "No such file or directory");
    snprintf(path, sizeof path, "%s/%d.sqlite", r->tool.folder.path, i);
    enum status st = nsys_tool_export(&r->tool, real, path, false, err);
    free(real);
    if (!st && !(p->sqlite = strdup(path))) st = fail(err, ERR_NOMEM, 0, "out of memory");
    return st;
}

enum status reports_open(struct reports **out, int n, char *const *paths, const char *nsys,
                         struct error *err)
{
    struct reports *r = calloc(1, sizeof *r);
    if (r)
        r->list = calloc((size_t)n, sizeof *r->list);
    if (!r || !r->list) {
        free(r);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    struct error none = ERROR_INIT;
    bool looked = false;
    r->n = n;
    for (int i = 0; i < n; i++) {
        struct report *p = &r->list[i];
        p->path = paths[i];
        if (!is_report(p->path))
            continue;
        if (!looked)
            find_tool(r, nsys, &none);
        looked = true;
        p->why = none;
        if (r->has_tool)
            export(r, i, &p->why);
    }
    *out = r;
    return OK;
}

void reports_close(struct reports *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->n; i++)
        free(r->list[i].sqlite);
    if (r->has_tool)
        nsys_tool_close(&r->tool);
    free(r->list);
    free(r);
}

enum status reports_file(struct reports *r, int i, const char **path, struct error *err)
{
    const struct report *p = &r->list[i];
    *path = p->sqlite ? p->sqlite : p->path;
    if (!p->why.status)
        return OK;
    fail(err, p->why.status, p->why.native, "%s", p->why.text);
    nsys_name_file(err, p->why.status, p->path);
    return p->why.status;
}

void reports_rename(const struct reports *r, int i, struct error *err)
{
    const struct report *p = &r->list[i];
    char rest[sizeof err->text];
    size_t n = p->sqlite ? strlen(p->sqlite) : 0;
    if (!n || strncmp(err->text, p->sqlite, n) != 0 || strncmp(err->text + n, ": ", 2) != 0)
        return;
    snprintf(rest, sizeof rest, "%s", err->text + n + 2);
    fail(err, err->status, err->native, "%s", rest);
    nsys_name_file(err, err->status, p->path);
}
