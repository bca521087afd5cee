/* SPDX-License-Identifier: MIT */
/* h2d and d2h: the copy engine between pinned memory of the host and the GPU. */
#include <string.h>

#include "load/work.h"

enum { COPIES_MAX = 256 };

#define COPY_BYTES     (UINT64_C(64) << 20)
#define COPY_BYTES_MIN (UINT64_C(1) << 20)

static enum status prepare(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    l->bytes = COPY_BYTES;
    l->units_max = COPIES_MAX;
    enum status st = load_take_pinned(d, &l->bytes, COPY_BYTES_MIN, err);
    if (!st) {
        memset(d->pinned, 0x5a, l->bytes); /* the kernel's zero page would not do */
        st = load_take_memory(d, 1, &l->bytes, COPY_BYTES_MIN, err);
    }
    l->report->buffer_bytes = l->bytes;
    return st;
}

static enum status prepare_h2d(struct load *l, struct error *err)
{
    enum status st = prepare(l, err);
    l->unit.pcie_in = l->bytes;
    return st;
}

static enum status enqueue_h2d(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    (void)slot;
    struct load_device *d = &l->device;
    enum status st = OK;
    for (uint64_t i = 0; !st && i < units; i++)
        st = LOAD_CALL(d, err, cuMemcpyHtoDAsync_v2, d->memory[0], d->pinned, l->bytes, d->stream);
    return st;
}

static enum status prepare_d2h(struct load *l, struct error *err)
{
    enum status st = prepare(l, err);
    l->unit.pcie_out = l->bytes;
    return st;
}

static enum status enqueue_d2h(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    (void)slot;
    struct load_device *d = &l->device;
    enum status st = OK;
    for (uint64_t i = 0; !st && i < units; i++)
        st = LOAD_CALL(d, err, cuMemcpyDtoHAsync_v2, d->pinned, d->memory[0], l->bytes, d->stream);
    return st;
}

const struct load_ops load_ops_h2d = {.prepare = prepare_h2d, .enqueue = enqueue_h2d};
const struct load_ops load_ops_d2h = {.prepare = prepare_d2h, .enqueue = enqueue_d2h};
