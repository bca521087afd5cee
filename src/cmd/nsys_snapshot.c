/* SPDX-License-Identifier: MIT */
#include "cmd/nsys_snapshot.h"

#include "collect/collect.h"
#include "source/nsys/nsys.h"

static enum status collect(struct nsys_export *x, enum nsys_order order, struct snapshot **out,
                           struct error *err)
{
    struct collector *c = NULL;
    enum status st = collector_create(&c, err);
    if (st)
        return st;
    struct event_sink sink = collector_sink(c);
    st = nsys_export_describe(x, &sink, err);
    if (!st)
        st = nsys_export_read(x, order, &sink, err);
    if (!st)
        st = collector_snapshot(c, out, err);
    collector_destroy(c);
    return st;
}

enum status nsys_snapshot(const char *path, bool all, struct snapshot **out, struct error *err)
{
    struct nsys_export *x = NULL;
    enum status st = nsys_export_open(&x, path, all, err);
    if (st)
        return st;
    st = collect(x, NSYS_AS_STORED, out, err);
    if (st == ERR_ORDER)
        st = collect(x, NSYS_BY_TIME, out, err);
    if (st)
        nsys_name_file(err, st, path);
    nsys_export_close(x);
    return st;
}
