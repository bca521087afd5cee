/* SPDX-License-Identifier: MIT */
/* Takes time and nothing else: each warp stays until the GPU's clock has gone on by ns; between two
 * looks it sleeps for sleep_ns (0 = not at all). */
#include "device.h"

KERNEL spin(record *r, u64 ns, u32 sleep_ns)
{
    record_begin(r);
    u64 begin = timer_now();
    while (timer_now() - begin < ns) {
        if (sleep_ns)
            asm volatile("nanosleep.u32 %0;" ::"r"(sleep_ns));
    }
    record_end(r);
}
