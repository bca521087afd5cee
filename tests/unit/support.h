/* SPDX-License-Identifier: MIT */
/* What the cmocka programs share. */
#ifndef SMEFF_TESTS_SUPPORT_H
#define SMEFF_TESTS_SUPPORT_H

/* cmocka's header wants these first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* fail() is ours, in base/error.h */
#undef fail
#undef fail_msg
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: " __VA_ARGS__);                                                        \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double a_ = (a), b_ = (b);                                                                 \
        if (!(a_ >= b_ - (tolerance) && a_ <= b_ + (tolerance)))                                   \
            fail_msg("%s = %.17g, expected %.17g", #a, a_, b_);                                    \
    } while (0)

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (!strstr(text_, part_))                                                                 \
            fail_msg("\"%s\" does not contain \"%s\"", text_, part_);                              \
    } while (0)

#endif
