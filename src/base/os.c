/* SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

bool os_read(const char *root, const char *path, char *dst, size_t size)
{
    char full[PATH_MAX];
    dst[0] = '\0';
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *f = fopen(full, "re");
    if (!f)
        return false;
    size_t n = fread(dst, 1, size - 1, f);
    bool ok = !ferror(f);
    fclose(f);
    dst[ok ? n : 0] = '\0';
    return ok;
}

bool os_exists(const char *root, const char *path)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root, path);
    return access(full, F_OK) == 0;
}

/* ---- distribution ---- */

/* KEY=value or KEY="value", at the beginning of a line. */
static void take_value(const char *text, const char *key, char *dst, size_t size)
{
    size_t key_len = strlen(key);
    dst[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, key_len) != 0 || line[key_len] != '=')
            continue;
        const char *value = line + key_len + 1;
        char ends[] = {'\n', '\0', '\0'};
        if (*value == '"' || *value == '\'')
            ends[1] = *value++;
        str_clean(dst, size, value, strcspn(value, ends));
        return;
    }
}

void os_release_read(const char *root, struct os_release *out)
{
    char text[4096];
    if (!os_read(root, "/etc/os-release", text, sizeof text))
        os_read(root, "/usr/lib/os-release", text, sizeof text);
    take_value(text, "ID", out->id, sizeof out->id);
    take_value(text, "ID_LIKE", out->like, sizeof out->like);
    take_value(text, "VERSION_ID", out->version, sizeof out->version);
    take_value(text, "PRETTY_NAME", out->name, sizeof out->name);
}

bool os_release_is(const struct os_release *r, const char *id)
{
    if (strcmp(r->id, id) == 0)
        return true;
    for (const char *p = r->like; *p;) {
        size_t n = strcspn(p, " ");
        if (n == strlen(id) && strncmp(p, id, n) == 0)
            return true;
        p += n;
        p += strspn(p, " ");
    }
    return false;
}

/* ---- rights ---- */

/* The number behind "key:" at the beginning of a line. */
static bool take_number(const char *text, const char *key, int base, unsigned skip, uint64_t *out)
{
    size_t key_len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, key_len) != 0 || line[key_len] != ':')
            continue;
        const char *p = line + key_len + 1;
        for (;; skip--) {
            p += strspn(p, " \t");
            if (skip == 0)
                break;
            p += strcspn(p, " \t\n");
        }
        char *end = NULL;
        *out = strtoull(p, &end, base);
        return end > p;
    }
    return false;
}

void os_rights_read(const char *root, struct os_rights *out)
{
    char text[8192];
    uint64_t uid = 0;
    *out = (struct os_rights){0};
    os_read(root, "/proc/self/status", text, sizeof text);
    out->known = take_number(text, "Uid", 10, 1, &uid) && /* real, effective, … */
                 take_number(text, "CapEff", 16, 0, &out->effective);
    out->uid = (unsigned)uid;
    unsigned inside = 0, outside = 0, count = 0;
    if (os_read(root, "/proc/self/uid_map", text, sizeof text))
        out->user_namespace = sscanf(text, "%u %u %u", &inside, &outside, &count) != 3 || inside ||
                              outside || count != UINT_MAX;
    if (!os_read(root, "/proc/sys/kernel/osrelease", text, sizeof text) ||
        sscanf(text, "%u.%u", &out->kernel[0], &out->kernel[1]) != 2)
        out->kernel[0] = out->kernel[1] = 0;
}

bool os_can(const struct os_rights *r, int capability)
{
    return r->known && (r->effective >> capability & 1);
}

/* ---- container ---- */

const char *os_container(const char *root)
{
    static const struct {
        const char *word, *name;
    } cgroups[] = {{"kubepods", "kubernetes"},
                   {"libpod", "podman"},
                   {"docker", "docker"},
                   {"/lxc", "lxc"},
                   {"containerd", "container"}};
    char text[8192];
    if (os_exists(root, "/run/secrets/kubernetes.io") ||
        os_exists(root, "/var/run/secrets/kubernetes.io"))
        return "kubernetes";
    os_read(root, "/proc/self/cgroup", text, sizeof text);
    for (size_t i = 0; i < sizeof cgroups / sizeof cgroups[0]; i++)
        if (strstr(text, cgroups[i].word))
            return cgroups[i].name;
    if (os_exists(root, "/run/.containerenv"))
        return "podman";
    if (os_exists(root, "/.dockerenv"))
        return "docker";
    return "";
}

/* ---- processes ---- */

static void read_exe(const char *root, const char *pid, char *dst, size_t size)
{
    char link[PATH_MAX], target[PATH_MAX];
    dst[0] = '\0';
    snprintf(link, sizeof link, "%s/proc/%s/exe", root, pid);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = '\0';
    char *gone = strstr(target, " (deleted)"), *slash = strrchr(target, '/');
    if (gone)
        *gone = '\0';
    const char *name = slash ? slash + 1 : target;
    str_clean(dst, size, name, strlen(name));
}

/* "PID (name) state parent …"; the name may hold blanks and brackets. */
static bool read_process(const char *root, const char *pid, struct os_process *p)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!os_read(root, path, text, sizeof text))
        return false;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || sscanf(text, "%d", &p->pid) != 1 ||
        sscanf(close + 1, " %*c %d", &p->parent) != 1)
        return false;
    str_clean(p->name, sizeof p->name, open + 1, (size_t)(close - open - 1));
    read_exe(root, pid, p->exe, sizeof p->exe);
    return true;
}

void os_each_process(const char *root, void (*see)(void *self, const struct os_process *p),
                     void *self)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc", root);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));) {
        struct os_process p = {0};
        if (isdigit((unsigned char)e->d_name[0]) && read_process(root, e->d_name, &p))
            see(self, &p);
    }
    if (d)
        closedir(d);
}
