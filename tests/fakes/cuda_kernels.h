/* SPDX-License-Identifier: MIT */
/* What kernels do in the fake libcuda: those of src/load/kernels, by their names. */
#ifndef FAKES_CUDA_KERNELS_H
#define FAKES_CUDA_KERNELS_H

#include "fake_cuda.h"

/* How many ns a kernel takes that has no time of its own. */
int64_t kernel_ns(const struct gpu *gpu);

/* Does what a kernel that begins at begin_ns does, as far as anybody looks at it, and returns how
 * many ns it takes. */
int64_t kernel_run(const struct gpu *gpu, const char *name, int64_t begin_ns, void **params);

#endif
