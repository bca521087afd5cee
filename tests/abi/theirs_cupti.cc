// SPDX-License-Identifier: MIT
#include "abi.hh"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "theirs.hh"
#include "vendor/cupti_symbols.h"

const char *theirs(std::string &out)
{
#if CUPTI_API_VERSION < 130000
    (void)out;
    return "these CUPTI headers are older than 13.0";
#else
#define END(mine, other, last)                                                                     \
    fact(out, #mine ".structSize",                                                                 \
         std::to_string(offsetof(other, last) + sizeof(((other *)0)->last)));
#include "cupti.def"
#define NEWER(name) // 13.0 does not have them; add them here once headers of 13.2 are at hand
    CUPTI_SYMBOLS(FUNCTION, FUNCTION, NEWER)
#define RESULT(name, number, status, text)                                                         \
    fact(out, "result " #name, std::to_string((int)CUPTI_ERROR_##name));
    CUPTI_RESULTS(RESULT)
    return nullptr;
#endif
}
