/* SPDX-License-Identifier: MIT */
/* A library for the test of base/dl. */
int good_one(void);
int good_two(void);

__attribute__((visibility("default"))) int good_one(void)
{
    return 1;
}

__attribute__((visibility("default"))) int good_two(void)
{
    return 2;
}
