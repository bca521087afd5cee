/* SPDX-License-Identifier: MIT */
/* What an SM of each compute capability can do in a cycle. */
#ifndef SMEFF_LOAD_CHIP_H
#define SMEFF_LOAD_CHIP_H

enum { LOAD_SUB_PARTITIONS = 4 }; /* of an SM, on every chip since Volta */

struct load_chip {
    double
        fma_cycles; /* that an FFMA of a warp takes the pipe of its sub-partition; 0 = not known */
    double mma_cycles; /* the same for mma.sync m16n8k8 (16 bits in, 32 out); 0 = not known */
};

/* All 0 for a capability that is not in the table. */
struct load_chip load_chip(unsigned major, unsigned minor);

#endif
