/* SPDX-License-Identifier: MIT */
#include "cmd/exporter.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

static double cpu_s(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : (double)NAN;
}

static void read_memory(struct show_exporter *e)
{
    char text[128];
    long long total = 0, resident = 0;
    double page = (double)sysconf(_SC_PAGESIZE);
    if (!os_read("", "/proc/self/statm", text, sizeof text) ||
        sscanf(text, "%lld %lld", &total, &resident) != 2)
        return;
    e->virtual_bytes = (double)total * page;
    e->memory_bytes = (double)resident * page;
}

/* Field 22 of /proc/self/stat, in ticks since the boot (proc(5)); the name may hold anything. */
static double start_s(void)
{
    char text[1024];
    unsigned long long ticks = 0, boot = 0;
    const char *at = os_read("", "/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, " %llu", &ticks) != 1)
        return NAN;
    FILE *f = fopen("/proc/stat", "re");
    while (f && fgets(text, sizeof text, f))
        if (sscanf(text, "btime %llu", &boot) == 1)
            break;
    if (f)
        fclose(f);
    return boot ? (double)boot + (double)ticks / (double)sysconf(_SC_CLK_TCK) : (double)NAN;
}

/* A process that may not be dumped cannot look into its own /proc/self/fd: each number is tried. */
static double count_fds(rlim_t most)
{
    double n = 0;
    for (int fd = 0; fd < 4096 && (rlim_t)fd < most; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

void exporter_read(struct show_exporter *e)
{
    static double started_s; /* does not change */
    struct rlimit most;
    *e = (struct show_exporter){.cpu_s = cpu_s(),
                                .memory_bytes = NAN,
                                .virtual_bytes = NAN,
                                .open_fds = NAN,
                                .max_fds = NAN};
    read_memory(e);
    if (!(started_s > 0))
        started_s = start_s();
    e->start_s = started_s;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return;
    e->max_fds = (double)most.rlim_cur;
    e->open_fds = count_fds(most.rlim_cur);
}
