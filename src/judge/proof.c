/* SPDX-License-Identifier: MIT */
#include "judge/proof.h"

#include <math.h>
#include <stdio.h>

#include "metric/unit.h"

/* Two sources read different units of the chip and do not begin and end in the same instant: in
 * points of a ratio, or as a share of a rate. As in collect/crosscheck.h. */
static const double sources_tolerance = 0.03;

/* nsys gives whole percents, rounded up from any trace of activity. */
static const double nsys_step = 0.01;

/* What nsys itself is known to be wrong about proves nothing (its occupancy of an H200, say). */
static bool is_witness(const struct value *v)
{
    return value_has_number(v) && !(v->source == SOURCE_NSYS && v->state == VALUE_SUSPECT);
}

static bool is_met(const struct proof *p, const struct value *value)
{
    bool coarse = value->source == SOURCE_NSYS && metric_info(p->metric)->unit == UNIT_RATIO;
    double v = value->v, tolerance = p->tolerance + (coarse ? nsys_step : 0);
    switch (p->relation) {
    case RELATION_AT_LEAST:
        return v >= p->expected - tolerance;
    case RELATION_AT_MOST:
        return v <= p->expected + tolerance;
    case RELATION_EQUAL:
    case RELATION_COUNT:
        break;
    }
    return fabs(v - p->expected) <= tolerance;
}

static void tell_failure(const struct proof *p, struct proof_reading *r)
{
    char read[32], expected[32], tolerance[40] = "";
    enum unit unit = metric_info(p->metric)->unit;
    if (p->tolerance > 0)
        snprintf(tolerance, sizeof tolerance, " ± %s",
                 unit_format(expected, sizeof expected, unit, p->tolerance, 0));
    unit_format(read, sizeof read, unit, r->value.v, 0);
    unit_format(expected, sizeof expected, unit, p->expected, 0);
    snprintf(r->reason, sizeof r->reason, "read %s during the load %s, where %s%s%s is true", read,
             p->load, relation_words(p->relation), expected, tolerance);
}

static void judge_reading(const struct proof *p, struct proof_reading *r)
{
    r->reason[0] = '\0';
    r->verdict = PROOF_UNCHECKED;
    if (!is_witness(&r->value)) {
        snprintf(r->reason, sizeof r->reason, "%s", r->value.reason);
    } else if (isnan(p->expected)) {
        snprintf(r->reason, sizeof r->reason, "%s", p->how);
    } else if (is_met(p, &r->value)) {
        r->verdict = PROOF_PASS;
    } else {
        r->verdict = PROOF_FAIL;
        tell_failure(p, r);
    }
}

static const char *source_label(int by)
{
    static const char *const labels[] = {"PM sampling", "GPM", "nsys"};
    return labels[by];
}

/* Failure of one pair is not undone by agreement of another. */
static void set_verdict(struct proof_reading *r, enum proof_verdict verdict, const char *reason)
{
    if (r->verdict == PROOF_FAIL)
        return;
    r->verdict = verdict;
    snprintf(r->reason, sizeof r->reason, "%s", reason);
}

static void compare_pair(struct proof *p, int by)
{
    struct proof_reading *pm = &p->by[PROOF_PM], *other = &p->by[by];
    enum unit unit = metric_info(p->metric)->unit;
    char text[2][32], reason[PROOF_REASON_SIZE];
    if (!is_witness(&pm->value) || !is_witness(&other->value))
        return;
    double scale = unit == UNIT_RATIO ? 1 : fmax(fabs(pm->value.v), fabs(other->value.v));
    bool agree = fabs(pm->value.v - other->value.v) <= sources_tolerance * scale;
    snprintf(reason, sizeof reason, "is in doubt: PM sampling read %s and %s %s during the load %s",
             unit_format(text[0], sizeof text[0], unit, pm->value.v, 0), source_label(by),
             unit_format(text[1], sizeof text[1], unit, other->value.v, 0), p->load);
    set_verdict(pm, agree ? PROOF_AGREE : PROOF_FAIL, agree ? "" : reason);
    set_verdict(other, agree ? PROOF_AGREE : PROOF_FAIL, agree ? "" : reason);
}

void proof_judge(struct proof *p)
{
    for (int i = 0; i < PROOF_SOURCES; i++)
        judge_reading(p, &p->by[i]);
    for (int i = PROOF_GPM; i < PROOF_SOURCES && isnan(p->expected); i++)
        compare_pair(p, i);
}

enum proof_verdict proof_verdict(const struct proof *p)
{
    enum proof_verdict worst = PROOF_UNCHECKED;
    for (int i = 0; i < PROOF_SOURCES; i++)
        if (p->by[i].verdict > worst)
            worst = p->by[i].verdict;
    return worst;
}

const char *proof_verdict_name(enum proof_verdict verdict)
{
    switch (verdict) {
#define X(name, json)                                                                              \
    case PROOF_##name:                                                                             \
        return json;
        PROOF_VERDICTS(X)
#undef X
    }
    return "?";
}

enum source_id proof_source(int by)
{
    static const enum source_id sources[] = {SOURCE_PM, SOURCE_GPM, SOURCE_NSYS};
    return sources[by];
}
