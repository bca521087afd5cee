/* SPDX-License-Identifier: MIT */
/* Proofs: what a counter read during a known load, beside what it must have read. Pure. */
#ifndef SMEFF_JUDGE_PROOF_H
#define SMEFF_JUDGE_PROOF_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/metric.h"
#include "metric/relation.h"
#include "metric/value.h"

/* X(NAME, json name) */
#define PROOF_VERDICTS(X)                                                                          \
    X(UNCHECKED, "unchecked")                                                                      \
    X(AGREE, "agree")                                                                              \
    X(PASS, "pass")                                                                                \
    X(FAIL, "fail")

enum proof_verdict {
#define X(name, json) PROOF_##name,
    PROOF_VERDICTS(X)
#undef X
};

enum { PROOF_REASON_SIZE = 240 };

/* What one source read, and what that proves. */
struct proof_reading {
    struct value value;
    enum proof_verdict verdict;
    char reason[PROOF_REASON_SIZE]; /* "" = pass */
};

/* The sources that are put to the test: PM sampling, GPM, and Nsight Systems where it was asked
 * for, whose numbers come from a capture of its own. */
enum { PROOF_PM, PROOF_GPM, PROOF_LIVE, PROOF_NSYS = PROOF_LIVE, PROOF_SOURCES };

struct proof {
    char load[32];
    enum metric metric;
    enum relation relation;
    double expected, tolerance; /* in the metric's unit; expected NaN = not known, how says why */
    char how[200];
    struct proof_reading by[PROOF_SOURCES];
};

/* Fills the verdicts from the values. Without a known value PM sampling is compared with each other
 * source: both agree, or both fail. */
void proof_judge(struct proof *p);

/* Of all its readings: a failure, else a pass, else agreement, else unchecked. */
enum proof_verdict proof_verdict(const struct proof *p);

const char *proof_verdict_name(enum proof_verdict verdict);
enum source_id proof_source(int by); /* of PROOF_PM, … */

#endif
