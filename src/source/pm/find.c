/* SPDX-License-Identifier: MIT */
#include "source/pm/find.h"

#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/str.h"

/* The sampler may have rights that other users lack, and a folder found through another process is
 * that user's choice: only what root or this user owns, and nobody else can write, is loaded. */
static bool is_trusted(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid()) &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

static bool has_file(const char *folder, const char *name)
{
    char path[PM_PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, R_OK) == 0 && is_trusted(path);
}

/* libcupti.so.12 is the first major version with PM sampling; 10 and 11 lie beside it in Nsight. */
static bool has_cupti(const char *folder)
{
    DIR *d = opendir(folder);
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        static const char stem[] = "libcupti.so.";
        char digits[8] = "";
        uint64_t major;
        if (!str_starts_with(e->d_name, stem))
            continue;
        size_t n = strspn(e->d_name + sizeof stem - 1, "0123456789");
        if (n == 0 || n >= sizeof digits)
            continue;
        memcpy(digits, e->d_name + sizeof stem - 1, n);
        found = num_parse_u64(digits, &major) && major >= 12 && major < 1000;
    }
    if (d)
        closedir(d);
    return found;
}

bool pm_folder_complete(const char *path)
{
    return is_trusted(path) && has_file(path, "libnvperf_host.so") &&
           has_file(path, "libnvperf_target.so") && has_cupti(path);
}

static void add(struct pm_folders *out, const char *from, const char *path)
{
    if (out->n == PM_FOLDERS_MAX || strlen(path) >= PM_PATH_SIZE)
        return;
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->list[i].path, path) == 0)
            return;
    if (!pm_folder_complete(path))
        return;
    snprintf(out->list[out->n].path, PM_PATH_SIZE, "%s", path);
    out->list[out->n++].from = from;
}

/* Newest version first: CUDA names its folders by number, so the last in order. */
static void add_glob(const struct pm_places *p, struct pm_folders *out, const char *from,
                     const char *pattern)
{
    char path[PM_PATH_SIZE];
    snprintf(path, sizeof path, "%s%s", p->root, pattern);
    glob_t found;
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0;)
            add(out, from, found.gl_pathv[i]);
    globfree(&found);
}

static void add_loader_path(const struct pm_places *p, struct pm_folders *out)
{
    for (const char *s = p->library_path ? p->library_path : ""; *s;) {
        size_t n = strcspn(s, ":");
        char path[PM_PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s%.*s", p->root, (int)n, s);
        if (n > 0 && length < (int)sizeof path)
            add(out, "LD_LIBRARY_PATH", path);
        s += n + (s[n] == ':');
    }
    char pattern[PM_PATH_SIZE];
    snprintf(pattern, sizeof pattern, "%s/etc/ld.so.conf.d/*.conf", p->root);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            FILE *f = fopen(found.gl_pathv[i], "r");
            char line[PM_PATH_SIZE], path[2 * PM_PATH_SIZE];
            while (f && fgets(line, sizeof line, f)) {
                line[strcspn(line, "# \t\r\n")] = '\0';
                snprintf(path, sizeof path, "%s%s", p->root, line);
                if (line[0] == '/')
                    add(out, "the loader's path", path);
            }
            if (f)
                fclose(f);
        }
    globfree(&found);
    add_glob(p, out, "the loader's path", "/usr/lib/x86_64-linux-gnu");
    add_glob(p, out, "the loader's path", "/usr/lib64");
    add_glob(p, out, "the loader's path", "/usr/lib/aarch64-linux-gnu");
}

/* The layouts of NVIDIA's wheels and of Triton's, below a site-packages folder (a pattern). */
static void add_site_packages(const struct pm_places *p, struct pm_folders *out, const char *from,
                              const char *site)
{
    static const char *const inside[] = {"nvidia/cu[1-9][0-9]/lib", "nvidia/cuda_cupti/lib",
                                         "triton/backends/nvidia/lib/cupti"};
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        char pattern[2 * PM_PATH_SIZE];
        snprintf(pattern, sizeof pattern, "%s/%s", site, inside[i]);
        if (strlen(pattern) < PM_PATH_SIZE)
            add_glob(p, out, from, pattern);
    }
}

/* Folders of files that a process has mapped: CUPTI's own, or the Python environment's that CUDA's
 * libraries came from. Paths are seen through the process's own root, for containers. */
static void add_mapped(const struct pm_places *p, struct pm_folders *out, const char *pid,
                       const char *mapped)
{
    static const char from[] = "a running process";
    char path[PM_PATH_SIZE];
    const char *slash = strrchr(mapped, '/');
    if (strstr(mapped, "/libcupti.so") && slash) {
        snprintf(path, sizeof path, "%s%.*s", p->root, (int)(slash - mapped), mapped);
        add(out, from, path);
        snprintf(path, sizeof path, "%s/proc/%s/root%.*s", p->root, pid, (int)(slash - mapped),
                 mapped);
        add(out, from, path);
    }
    const char *site = strstr(mapped, "/site-packages/nvidia/");
    if (!site)
        return;
    int length = (int)(site - mapped) + (int)strlen("/site-packages");
    snprintf(path, sizeof path, "%.*s", length, mapped);
    add_site_packages(p, out, from, path);
    snprintf(path, sizeof path, "/proc/%s/root%.*s", pid, length, mapped);
    add_site_packages(p, out, from, path);
}

static void add_process(const struct pm_places *p, struct pm_folders *out, const char *pid)
{
    char path[PM_PATH_SIZE], line[2048], last[2048] = "";
    snprintf(path, sizeof path, "%s/proc/%s/maps", p->root, pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *mapped = strchr(line, '/');
        if (!mapped ||
            (!strstr(mapped, "/libcupti.so") && !strstr(mapped, "/site-packages/nvidia/")))
            continue;
        mapped[strcspn(mapped, "\n")] = '\0';
        if (strcmp(mapped, last) == 0)
            continue; /* the next section of the same file */
        snprintf(last, sizeof last, "%s", mapped);
        add_mapped(p, out, pid, mapped);
    }
    if (f)
        fclose(f);
}

static void add_processes(const struct pm_places *p, struct pm_folders *out)
{
    char path[PM_PATH_SIZE];
    snprintf(path, sizeof path, "%s/proc", p->root);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]))
            add_process(p, out, e->d_name);
    if (d)
        closedir(d);
}

void pm_find(const struct pm_places *p, struct pm_folders *out)
{
    out->n = 0;
    add_loader_path(p, out);
    add_glob(p, out, "CUDA toolkit", "/usr/local/cuda/lib64");
    add_glob(p, out, "CUDA toolkit", "/usr/local/cuda-*/targets/*-linux/lib");
    add_glob(p, out, "CUDA toolkit", "/usr/local/cuda/extras/CUPTI/lib64");
    add_glob(p, out, "CUDA toolkit", "/usr/local/cuda-*/extras/CUPTI/lib64");
    add_glob(p, out, "CUDA toolkit", "/opt/cuda/extras/CUPTI/lib64");
    if (out->n == 0) /* reads the maps of all processes: only where it is needed */
        add_processes(p, out);
    char site[PM_PATH_SIZE];
    if (p->virtual_env) {
        snprintf(site, sizeof site, "%s/lib/python3.*/site-packages", p->virtual_env);
        add_site_packages(p, out, "the Python environment", site);
    }
    if (p->home) {
        snprintf(site, sizeof site, "%s/.local/lib/python3.*/site-packages", p->home);
        add_site_packages(p, out, "Python packages", site);
    }
    add_site_packages(p, out, "Python packages", "/usr/local/lib/python3.*/dist-packages");
    add_site_packages(p, out, "Python packages", "/usr/local/lib/python3.*/site-packages");
    add_site_packages(p, out, "Python packages", "/usr/lib/python3/dist-packages");
    add_site_packages(p, out, "Python packages", "/opt/*/lib/python3.*/site-packages");
    add_site_packages(p, out, "Python packages", "/opt/*/.venv/lib/python3.*/site-packages");
    add_glob(p, out, "Nsight Compute", "/opt/nvidia/nsight-compute/*/host/target-linux-x64");
}
