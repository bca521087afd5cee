// SPDX-License-Identifier: MIT
#include "abi.hh"

#include <nvml.h>

#include "theirs.hh"
#include "vendor/nvml_symbols.h"

const char *theirs(std::string &out)
{
#if NVML_API_VERSION < 13
    (void)out;
    return "this nvml.h is older than 13";
#else
#include "nvml.def"
    NVML_SYMBOLS(FUNCTION, FUNCTION)
#define RESULT(name, number, status, text)                                                         \
    fact(out, "result " #name, std::to_string((int)NVML_ERROR_##name));
    NVML_RESULTS(RESULT)
    return nullptr;
#endif
}
