/* SPDX-License-Identifier: MIT */
/* The kernels as PTX, which the driver compiles for its GPU; their sources are in load/kernels/. */
#ifndef SMEFF_LOAD_KERNELS_H
#define SMEFF_LOAD_KERNELS_H

#include <stdint.h>

/* X(NAME, name of the file) */
#define LOAD_IMAGES(X)                                                                             \
    X(MEMORY, memory)                                                                              \
    X(GEMV, gemv)                                                                                  \
    X(FMA, fma)                                                                                    \
    X(MMA, mma)                                                                                    \
    X(SPIN, spin)

enum load_image {
    LOAD_IMAGE_NONE,
#define X(id, name) LOAD_IMAGE_##id,
    LOAD_IMAGES(X)
#undef X
};

/* Text that ends with NUL; NULL for LOAD_IMAGE_NONE. */
const char *load_image(enum load_image image);

/* What a kernel's first thread notes; load/kernels/device.h has the same structure. */
struct load_record {
    uint64_t clock_begin, clock_end; /* cycles of its SM */
    uint64_t timer_begin, timer_end; /* ns of the GPU's own clock */
};

#endif
