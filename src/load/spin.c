/* SPDX-License-Identifier: MIT */
/* occupancy, tail and duty: warps that stay for a while and do nothing. */
#include <math.h>

#include "base/clock.h"
#include "load/size.h"
#include "load/work.h"

enum {
    BATCH_NS = 25000000,
    PERIOD_NS = 100000000, /* of duty */
    /* Of occupancy's warps between two looks at the clock: they end a batch that much apart. */
    SLEEP_NS = 20000,
};

static enum status launch(struct load *l, unsigned slot, uint64_t ns, uint32_t sleep_ns,
                          struct error *err)
{
    CUdeviceptr record = (CUdeviceptr)(uintptr_t)&l->device.records[slot];
    return load_launch(&l->device, l->function, l->grid, (void *[]){&record, &ns, &sleep_ns}, err);
}

/* ---- tail ---- */

static enum status prepare_one_warp(struct load *l, struct error *err)
{
    l->grid = (struct load_grid){.blocks = 1, .threads = 32};
    l->units_max = 1;
    return load_function(&l->device, &l->function, "spin", err);
}

static enum status enqueue_tail(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    (void)units;
    return launch(l, slot, BATCH_NS, 0, err);
}

/* ---- occupancy ---- */

static enum status plan_blocks(const struct load *l, struct load_blocks *out, struct error *err)
{
    const struct load_gpu *g = &l->device.gpu;
    unsigned warps = (unsigned)l->request->choice.argument;
    if (warps > g->warps_per_sm)
        return fail(err, ERR_USAGE, 0, "occupancy:%u: an SM of this GPU holds %u warps", warps,
                    g->warps_per_sm);
    if (!load_blocks(warps, g->shared_per_sm, out))
        return fail(
            err, ERR_USAGE, 0,
            "occupancy:%u: %u warps cannot be divided into equal blocks of at most 32; take "
            "%u or %u",
            warps, warps, warps - 1, warps + 1);
    return OK;
}

static enum status prepare_occupancy(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    struct load_blocks b = {0};
    int fit = 0;
    enum status st = plan_blocks(l, &b, err);
    if (!st)
        st = prepare_one_warp(l, err);
    if (!st)
        st = LOAD_CALL(d, err, cuFuncSetAttribute, l->function, CUDA_FUNC_MAX_DYNAMIC_SHARED_BYTES,
                       (int)b.shared);
    if (!st) /* else L1 may keep so much for itself that fewer blocks fit */
        st = LOAD_CALL(d, err, cuFuncSetAttribute, l->function, CUDA_FUNC_SHARED_CARVEOUT, 100);
    if (!st)
        st = LOAD_CALL(d, err, cuOccupancyMaxActiveBlocksPerMultiprocessor, &fit, l->function,
                       (int)b.block_warps * 32, b.shared);
    if (!st && fit != (int)b.blocks)
        st = fail(err, ERR_UNSUPPORTED, 0,
                  "occupancy:%g: the driver lets %d blocks of %u warps onto an SM, not %u",
                  l->request->choice.argument, fit, b.block_warps, b.blocks);
    l->grid = (struct load_grid){
        .blocks = d->gpu.sm_count * b.blocks, .threads = b.block_warps * 32, .shared = b.shared};
    return st;
}

static enum status enqueue_occupancy(struct load *l, unsigned slot, uint64_t units,
                                     struct error *err)
{
    (void)units;
    return launch(l, slot, BATCH_NS, SLEEP_NS, err);
}

/* ---- duty ---- */

struct duty {
    uint64_t first_ns, last_ns; /* begin of the first kernel, and of the one that closes the last
                                   period */
    double busy_ns;
    struct load_clock clock;
};

/* One kernel, and the wait for the end of its period. */
static enum status run_period(struct load *l, uint64_t busy_ns, int64_t end_ns,
                              struct load_record *out, struct error *err)
{
    struct load_device *d = &l->device;
    enum status st = launch(l, 0, busy_ns, 0, err);
    if (!st)
        st = LOAD_CALL(d, err, cuEventRecord, d->ends[0], d->stream);
    if (!st)
        load_sleep_until(l, end_ns);
    if (!st)
        st = LOAD_CALL(d, err, cuEventSynchronize, d->ends[0]);
    if (!st)
        *out = d->records[0];
    return st;
}

static enum status run_periods(struct load *l, struct duty *d, struct error *err)
{
    uint64_t busy_ns = (uint64_t)((double)PERIOD_NS * l->request->choice.argument / 100);
    int64_t begin_ns = clock_monotonic_ns();
    int64_t end_ns = begin_ns + (int64_t)(l->request->seconds * 1e9);
    struct load_record r;
    enum status st = OK;
    int64_t next_ns = begin_ns;
    do {
        next_ns += PERIOD_NS;
        st = run_period(l, busy_ns, next_ns, &r, err);
        if (st)
            return st;
        d->first_ns = d->first_ns ? d->first_ns : r.timer_begin;
        d->busy_ns += (double)(r.timer_end - r.timer_begin);
        load_clock_add(&d->clock, &r);
        l->report->batches++;
    } while (next_ns < end_ns && !load_is_stopped(l));
    st = run_period(l, 0, 0, &r, err);
    d->last_ns = r.timer_begin;
    return st;
}

static enum status run_duty(struct load *l, struct error *err)
{
    struct duty d = {0};
    struct load_record warm_up;
    enum status st = run_period(l, 0, 0, &warm_up, err);
    if (st || load_is_stopped(l))
        return st;
    st = load_begin(l, err);
    if (!st)
        st = run_periods(l, &d, err);
    if (st)
        return st;
    if (d.last_ns <= d.first_ns)
        return fail(err, ERR_VENDOR, 0, "the GPU's clock did not go on");
    l->report->end_ns = clock_unix_ns();
    l->report->seconds = (double)(d.last_ns - d.first_ns) * 1e-9;
    l->report->busy = d.busy_ns / (double)(d.last_ns - d.first_ns);
    l->report->sm_clock_hz = load_clock_hz(&d.clock);
    return OK;
}

const struct load_ops load_ops_tail = {
    .image = LOAD_IMAGE_SPIN,
    .prepare = prepare_one_warp,
    .enqueue = enqueue_tail,
};

const struct load_ops load_ops_occupancy = {
    .image = LOAD_IMAGE_SPIN,
    .prepare = prepare_occupancy,
    .enqueue = enqueue_occupancy,
};

const struct load_ops load_ops_duty = {
    .image = LOAD_IMAGE_SPIN,
    .prepare = prepare_one_warp,
    .run = run_duty,
};
