/* SPDX-License-Identifier: MIT */
/* What the kernels need of CUDA's own headers, so that clang alone can compile them. */
#ifndef SMEFF_LOAD_KERNELS_DEVICE_H
#define SMEFF_LOAD_KERNELS_DEVICE_H

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static inline __attribute__((device, always_inline))

typedef unsigned int u32;
typedef unsigned long long u64;

/* What one block notes of its time; the host has the same structure in load/kernels.h. */
struct record {
    u64 clock_begin, clock_end; /* cycles of its SM */
    u64 timer_begin, timer_end; /* ns of the GPU's own clock */
};

struct quad { /* the widest load and store: 16 bytes */
    u32 x, y, z, w;
};

DEVICE u32 thread_in_block()
{
    return (u32)__nvvm_read_ptx_sreg_tid_x();
}

DEVICE u32 block_index()
{
    return (u32)__nvvm_read_ptx_sreg_ctaid_x();
}

DEVICE u32 thread_index()
{
    return block_index() * (u32)__nvvm_read_ptx_sreg_ntid_x() + thread_in_block();
}

DEVICE u32 thread_count()
{
    return (u32)__nvvm_read_ptx_sreg_nctaid_x() * (u32)__nvvm_read_ptx_sreg_ntid_x();
}

DEVICE u64 clock_now()
{
    u64 t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

DEVICE u64 timer_now()
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

DEVICE bool is_recorder()
{
    return thread_index() == 0;
}

DEVICE void record_begin(record *r)
{
    if (!is_recorder())
        return;
    r->timer_begin = timer_now();
    r->clock_begin = clock_now();
}

DEVICE void record_end(record *r)
{
    if (!is_recorder())
        return;
    r->timer_end = timer_now();
    r->clock_end = clock_now();
}

/* Past L1, which would only be swept by data that are used once. */
DEVICE quad load_once(const quad *p)
{
    quad v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

DEVICE void store(quad *p, quad v)
{
    asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

/* Numbers without a pattern from an index; the host has the same function in load/gemv.c. */
DEVICE u32 scramble(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

#endif
