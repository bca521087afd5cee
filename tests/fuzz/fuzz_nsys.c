/* SPDX-License-Identifier: MIT */
/* Any bytes as an nsys export: an error or a snapshot in which no sound share lies outside 0..1. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/nsys_snapshot.h"
#include "show/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size); /* libFuzzer's own */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* A change of length moves all pages behind it, and what SQLite refuses at the door tells nothing
 * of the reader: so most mutations stay within a few bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    enum { HEADER = 100, WIDTH_MAX = 32 };
    if (size < HEADER + WIDTH_MAX || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    size_t width = 1 + seed / 16 % WIDTH_MAX;
    size_t first = seed % 16 == 1 ? 0 : HEADER; /* rarely the header */
    size_t at = first + seed / (16 * WIDTH_MAX) % (size - first - width + 1);
    LLVMFuzzerMutate(data + at, width, width);
    return size;
}

static void check(const struct snapshot *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        for (int m = 0; m < METRIC_COUNT; m++) {
            const struct metric_stats *x = &s->gpus[i].metrics[m];
            if (x->value.state == VALUE_OK && metric_info((enum metric)m)->unit == UNIT_RATIO &&
                !(x->value.v >= 0 && x->value.v <= 1 && x->min >= 0 && x->max <= 1))
                abort();
        }
    struct buf out = BUF_INIT;
    const struct show_style style = {72, true, true};
    show_text(&out, s, "x", &style);
    if (show_json(&out, s, "x", NULL))
        abort();
    buf_fini(&out);
}

/* Reading must leave nothing beside the file. */
static void check_folder(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        if (access(name, F_OK) == 0) {
            unlink(name);
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* a real path: SQLite resolves links, so that a memfd cannot be opened by its /proc name */
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/smeff-fuzz-%d.sqlite", (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    uint8_t sum = 0; /* decides: all metrics or not. The length cannot, pages are even. */
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + data[i]);
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    if (!nsys_snapshot(path, sum % 2, &s, &err))
        check(s);
    snapshot_destroy(s);
    unlink(path);
    check_folder(path);
    return 0;
}
