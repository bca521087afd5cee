/* SPDX-License-Identifier: MIT */
/* y = W x with 16-bit floats, as in decoding with batch 1: each weight is read once and used once. */
#include "device.h"

enum { ROWS = 2, UNROLL = 4, LANES = 32, HALVES = 8 /* in a quad */ };

/* Weights are k/1024 with odd k = -15 … 15, exact in 16 bits; the host computes the same in load/gemv.c.
 * A pair of 4 bits becomes a pair of halves. */
DEVICE u32 half_bits(float v)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
    return h;
}

DEVICE u32 pair(u32 bits)
{
    float low = (float)(2 * (int)(bits & 15) - 15) * (1.0f / 1024);
    float high = (float)(2 * (int)(bits >> 4 & 15) - 15) * (1.0f / 1024);
    return half_bits(low) | half_bits(high) << 16;
}

KERNEL weights(quad *to, u64 quads)
{
    for (u64 i = thread_index(); i < quads; i += thread_count()) {
        u32 bits = scramble((u32)i);
        store(to + i, quad{pair(bits), pair(bits >> 8), pair(bits >> 16), pair(bits >> 24)});
    }
}

DEVICE float low_half(u32 two)
{
    float v;
    asm("{ .reg .f16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(v) : "r"(two));
    return v;
}

DEVICE float high_half(u32 two)
{
    float v;
    asm("{ .reg .f16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(v) : "r"(two));
    return v;
}

DEVICE float dot_two(u32 a, u32 b, float sum)
{
    sum = __builtin_fmaf(low_half(a), low_half(b), sum);
    return __builtin_fmaf(high_half(a), high_half(b), sum);
}

DEVICE float dot(quad a, quad b, float sum)
{
    return dot_two(a.w, b.w, dot_two(a.z, b.z, dot_two(a.y, b.y, dot_two(a.x, b.x, sum))));
}

DEVICE float sum_of_warp(float v)
{
#pragma unroll
    for (u32 distance = LANES / 2; distance; distance /= 2) {
        float other;
        asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                     : "=f"(other)
                     : "f"(v), "r"(distance));
        v += other;
    }
    return v;
}

/* A warp computes ROWS rows, so that x is read once for all of them; ROWS × UNROLL quads of weights
 * a thread are in flight. n is the number of rows and of columns, a multiple of UNROLL × 256. */
KERNEL gemv(unsigned short *y, const quad *w, const quad *x, u32 n)
{
    u32 lane = thread_in_block() % LANES, row = thread_index() / LANES * ROWS;
    u32 quads = n / HALVES;
    if (row >= n)
        return;
    const quad *first = w + (u64)row * quads;
    float sum[ROWS] = {};
    for (u32 i = lane; i < quads; i += UNROLL * LANES) {
        quad v[ROWS][UNROLL];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++)
#pragma unroll
            for (u32 k = 0; k < UNROLL; k++)
                v[r][k] = load_once(first + (u64)r * quads + i + k * LANES);
#pragma unroll
        for (u32 k = 0; k < UNROLL; k++) {
            quad with = x[i + k * LANES];
#pragma unroll
            for (u32 r = 0; r < ROWS; r++)
                sum[r] = dot(v[r][k], with, sum[r]);
        }
    }
#pragma unroll
    for (u32 r = 0; r < ROWS; r++) {
        float whole = sum_of_warp(sum[r]);
        if (lane == 0)
            y[row + r] = (unsigned short)half_bits(whole);
    }
}
