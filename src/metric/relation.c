/* SPDX-License-Identifier: MIT */
#include "metric/relation.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *words, *sign;
} relations[RELATION_COUNT] = {
#define X(name, json, words, sign) [RELATION_##name] = {json, words, sign},
    RELATIONS(X)
#undef X
};

const char *relation_name(enum relation r)
{
    return relations[r].name;
}

const char *relation_words(enum relation r)
{
    return relations[r].words;
}

const char *relation_sign(enum relation r)
{
    return relations[r].sign;
}

bool relation_by_name(const char *name, enum relation *out)
{
    for (size_t i = 0; name && i < RELATION_COUNT; i++)
        if (strcmp(name, relations[i].name) == 0) {
            *out = (enum relation)i;
            return true;
        }
    return false;
}
