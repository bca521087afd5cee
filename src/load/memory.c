/* SPDX-License-Identifier: MIT */
/* copy and read: kernels that stream through buffers much larger than the L2. */
#include "load/size.h"
#include "load/work.h"

/* As load/kernels/memory.cu: UNROLL quads of 16 bytes a thread. Four blocks fit on every SM, and
 * have 128 KiB in flight there. */
enum { THREADS = 256, BLOCKS_PER_SM = 4, UNROLL = 8, QUAD = 16, LAUNCHES_MAX = 512 };

#define WANTED (UINT64_C(1) << 30)

static enum status prepare(struct load *l, const char *name, unsigned buffers, struct error *err)
{
    struct load_device *d = &l->device;
    uint64_t bytes = load_size_wanted(d->gpu.l2_bytes, WANTED);
    uint64_t least = load_size_least(d->gpu.l2_bytes);
    CUfunction fill = NULL;
    l->grid = (struct load_grid){.blocks = d->gpu.sm_count * BLOCKS_PER_SM, .threads = THREADS};
    l->units_max = LAUNCHES_MAX;
    enum status st = load_function(d, &fill, "fill", err);
    if (!st)
        st = load_function(d, &l->function, name, err);
    if (!st)
        st = load_take_memory(d, buffers, &bytes, least, err);
    if (st)
        return st;
    uint64_t round = (uint64_t)l->grid.blocks * THREADS * UNROLL * QUAD;
    if (bytes < round)
        return fail(err, ERR_NOMEM, 0, "%llu bytes are less than the GPU reads at once (%llu)",
                    (unsigned long long)bytes, (unsigned long long)round);
    l->bytes = l->report->buffer_bytes = bytes / round * round;
    uint64_t quads = l->bytes / QUAD;
    for (unsigned i = 0; !st && i < buffers; i++)
        st = load_launch(d, fill, l->grid, (void *[]){&d->memory[i], &quads}, err);
    return st ? st : load_wait(d, err);
}

static enum status prepare_copy(struct load *l, struct error *err)
{
    enum status st = prepare(l, "copy", 2, err);
    l->unit = (struct load_amounts){.bytes_read = l->bytes, .bytes_written = l->bytes};
    return st;
}

static enum status enqueue_copy(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    (void)slot;
    enum status st = OK;
    uint64_t quads = l->bytes / QUAD;
    for (uint64_t i = 0; !st && i < units; i++)
        st = load_launch(&l->device, l->function, l->grid,
                         (void *[]){&l->device.memory[0], &l->device.memory[1], &quads}, err);
    return st;
}

static enum status prepare_read(struct load *l, struct error *err)
{
    enum status st = prepare(l, "read", 1, err);
    l->unit = (struct load_amounts){.bytes_read = l->bytes};
    return st;
}

static enum status enqueue_read(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    (void)slot;
    enum status st = OK;
    uint64_t quads = l->bytes / QUAD;
    uint32_t never = 0x5eed5eed;
    for (uint64_t i = 0; !st && i < units; i++)
        st = load_launch(&l->device, l->function, l->grid,
                         (void *[]){&l->device.memory[0], &l->device.memory[0], &quads, &never},
                         err);
    return st;
}

const struct load_ops load_ops_copy = {
    .image = LOAD_IMAGE_MEMORY,
    .prepare = prepare_copy,
    .enqueue = enqueue_copy,
};

const struct load_ops load_ops_read = {
    .image = LOAD_IMAGE_MEMORY,
    .prepare = prepare_read,
    .enqueue = enqueue_read,
};
