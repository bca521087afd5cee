/* SPDX-License-Identifier: MIT */
#include "source/nsys/find.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nsight Systems' own installation, with the folders side by side; and Nsight Compute's.
 * https://docs.nvidia.com/nsight-systems/InstallationGuide/ */
static const char *const patterns[] = {
    "/opt/nvidia/nsight-systems/*/target-linux-*/nsys",
    "/opt/nvidia/nsight-systems-cli/*/target-linux-*/nsys",
    "/usr/local/cuda*/nsight-systems-*/target-linux-*/nsys",
    "/opt/nvidia/nsight-systems/*/bin/nsys",
    "/opt/nvidia/nsight-systems-cli/*/bin/nsys",
    "/opt/nvidia/nsight-compute/*/host/target-linux-*/nsys",
};

struct nsys_places nsys_places_here(void)
{
    return (struct nsys_places){"", getenv("PATH")};
}

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* The same file under two names is one candidate. */
static void add(struct nsys_candidates *c, const char *path)
{
    char *real = is_program(path) ? realpath(path, NULL) : NULL;
    bool fits = real && strlen(real) < NSYS_PATH_SIZE && c->n < NSYS_CANDIDATES_MAX;
    for (size_t i = 0; fits && i < c->n; i++)
        fits = strcmp(c->list[i], real) != 0;
    if (fits)
        snprintf(c->list[c->n++], NSYS_PATH_SIZE, "%s", real);
    free(real);
}

static void add_from_path(struct nsys_candidates *c, const struct nsys_places *places,
                          const char *name)
{
    for (const char *at = places->path; at && *at;) {
        char path[PATH_MAX];
        size_t n = strcspn(at, ":");
        /* only absolute folders: a program of the current folder is nobody's installation */
        if (*at == '/' && (size_t)snprintf(path, sizeof path, "%s%.*s/%s", places->root, (int)n, at,
                                           name) < sizeof path)
            add(c, path);
        at += n + (at[n] == ':');
    }
}

static void add_installed(struct nsys_candidates *c, const struct nsys_places *places)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char pattern[PATH_MAX];
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, "%s%s", places->root, patterns[i]);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                add(c, found.gl_pathv[k]);
        globfree(&found);
    }
}

enum status nsys_find(const struct nsys_places *places, const char *name,
                      struct nsys_candidates *out, struct error *err)
{
    out->n = 0;
    if (name && strchr(name, '/')) {
        add(out, name);
        return out->n ? OK : fail(err, ERR_NOT_FOUND, 0, "%s: no such program", name);
    }
    add_from_path(out, places, name ? name : "nsys");
    if (name)
        return out->n ? OK : fail(err, ERR_NOT_FOUND, 0, "%s: no such program in PATH", name);
    add_installed(out, places);
    return out->n ? OK
                  : fail(err, ERR_NOT_FOUND, 0,
                         "no nsys in PATH or below /opt/nvidia: install Nsight Systems, or say "
                         "where it is (--nsys PROGRAM)");
}

/* The folder of the program, and the one that holds it. */
static bool folders_of(const char *program, char above[NSYS_PATH_SIZE])
{
    snprintf(above, NSYS_PATH_SIZE, "%s", program);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(above, '/');
        if (!slash || slash == above)
            return false;
        *slash = '\0';
    }
    return true;
}

/* Of the folder names that Nsight Compute uses, one holds the importer. */
static bool importer_below(const char *above, const char *folders, char *folder, size_t size)
{
    char pattern[NSYS_PATH_SIZE + 64];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/%s/QdstrmImporter", above, folders);
    bool any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    if (any) {
        const char *path = found.gl_pathv[found.gl_pathc - 1];
        snprintf(folder, size, "%.*s", (int)(strrchr(path, '/') - path), path);
    }
    globfree(&found);
    return any;
}

bool nsys_stray_importer(const char *program, char *folder, size_t size)
{
    char above[NSYS_PATH_SIZE], right[NSYS_PATH_SIZE];
    return folders_of(program, above) &&
           !importer_below(above, "host-linux-*", right, sizeof right) &&
           importer_below(above, "linux-desktop-*", folder, size);
}

bool nsys_has_importer(const char *program)
{
    char above[NSYS_PATH_SIZE], folder[NSYS_PATH_SIZE];
    return folders_of(program, above) &&
           (importer_below(above, "host-linux-*", folder, sizeof folder) ||
            importer_below(above, "linux-desktop-*", folder, sizeof folder));
}
