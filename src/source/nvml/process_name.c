/* SPDX-License-Identifier: MIT */
#include "source/nvml/process_name.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { COMM_MAX = 15 };

/* The beginning of /proc/PID/NAME, up to the first byte of stops; "" when it cannot be read. */
static void read_start(unsigned pid, const char *name, const char *stops, char *dst, size_t size)
{
    char path[64];
    dst[0] = '\0';
    snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    size_t n = fread(dst, 1, size - 1, f);
    dst[n] = '\0';
    dst[strcspn(dst, stops)] = '\0';
    fclose(f);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void process_name(const struct nvml_api *api, unsigned pid, char *dst, size_t size)
{
    char comm[64], command[1024];
    read_start(pid, "comm", "\n", comm, sizeof comm);
    read_start(pid, "cmdline", " ", command, sizeof command); /* a NUL ends the first word too */
    const char *name = comm, *base = base_of(command);
    if (!comm[0] || (strlen(comm) == COMM_MAX && str_starts_with(base, comm)))
        name = base;
    if (!name[0] && api->nvmlSystemGetProcessName &&
        api->nvmlSystemGetProcessName(pid, command, sizeof command) == NVML_SUCCESS) {
        command[strcspn(command, " ")] = '\0';
        name = base_of(command);
    }
    str_clean(dst, size, name, strlen(name));
}
