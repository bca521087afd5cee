/* SPDX-License-Identifier: MIT */
/* Any bytes as an nsys export: an error or a snapshot in which no sound share lies outside 0..1. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/collect.h"
#include "show/show.h"
#include "source/nsys/nsys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static enum status collect(struct nsys_export *x, enum nsys_order order, struct error *err)
{
    struct collector *c = NULL;
    struct snapshot *s = NULL;
    enum status st = collector_create(&c, err);
    if (st)
        return st;
    struct event_sink sink = collector_sink(c);
    st = nsys_export_describe(x, &sink, err);
    if (!st)
        st = nsys_export_read(x, order, &sink, err);
    if (!st)
        st = collector_snapshot(c, &s, err);
    if (!st)
        check(s);
    snapshot_destroy(s);
    collector_destroy(c);
    return st;
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
    struct error err = ERROR_INIT;
    struct nsys_export *x = NULL;
    if (!nsys_export_open(&x, path, size % 2, &err) &&
        collect(x, NSYS_AS_STORED, &err) == ERR_ORDER)
        collect(x, NSYS_BY_TIME, &err);
    nsys_export_close(x);
    unlink(path);
    return 0;
}
