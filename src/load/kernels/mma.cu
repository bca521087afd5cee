/* SPDX-License-Identifier: MIT */
/* Nothing but matrix products in registers: mma.sync m16n8k8, 16-bit floats in, 32-bit out, into
 * TILES independent accumulators. */
#include "device.h"

enum { TILES = 8, STEPS = 8 }; /* the host counts TILES × STEPS a round, load/compute.c */

KERNEL mma(record *r, float *to, u32 rounds, u32 a, u32 b, float never)
{
    float d[TILES][4];
    record_begin(r);
    u32 a0 = a + thread_in_block() % 8, a1 = a ^ 0x80008000u; /* no zeros: they save power */
#pragma unroll
    for (u32 t = 0; t < TILES; t++)
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            d[t][k] = (float)(t + k);
#pragma unroll 1
    for (u32 i = 0; i < rounds; i++) {
#pragma unroll
        for (u32 k = 0; k < STEPS; k++)
#pragma unroll
            for (u32 t = 0; t < TILES; t++)
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                             "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                             : "+f"(d[t][0]), "+f"(d[t][1]), "+f"(d[t][2]), "+f"(d[t][3])
                             : "r"(a0), "r"(a1), "r"(b));
    }
    float sum = 0;
#pragma unroll
    for (u32 t = 0; t < TILES; t++)
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            sum += d[t][k];
    if (sum == never)
        *to = sum;
    record_end(r);
}
