/* SPDX-License-Identifier: MIT */
#include "source/nsys/version.h"

#include <stdio.h>
#include <string.h>

bool nsys_version_parse(const char *text, struct nsys_version *out)
{
    struct nsys_version v = {0};
    const char *at = strstr(text, "Nsight Systems version ");
    if (!at || sscanf(at, "Nsight Systems version %4u.%3u.%4u", &v.year, &v.minor, &v.patch) < 2 ||
        v.year < 2018)
        return false;
    snprintf(v.text, sizeof v.text, "%u.%u.%u", v.year, v.minor, v.patch);
    *out = v;
    return true;
}

static int compare(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

int nsys_version_compare(const struct nsys_version *a, const struct nsys_version *b)
{
    if (a->year != b->year)
        return compare(a->year, b->year);
    return a->minor != b->minor ? compare(a->minor, b->minor) : compare(a->patch, b->patch);
}

bool nsys_version_usable(const struct nsys_version *v)
{
    return v->year > 2023 || (v->year == 2023 && v->minor >= 4);
}
