/* SPDX-License-Identifier: MIT */
/* Fake libcupti: names of metrics, and how many passes a set of them needs. */
#include <stdio.h>
#include <string.h>

#include "fake_cupti.h"

/* [unit.Triage.]base.rollup[.submetric]: the base is the part with "__". */
bool metric_base(const char *expression, char base[NAME_SIZE])
{
    static const char *const rollups[] = {"sum", "avg", "min", "max", "pct", "ratio", "max_rate"};
    const char *mark = strstr(expression, "__");
    const char *dot = mark ? strchr(mark, '.') : NULL;
    if (!dot || strlen(expression) >= NAME_SIZE)
        return false;
    snprintf(base, NAME_SIZE, "%.*s", (int)(dot - expression), expression);
    size_t len = strcspn(dot + 1, ".");
    for (size_t i = 0; i < sizeof rollups / sizeof rollups[0]; i++)
        if (strlen(rollups[i]) == len && strncmp(dot + 1, rollups[i], len) == 0)
            return true;
    return false;
}

static const struct setting *find(const struct gpu *gpu, const char *kind, const char *name)
{
    char key[NAME_SIZE + 16];
    snprintf(key, sizeof key, "%s.%.*s", kind, NAME_SIZE, name);
    return script_find(gpu, key);
}

const struct setting *metric_find(const struct gpu *gpu, const char *expression)
{
    char base[NAME_SIZE];
    if (!metric_base(expression, base))
        return NULL;
    const struct setting *s = find(gpu, "pm", expression);
    return s ? s : find(gpu, "pm", base);
}

bool metric_is_unavailable(const struct setting *s)
{
    return strcmp(s->text, "unavailable") == 0;
}

static unsigned own_passes(const struct gpu *gpu, const char *base)
{
    const struct setting *s = find(gpu, "passes", base);
    return s && s->wave.a > 1 ? (unsigned)s->wave.a : 1;
}

/* Metrics of one group cannot share a pass, so their passes add up; the whole set needs as many as
 * its neediest group, or as its neediest metric. Several expressions of one metric are one metric.
 */
unsigned metric_passes(const struct gpu *gpu, char names[][NAME_SIZE], unsigned n)
{
    char bases[METRICS][NAME_SIZE];
    unsigned n_bases = 0, most = n ? 1 : 0;
    for (unsigned i = 0; i < n; i++) {
        char base[NAME_SIZE];
        bool seen = !metric_base(names[i], base);
        for (unsigned k = 0; k < n_bases && !seen; k++)
            seen = strcmp(bases[k], base) == 0;
        if (!seen)
            memcpy(bases[n_bases++], base, NAME_SIZE);
    }
    for (unsigned i = 0; i < n_bases; i++) {
        const struct setting *group = find(gpu, "group", bases[i]);
        unsigned sum = 0;
        for (unsigned k = 0; k < n_bases; k++) {
            const struct setting *other = find(gpu, "group", bases[k]);
            if (k == i || (group && other && strcmp(group->text, other->text) == 0))
                sum += own_passes(gpu, bases[k]);
        }
        most = sum > most ? sum : most;
    }
    return most;
}
