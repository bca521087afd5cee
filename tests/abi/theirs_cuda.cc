// SPDX-License-Identifier: MIT
#include "abi.hh"

#include <cuda.h>

#include "theirs.hh"
#include "vendor/cuda_symbols.h"

// cuda.h renames functions by macros (cuMemAlloc is cuMemAlloc_v2), which is all right here: the
// name that is printed is not expanded.
const char *theirs(std::string &out)
{
#if CUDA_VERSION < 12000
    (void)out;
    return "this cuda.h is older than 12.0";
#else
#include "cuda.def"
    CUDA_SYMBOLS(FUNCTION, FUNCTION)
#define RESULT(name, number, status)                                                               \
    fact(out, "result " #name, std::to_string((int)CUDA_ERROR_##name));
    CUDA_RESULTS(RESULT)
    return nullptr;
#endif
}
