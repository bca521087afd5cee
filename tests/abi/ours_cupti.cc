// SPDX-License-Identifier: MIT
#include "abi.hh"

extern "C" {
#include "vendor/cupti_abi.h"
}
#include "vendor/cupti_symbols.h"

#include "ours.hh"

void ours(std::string &out)
{
#define END(mine, other, last) fact(out, #mine ".structSize", std::to_string(CUPTI_SIZE_##mine));
#include "cupti.def"
#define NEWER(name)
    CUPTI_SYMBOLS(FUNCTION, FUNCTION, NEWER)
#define RESULT(name, number, status, text) fact(out, "result " #name, std::to_string(number));
    CUPTI_RESULTS(RESULT)
}
