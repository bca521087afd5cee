/* SPDX-License-Identifier: MIT */
/* Fake libcupti: one process a GPU has the counters, by a lock on a file. The kernel drops the lock
 * when the process ends, as the real driver drops the reservation. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "fake_cupti.h"

static int held[SCRIPT_GPUS]; /* file descriptor plus one; 0 = not held */

static int lock_file(const struct gpu *gpu)
{
    char path[512], other[64];
    const char *script_path = getenv("FAKE_GPU");
    snprintf(other, sizeof other, "/tmp/fake-gpu-%u", (unsigned)getuid());
    const char *stem = script_text(NULL, "lock", script_path && *script_path ? script_path : other);
    snprintf(path, sizeof path, "%s.lock.%u", stem, gpu->index);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        fprintf(stderr, "fake GPU: cannot open %s\n", path);
        abort();
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool hold_take(const struct gpu *gpu)
{
    if (held[gpu->index])
        return true;
    int fd = script_holds(gpu, "busy") ? -1 : lock_file(gpu);
    if (fd >= 0)
        held[gpu->index] = fd + 1;
    return fd >= 0;
}

bool hold_is_free(const struct gpu *gpu)
{
    bool already = held[gpu->index];
    bool free_now = hold_take(gpu);
    if (!already)
        hold_release(gpu);
    return free_now;
}

void hold_release(const struct gpu *gpu)
{
    if (held[gpu->index])
        close(held[gpu->index] - 1);
    held[gpu->index] = 0;
}
