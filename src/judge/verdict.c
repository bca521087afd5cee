/* SPDX-License-Identifier: MIT */
#include "judge/verdict.h"

#include <math.h>

#include "judge/finding.h"
#include "judge/thresholds.h"

/* Less than this of the time measured is said. */
#define COVERAGE_MIN 0.9

static const struct {
    const char *name, *text;
} kinds[] = {
#define X(name, json, text) {json, text},
    VERDICTS(X)
#undef X
};

const char *verdict_name(enum verdict_kind kind)
{
    return (unsigned)kind < VERDICT_COUNT ? kinds[kind].name : "?";
}

const char *verdict_text(enum verdict_kind kind)
{
    return (unsigned)kind < VERDICT_COUNT ? kinds[kind].text : "?";
}

void verdict_of(const struct gpu_snapshot *g, struct verdict *out)
{
    struct verdict v = {.kind = VERDICT_UNKNOWN};
    struct uses u;
    uses_of(g, &u);
    if (u.samples < SAMPLES_MIN)
        verdict_add(&v.evidence, "only %llu samples; %d are needed", (unsigned long long)u.samples,
                    SAMPLES_MIN);
    else
        finding_explain(finding_of(g, &u), g, &u, &v);
    if (!isnan(g->coverage) && g->coverage < COVERAGE_MIN)
        verdict_add(&v.limits, "Only %.0f %% of the time was measured.", 100 * g->coverage);
    *out = v;
}
