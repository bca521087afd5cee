/* SPDX-License-Identifier: MIT */
/* unit_format for scripts: reads lines "UNIT VALUE RESOLUTION", prints the text of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/unit.h"

int main(void)
{
    char line[256], name[64], text[64];
    double v, resolution;
    while (fgets(line, sizeof line, stdin)) {
        int unit = 0;
        if (sscanf(line, "%63s %lf %lf", name, &v, &resolution) != 3)
            return 1;
        while (unit < UNITS_END && strcmp(unit_name((enum unit)unit), name) != 0)
            unit++;
        puts(unit_format(text, sizeof text, (enum unit)unit, v, resolution));
    }
    return 0;
}
