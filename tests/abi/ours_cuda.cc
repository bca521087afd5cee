// SPDX-License-Identifier: MIT
#include "abi.hh"

extern "C" {
#include "vendor/cuda_abi.h"
}
#include "vendor/cuda_symbols.h"

#include "ours.hh"

void ours(std::string &out)
{
#include "cuda.def"
    CUDA_SYMBOLS(FUNCTION, FUNCTION)
#define RESULT(name, number, status) fact(out, "result " #name, std::to_string(number));
    CUDA_RESULTS(RESULT)
}
