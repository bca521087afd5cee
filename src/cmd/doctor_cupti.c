/* SPDX-License-Identifier: MIT */
#include "cmd/doctor_cupti.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

bool cupti_parse_note(const char *text, struct cupti_taken *out)
{
    struct cupti_taken c = {0};
    int used = 0;
    if (sscanf(text, "pm: CUPTI interface %u from %n", &c.version, &used) != 1 || used == 0)
        return false;
    const char *path = text + used, *close = strrchr(path, ')'), *open = close;
    while (open > path && strncmp(open, " (", 2) != 0)
        open--;
    if (!close || open == path)
        return false;
    str_clean(c.path, sizeof c.path, path, (size_t)(open - path));
    str_clean(c.from, sizeof c.from, open + 2, (size_t)(close - open - 2));
    *out = c;
    return true;
}

const char *cupti_release(char dst[CUPTI_RELEASE_SIZE], unsigned version)
{
    static const struct {
        unsigned version;
        const char *text;
    } old[] = {{24, "12.6"}, {26, "12.8"}, {27, "12.9"}, {28, "12.9 Update 1"}};
    unsigned update = version % 100;
    snprintf(dst, CUPTI_RELEASE_SIZE, "interface %u", version);
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (old[i].version == version)
            snprintf(dst, CUPTI_RELEASE_SIZE, "%s", old[i].text);
    if (version >= 130000 && update == 0)
        snprintf(dst, CUPTI_RELEASE_SIZE, "%u.%u", version / 10000, version / 100 % 100);
    else if (version >= 130000)
        snprintf(dst, CUPTI_RELEASE_SIZE, "%u.%u Update %u", version / 10000, version / 100 % 100,
                 update);
    return dst;
}
