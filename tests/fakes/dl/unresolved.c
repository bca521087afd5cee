/* SPDX-License-Identifier: MIT */
/* A library that cannot be loaded: it needs a function that nobody has. */
int good_one(void);
int nobody_has_this(void);

__attribute__((visibility("default"))) int good_one(void)
{
    return nobody_has_this();
}
