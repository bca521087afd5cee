/* SPDX-License-Identifier: MIT */
/* Inside of the fake libcuda: what cuda*.c share. */
#ifndef FAKES_FAKE_CUDA_H
#define FAKES_FAKE_CUDA_H

#pragma GCC visibility push(default)
#include "vendor/cuda_abi.h"

/* Not NVIDIA's: the fake libcupti asks whether cuInit was called, as the real one knows it too. */
int fake_cuda_initialised(void);

/* How many things of the library the program holds: contexts, memory, streams, … */
int fake_cuda_held(void);
#pragma GCC visibility pop

#include "script.h"
#include "vendor/cuda_api.h"

/* What every call but cuInit does first: planned faults, initialisation. */
CUresult cuda_begin(const char *function);

#endif
