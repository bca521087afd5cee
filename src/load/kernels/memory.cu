/* SPDX-License-Identifier: MIT */
/* Streams through memory. Every launch has UNROLL quads a thread in flight; the host gives buffers
 * whose number of quads is a multiple of UNROLL times the number of threads, so that no load is
 * done twice and none is left out. */
#include "device.h"

enum { UNROLL = 8 };

KERNEL fill(quad *to, u64 quads)
{
    for (u64 i = thread_index(); i < quads; i += thread_count()) {
        u32 x = scramble((u32)i);
        store(to + i, quad{x, x * 3, x * 5, x * 7});
    }
}

KERNEL copy(quad *to, const quad *from, u64 quads)
{
    u64 step = thread_count();
    for (u64 i = thread_index(); i < quads; i += UNROLL * step) {
        quad v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = load_once(from + i + k * step);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            store(to + i + k * step, v[k]);
    }
}

/* never is a number that the sum of all can be by chance only: the loads are needed, and yet
 * nothing is written. */
KERNEL read(u32 *to, const quad *from, u64 quads, u32 never)
{
    u64 step = thread_count();
    u32 sum = 0;
    for (u64 i = thread_index(); i < quads; i += UNROLL * step) {
        quad v[UNROLL];
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            v[k] = load_once(from + i + k * step);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++)
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    if (sum == never)
        *to = sum;
}
