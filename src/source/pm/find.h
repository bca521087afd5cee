/* SPDX-License-Identifier: MIT */
/* Where CUPTI may lie: folders that hold libcupti and its two helpers, in the order in which they
 * are tried. We ship none: its licence does not allow it. */
#ifndef SMEFF_SOURCE_PM_FIND_H
#define SMEFF_SOURCE_PM_FIND_H

#include <stdbool.h>
#include <stddef.h>

enum { PM_FOLDERS_MAX = 32, PM_PATH_SIZE = 512 };

struct pm_folder {
    char path[PM_PATH_SIZE];
    const char *from; /* static text: "CUDA toolkit" */
};

struct pm_folders {
    struct pm_folder list[PM_FOLDERS_MAX];
    size_t n;
};

/* Where to look; a test gives its own. root is put in front of every absolute path ("" = none). */
struct pm_places {
    const char *root;
    const char *library_path; /* LD_LIBRARY_PATH, or NULL */
    const char *virtual_env;  /* VIRTUAL_ENV, or NULL */
    const char *home;         /* HOME, or NULL */
};

/* Order: the loader's path, CUDA toolkits, Python environments of running processes, the Python
 * environment and site-packages here, Nsight Compute. Only folders that have all three files. */
void pm_find(const struct pm_places *places, struct pm_folders *out);

/* Has the folder libcupti.so.12 or newer, libnvperf_host.so and libnvperf_target.so? */
bool pm_folder_complete(const char *path);

#endif
