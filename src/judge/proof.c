/* SPDX-License-Identifier: MIT */
#include "judge/proof.h"

#include <math.h>
#include <stdio.h>

#include "metric/unit.h"

/* Two sources read different units of the chip and do not begin and end in the same instant: in
 * points of a ratio, or as a share of a rate. As in collect/crosscheck.h. */
static const double sources_tolerance = 0.03;

static bool is_met(const struct proof *p, double v)
{
    switch (p->relation) {
    case PROOF_AT_LEAST:
        return v >= p->expected - p->tolerance;
    case PROOF_AT_MOST:
        return v <= p->expected + p->tolerance;
    case PROOF_EQUAL:
        break;
    }
    return fabs(v - p->expected) <= p->tolerance;
}

static void tell_failure(const struct proof *p, struct proof_reading *r)
{
    static const char *const words[] = {"", "at least ", "at most "};
    char read[32], expected[32], tolerance[40] = "";
    enum unit unit = metric_info(p->metric)->unit;
    if (p->tolerance > 0)
        snprintf(tolerance, sizeof tolerance, " ± %s",
                 unit_format(expected, sizeof expected, unit, p->tolerance, 0));
    unit_format(read, sizeof read, unit, r->value.v, 0);
    unit_format(expected, sizeof expected, unit, p->expected, 0);
    snprintf(r->reason, sizeof r->reason, "read %s during the load %s, where %s%s%s is true", read,
             p->load, words[p->relation], expected, tolerance);
}

static void judge_reading(const struct proof *p, struct proof_reading *r)
{
    r->reason[0] = '\0';
    r->verdict = PROOF_UNCHECKED;
    if (!value_has_number(&r->value)) {
        snprintf(r->reason, sizeof r->reason, "%s", r->value.reason);
    } else if (isnan(p->expected)) {
        snprintf(r->reason, sizeof r->reason, "%s", p->how);
    } else if (is_met(p, r->value.v)) {
        r->verdict = PROOF_PASS;
    } else {
        r->verdict = PROOF_FAIL;
        tell_failure(p, r);
    }
}

static void compare_sources(struct proof *p)
{
    struct proof_reading *pm = &p->by[PROOF_PM], *gpm = &p->by[PROOF_GPM];
    enum unit unit = metric_info(p->metric)->unit;
    char text[2][32];
    if (!isnan(p->expected) || !value_has_number(&pm->value) || !value_has_number(&gpm->value))
        return;
    double scale = unit == UNIT_RATIO ? 1 : fmax(fabs(pm->value.v), fabs(gpm->value.v));
    bool agree = fabs(pm->value.v - gpm->value.v) <= sources_tolerance * scale;
    pm->verdict = gpm->verdict = agree ? PROOF_AGREE : PROOF_FAIL;
    if (agree) {
        pm->reason[0] = gpm->reason[0] = '\0';
        return;
    }
    snprintf(pm->reason, sizeof pm->reason,
             "is in doubt: PM sampling read %s and GPM %s during the load %s",
             unit_format(text[0], sizeof text[0], unit, pm->value.v, 0),
             unit_format(text[1], sizeof text[1], unit, gpm->value.v, 0), p->load);
    snprintf(gpm->reason, sizeof gpm->reason, "%s", pm->reason);
}

void proof_judge(struct proof *p)
{
    for (int i = 0; i < PROOF_SOURCES; i++)
        judge_reading(p, &p->by[i]);
    compare_sources(p);
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
    return by == PROOF_PM ? SOURCE_PM : SOURCE_GPM;
}
