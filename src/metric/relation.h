/* SPDX-License-Identifier: MIT */
/* How a number must lie to a known one. */
#ifndef SMEFF_METRIC_RELATION_H
#define SMEFF_METRIC_RELATION_H

#include <stdbool.h>

/* X(NAME, json name, words in front of the known number, the same as a sign) */
#define RELATIONS(X)                                                                               \
    X(EQUAL, "equal", "", "")                                                                      \
    X(AT_LEAST, "at_least", "at least ", ">= ")                                                    \
    X(AT_MOST, "at_most", "at most ", "<= ")

enum relation {
#define X(name, json, words, sign) RELATION_##name,
    RELATIONS(X)
#undef X
        RELATION_COUNT
};

const char *relation_name(enum relation r);
const char *relation_words(enum relation r);
const char *relation_sign(enum relation r);

/* By its JSON name, exactly; false when there is none of that name (or it is NULL). */
bool relation_by_name(const char *name, enum relation *out);

#endif
