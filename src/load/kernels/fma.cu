/* SPDX-License-Identifier: MIT */
/* Nothing but FFMA: CHAINS independent chains a thread, each STEPS long in a round. The loop's own
 * instructions are below 1 %. */
#include "device.h"

enum { CHAINS = 8, STEPS = 64 }; /* the host counts CHAINS × STEPS a round, load/compute.c */

KERNEL fma(record *r, float *to, u32 rounds, float factor, float term, float never)
{
    float x[CHAINS];
    record_begin(r);
    /* Not the same in all threads, so that they live in registers like any program's numbers. */
    float a = factor - (float)thread_in_block() * 1e-7f, b = term + (float)thread_in_block();
#pragma unroll
    for (u32 c = 0; c < CHAINS; c++)
        x[c] = (float)(thread_index() + c);
#pragma unroll 1
    for (u32 i = 0; i < rounds; i++) {
#pragma unroll
        for (u32 k = 0; k < STEPS; k++)
#pragma unroll
            for (u32 c = 0; c < CHAINS; c++)
                asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[c]) : "f"(a), "f"(b));
    }
    float sum = 0;
#pragma unroll
    for (u32 c = 0; c < CHAINS; c++)
        sum += x[c];
    if (sum == never)
        *to = sum;
    record_end(r);
}
