/* SPDX-License-Identifier: MIT */
/* gemv: y = W x through several matrices in a CUDA graph, each layer with the result of the one
 * before, as decoding with batch 1 does it. */
#include <math.h>

#include "load/size.h"
#include "load/work.h"

/* As load/kernels/gemv.cu. */
enum {
    THREADS = 128,
    ROWS_PER_BLOCK = THREADS / 32 * 2,
    QUAD = 16,
    QUAD_HALVES = 8,
    FILL_BLOCKS_PER_SM = 4,
    FILL_THREADS = 256,
    GRAPHS_MAX = 4096,
    ROWS_CHECKED = 4, /* of each layer */
};

#define WANTED (UINT64_C(2) << 30)

static uint64_t layer_bytes(const struct load *l)
{
    return 2 * (uint64_t)l->report->layer_size * l->report->layer_size;
}

static uint64_t vector_bytes(const struct load *l)
{
    return 2 * (uint64_t)l->report->layer_size;
}

/* ---- 16-bit floats, the weights and the first vector, as the kernels have them ---- */

static float from_half(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    if (exponent == 31)
        return mantissa ? NAN : h >> 15 ? -INFINITY : INFINITY;
    float v =
        exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);
    return h >> 15 ? -v : v;
}

static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* i counts the weights of all layers. Their mean is 0: with any other the vectors would grow from
 * layer to layer until they are infinite. */
static float weight(uint64_t i)
{
    uint32_t bits = scramble((uint32_t)(i / QUAD_HALVES));
    return (float)(2 * (int)(bits >> (4 * (i % QUAD_HALVES)) & 15) - 15) / 1024;
}

/* ±1, ±2: 0x3c00 and 0x4000 are 1 and 2. */
static uint16_t first_vector(uint32_t i)
{
    uint32_t bits = scramble(i + 1);
    return (uint16_t)((bits & 1 ? 0x3c00 : 0x4000) | (bits & 2) << 14);
}

/* ---- the layers ---- */

static enum status launch_layers(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    uint32_t n = l->report->layer_size;
    enum status st = OK;
    for (unsigned i = 0; !st && i < l->report->layers; i++) {
        CUdeviceptr w = d->memory[0] + i * layer_bytes(l);
        CUdeviceptr x = d->memory[1] + i * vector_bytes(l), y = x + vector_bytes(l);
        st = load_launch(d, l->function, l->grid, (void *[]){&y, &w, &x, &n}, err);
    }
    return st;
}

static enum status make_graph(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    enum status st =
        LOAD_CALL(d, err, cuStreamBeginCapture_v2, d->stream, CUDA_CAPTURE_THREAD_LOCAL);
    if (st)
        return st;
    st = launch_layers(l, err);
    /* a capture must be ended, also after a failure */
    enum status ended = LOAD_CALL(d, st ? NULL : err, cuStreamEndCapture, d->stream, &d->graph);
    st = st ? st : ended;
    return st ? st : LOAD_CALL(d, err, cuGraphInstantiateWithFlags, &d->graph_exec, d->graph, 0);
}

/* ---- is it right? ---- */

/* Row `row` of layer `layer` against the vectors that came back from the GPU. */
static enum status check_row(const struct load *l, unsigned layer, unsigned row, struct error *err)
{
    unsigned n = l->report->layer_size;
    const uint16_t *x = (const uint16_t *)l->device.pinned + (size_t)layer * n, *y = x + n;
    uint64_t first = ((uint64_t)layer * n + row) * n;
    double sum = 0, size = 0;
    for (unsigned i = 0; i < n; i++) {
        double part = (double)weight(first + i) * (double)from_half(x[i]);
        sum += part;
        size += fabs(part);
    }
    double got = (double)from_half(y[row]);
    /* the result has 11 bits, the GPU's sum 24; below 6e-5 steps are 6e-8 */
    double tolerance = fabs(sum) * 0x1p-10 + size * 1e-5 + 6e-8;
    if (size > 0 && fabs(got - sum) <= tolerance)
        return OK;
    return fail(err, ERR_VENDOR, 0,
                "the GPU computes nonsense: layer %u, row %u gave %g, it is %g (sum of sizes %g)",
                layer, row, got, sum, size);
}

/* Computes all layers once and checks some rows of each. */
static enum status check(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    unsigned n = l->report->layer_size, layers = l->report->layers;
    size_t all = (layers + 1) * vector_bytes(l);
    uint16_t *vectors = d->pinned;
    for (uint32_t i = 0; i < n; i++)
        vectors[i] = first_vector(i);
    enum status st = LOAD_CALL(d, err, cuMemcpyHtoDAsync_v2, d->memory[1], d->pinned,
                               vector_bytes(l), d->stream);
    if (!st)
        st = launch_layers(l, err);
    if (!st)
        st = LOAD_CALL(d, err, cuMemcpyDtoHAsync_v2, d->pinned, d->memory[1], all, d->stream);
    if (!st)
        st = load_wait(d, err);
    for (unsigned i = 0; !st && i < layers; i++)
        for (unsigned k = 0; !st && k < ROWS_CHECKED; k++)
            st = check_row(l, i, k * (n - 1) / (ROWS_CHECKED - 1), err);
    return st;
}

/* ---- the load ---- */

static enum status take_weights(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    uint64_t bytes = load_size_wanted(d->gpu.l2_bytes, WANTED);
    uint64_t least = load_size_least(d->gpu.l2_bytes);
    enum status st = load_take_memory(d, 1, &bytes, least, err);
    if (st)
        return st;
    struct load_matrices m = load_matrices(bytes);
    if (m.layers == 0)
        return fail(err, ERR_NOMEM, 0, "the matrices do not fit into %llu bytes",
                    (unsigned long long)bytes);
    l->report->layers = m.layers;
    l->report->layer_size = m.size;
    l->report->buffer_bytes = l->bytes = m.layers * layer_bytes(l);
    uint64_t all = (m.layers + 1) * vector_bytes(l);
    st = load_take_pinned(d, &all, all, err);
    return st ? st : LOAD_CALL(d, err, cuMemAlloc_v2, &d->memory[1], all);
}

static enum status prepare(struct load *l, struct error *err)
{
    struct load_device *d = &l->device;
    CUfunction weights = NULL;
    enum status st = load_function(d, &weights, "weights", err);
    if (!st)
        st = load_function(d, &l->function, "gemv", err);
    if (!st)
        st = take_weights(l, err);
    if (st)
        return st;
    uint64_t quads = l->bytes / QUAD;
    struct load_grid fill = {.blocks = d->gpu.sm_count * FILL_BLOCKS_PER_SM,
                             .threads = FILL_THREADS};
    l->grid =
        (struct load_grid){.blocks = l->report->layer_size / ROWS_PER_BLOCK, .threads = THREADS};
    l->units_max = GRAPHS_MAX;
    l->unit = (struct load_amounts){.bytes_read = l->bytes, .operations = (double)l->bytes};
    st = load_launch(d, weights, fill, (void *[]){&d->memory[0], &quads}, err);
    if (!st)
        st = check(l, err);
    return st ? st : make_graph(l, err);
}

static enum status enqueue(struct load *l, unsigned slot, uint64_t units, struct error *err)
{
    (void)slot;
    struct load_device *d = &l->device;
    enum status st = OK;
    for (uint64_t i = 0; !st && i < units; i++)
        st = LOAD_CALL(d, err, cuGraphLaunch, d->graph_exec, d->stream);
    return st;
}

const struct load_ops load_ops_gemv = {
    .image = LOAD_IMAGE_GEMV,
    .prepare = prepare,
    .enqueue = enqueue,
};
