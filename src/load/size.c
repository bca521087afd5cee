/* SPDX-License-Identifier: MIT */
#include "load/size.h"

enum {
    LAYER_SIZE_MAX = 8192,
    LAYER_SIZE_MIN = 1024, /* a multiple of what a warp of gemv.cu takes at once */
    LAYERS_MIN = 8,
    LAYERS_MAX = 64,
    BLOCK_WARPS_MAX = 32,
    BLOCKS_MAX = 16,       /* what every SM can hold (7.5 and 8.6: 16, others more) */
    SHARED_RESERVED = 1024 /* the driver adds it to each block from 8.0 on */
};

uint64_t load_size_least(uint64_t l2_bytes)
{
    return 8 * (l2_bytes ? l2_bytes : LOAD_L2_UNKNOWN);
}

uint64_t load_size_wanted(uint64_t l2_bytes, uint64_t floor_bytes)
{
    uint64_t wanted = 8 * load_size_least(l2_bytes);
    return wanted > floor_bytes ? wanted : floor_bytes;
}

struct load_matrices load_matrices(uint64_t total)
{
    uint64_t size = LAYER_SIZE_MAX;
    while (size > LAYER_SIZE_MIN && total / (2 * size * size) < LAYERS_MIN)
        size /= 2;
    uint64_t layers = total / (2 * size * size);
    return (struct load_matrices){
        .layers = layers < LAYERS_MAX ? (unsigned)layers : LAYERS_MAX,
        .size = (unsigned)size,
    };
}

bool load_blocks(unsigned warps, uint64_t shared_per_sm, struct load_blocks *out)
{
    for (unsigned n = 1; n <= BLOCKS_MAX; n++) {
        if (warps % n != 0 || warps / n > BLOCK_WARPS_MAX)
            continue;
        /* In the middle between what lets n + 1 in and what keeps the n-th out. */
        uint64_t each = (shared_per_sm / n + shared_per_sm / (n + 1)) / 2;
        *out = (struct load_blocks){
            .blocks = n,
            .block_warps = warps / n,
            .shared = each > SHARED_RESERVED ? (each - SHARED_RESERVED) / 256 * 256 : 0,
        };
        return warps > 0;
    }
    return false;
}
