/* SPDX-License-Identifier: MIT */
/* How large things are made: buffers, the matrices of gemv, the blocks of occupancy. Pure. */
#ifndef SMEFF_LOAD_SIZE_H
#define SMEFF_LOAD_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Where the driver does not tell the L2's size: that of the largest one known (B200). */
#define LOAD_L2_UNKNOWN (UINT64_C(128) << 20)

/* The least that a load accepts, 8 × L2: with less, what the cache keeps would be much. */
uint64_t load_size_least(uint64_t l2_bytes);

/* What it would like to have: 64 × L2, so that a cache that kept its share would hide 1.6 %; at
 * least floor. */
uint64_t load_size_wanted(uint64_t l2_bytes, uint64_t floor_bytes);

/* n matrices of size × size 16-bit weights that take at most total bytes, at least 8 where sizes
 * down to 1024 allow that; size is a power of 2, at most 8192. layers 0: not even one fits. */
struct load_matrices {
    unsigned layers, size;
};
struct load_matrices load_matrices(uint64_t total);

/* Blocks that put exactly `warps` warps on an SM: `blocks` a SM, of `block_warps` each, each with
 * `shared` bytes of dynamic shared memory, so that one more does not fit. */
struct load_blocks {
    unsigned blocks, block_warps;
    uint64_t shared;
};

/* False when there is no such division, a prime number above 32: a block has at most 32 warps. */
bool load_blocks(unsigned warps, uint64_t shared_per_sm, struct load_blocks *out);

#endif
