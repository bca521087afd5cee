/* SPDX-License-Identifier: MIT */
/* fma and mma: one instruction over and over, in registers. */
#include "load/work.h"

/* As load/kernels/fma.cu and mma.cu: instructions of a warp in one round of the loop. 32 warps on
 * an SM, each with 8 independent chains, keep the pipes full. */
enum {
    THREADS = 256,
    BLOCKS_PER_SM = 4,
    FMA_ROUND = 8 * 64,
    MMA_ROUND = 8 * 8,
    FMA_OPERATIONS = 32 * 2,         /* of a warp's FFMA */
    MMA_OPERATIONS = 16 * 8 * 8 * 2, /* of m16n8k8 */
    ROUNDS_MAX = 1 << 20,
};

static enum status prepare(struct load *l, const char *name, uint64_t instructions,
                           uint64_t operations, struct error *err)
{
    struct load_device *d = &l->device;
    l->grid = (struct load_grid){.blocks = d->gpu.sm_count * BLOCKS_PER_SM, .threads = THREADS};
    l->units_max = ROUNDS_MAX;
    l->unit.instructions = instructions * l->grid.blocks * (THREADS / 32);
    l->unit.operations = (double)(operations * l->unit.instructions);
    return load_function(d, &l->function, name, err);
}

static CUdeviceptr record_of(const struct load *l, unsigned slot)
{
    /* one address space: the GPU sees pinned memory where we do */
    return (CUdeviceptr)(uintptr_t)&l->device.records[slot];
}

static enum status prepare_fma(struct load *l, struct error *err)
{
    return prepare(l, "fma", FMA_ROUND, FMA_OPERATIONS, err);
}

static enum status enqueue_fma(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    CUdeviceptr record = record_of(l, slot);
    uint32_t rounds = (uint32_t)units;
    float factor = 0.999f, term = 1, never = -12345.678f; /* all x are positive */
    return load_launch(&l->device, l->function, l->grid,
                       (void *[]){&record, &record, &rounds, &factor, &term, &never}, err);
}

static enum status prepare_mma(struct load *l, struct error *err)
{
    return prepare(l, "mma", MMA_ROUND, MMA_OPERATIONS, err);
}

static enum status enqueue_mma(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    CUdeviceptr record = record_of(l, slot);
    uint32_t rounds = (uint32_t)units;
    uint32_t a = 0x11551155, b = 0x12341432; /* pairs of 16-bit floats around 0.0007 */
    float never = -12345.678f;
    return load_launch(&l->device, l->function, l->grid,
                       (void *[]){&record, &record, &rounds, &a, &b, &never}, err);
}

const struct load_ops load_ops_fma = {
    .image = LOAD_IMAGE_FMA,
    .prepare = prepare_fma,
    .enqueue = enqueue_fma,
};

const struct load_ops load_ops_mma = {
    .image = LOAD_IMAGE_MMA,
    .prepare = prepare_mma,
    .enqueue = enqueue_mma,
};
