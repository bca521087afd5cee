/* SPDX-License-Identifier: MIT */
#include "metric/metric.h"

#include <assert.h>
#include <string.h>

#define NSYS(...)                                                                                  \
    (const struct nsys_name[])                                                                     \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define PLUS(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define PM(...)                                                                                    \
    (const struct pm_candidate[])                                                                  \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static const struct metric_info infos[METRIC_COUNT] = {
#define METRIC(id, ...) [METRIC_##id] = {__VA_ARGS__},
#include "metric/metrics.def"
#undef METRIC
};

static const char *const group_titles[] = {
#define X(name, title) title,
    METRIC_GROUPS(X)
#undef X
};

const struct metric_info *metric_info(enum metric m)
{
    assert((unsigned)m < METRIC_COUNT);
    return &infos[m];
}

int metric_by_key(const char *key)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        if (strcmp(infos[m].key, key) == 0)
            return m;
    return METRIC_NONE;
}

const char *metric_group_title(enum metric_group group)
{
    return (unsigned)group < GROUP_COUNT ? group_titles[group] : "?";
}

static bool word_matches(const char *word, size_t len, const char *chip)
{
    if (len > 0 && word[len - 1] == '*')
        return strncmp(word, chip, len - 1) == 0;
    return strlen(chip) == len && memcmp(word, chip, len) == 0;
}

bool metric_chip_matches(const char *chips, const char *chip)
{
    if (!chips)
        return true;
    bool listed = false, any_positive = false;
    for (const char *p = chips; *p;) {
        size_t len = strcspn(p, " ");
        bool negative = *p == '!';
        if (len > 0 && word_matches(p + negative, len - negative, chip)) {
            if (negative)
                return false;
            listed = true;
        }
        any_positive |= len > 0 && !negative;
        p += len;
        p += strspn(p, " ");
    }
    return listed || !any_positive;
}
