/* SPDX-License-Identifier: MIT */
#include "load/chip.h"

#include <stddef.h>

/* FP32 lanes of an SM: the table "Throughput of Native Arithmetic Instructions" of the CUDA C++
 * Programming Guide, and NVIDIA's whitepapers of Turing, A100, GA102, Ada, H100 and RTX Blackwell;
 * for 8.7, 10.3 and 12.1 the number of CUDA cores over that of SMs in NVIDIA's data sheets. Checked
 * on a GPU: 9.0. A warp has 32 threads, so with L lanes an FFMA takes 32 / (L / 4) cycles
 * of its sub-partition's pipe.
 *
 * Cycles of an mma.sync m16n8k8: the whitepapers give the rate of the largest shapes and, for
 * Hopper and Blackwell, of instructions that mma.sync is not; on 7.5 it depends on the product
 * (GeForce has half of Quadro's rate, and TU116 has no tensor cores). So none is here that was not
 * measured. Hopper: 3.999 on an H200, from tensor_active 0.9997 by GPM (docs/measurements). */
static const struct {
    unsigned major, minor;
    unsigned fp32_lanes;
    double mma_cycles;
} table[] = {
    {7, 5, 64, 0},   /* Turing */
    {8, 0, 64, 0},   /* GA100 */
    {8, 6, 128, 0},  /* GA10x */
    {8, 7, 128, 0},  /* Orin */
    {8, 9, 128, 0},  /* Ada */
    {9, 0, 128, 4},  /* Hopper */
    {10, 0, 128, 0}, /* GB100, GB102 */
    {10, 3, 128, 0}, /* GB110 */
    {12, 0, 128, 0}, /* GB20x */
    {12, 1, 128, 0}, /* GB10 */
};

struct load_chip load_chip(unsigned major, unsigned minor)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].major == major && table[i].minor == minor)
            return (struct load_chip){
                .fma_cycles = 32.0 * (double)LOAD_SUB_PARTITIONS / table[i].fp32_lanes,
                .mma_cycles = table[i].mma_cycles,
            };
    return (struct load_chip){0};
}
