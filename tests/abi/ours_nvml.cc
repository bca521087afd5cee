// SPDX-License-Identifier: MIT
#include "abi.hh"

extern "C" {
#include "vendor/nvml_abi.h"
}
#include "vendor/nvml_symbols.h"

#include "ours.hh"

void ours(std::string &out)
{
#include "nvml.def"
    NVML_SYMBOLS(FUNCTION, FUNCTION)
#define RESULT(name, number, status, text) fact(out, "result " #name, std::to_string(number));
    NVML_RESULTS(RESULT)
}
