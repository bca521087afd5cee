/* SPDX-License-Identifier: MIT */
#include "llm/signals.h"

#include <math.h>
#include <stdio.h>

#include "llm/steps.h"

/* A token rate needs this certainty, of a server that prints few digits. */
static const double digits_error_max = 0.05;

/* Below this a running request may well be in its prefill, with nothing to count. */
static const double stale_seconds = 5;

static const char not_shown[] = "the server does not show it";

/* One way being tried. */
struct attempt {
    const struct window *w;
    const struct way *way;
    int dialect;
    double running[2]; /* requests at the beginning and end of the window; below 0: not known */
    struct signal *out;
};

static uint16_t series_of(const struct attempt *t, unsigned which)
{
    return scrape_series(t->dialect, which);
}

static double scale_of(const struct way *way)
{
    return way->scale > 0 ? way->scale : 1;
}

static void put_number(struct attempt *t, double v)
{
    value_set(&t->out->value, SOURCE_SERVER, t->w->now->unix_ns, v * scale_of(t->way));
}

/* A number that may be wrong, and why. */
static void doubt(struct attempt *t, enum value_state state, const char *reason)
{
    double v = t->out->value.v;
    value_set_state(&t->out->value, SOURCE_SERVER, state, "%s", reason);
    t->out->value.v = v;
}

static void put_state(struct attempt *t, enum value_state state, const char *reason)
{
    value_set_state(&t->out->value, SOURCE_SERVER, state, "%s", reason);
}

/* Why an amount is no number. */
static bool is_number(struct attempt *t, struct amount r)
{
    switch (r.kind) {
    case AMOUNT_NUMBER:
        return true;
    case AMOUNT_ABSENT:
        put_state(t, VALUE_UNSUPPORTED, not_shown);
        break;
    case AMOUNT_FIRST:
        put_state(t, VALUE_WARMING, "needs a second scrape");
        break;
    case AMOUNT_RESTARTED:
        put_state(t, VALUE_WARMING, "the server or its counter started anew in this window");
        break;
    case AMOUNT_CHANGED:
        put_state(t, VALUE_WARMING, "a series came or went in this window");
        break;
    case AMOUNT_DUPLICATE:
        put_state(t, VALUE_FAILED, "the server shows one series twice");
        break;
    case AMOUNT_NOT_FINITE:
        put_state(t, VALUE_FAILED, "the server shows no finite number");
        break;
    case AMOUNT_MODELS:
        put_state(t, VALUE_UNSUPPORTED, "several models, and each has its own");
        break;
    case AMOUNT_LABELS:
        put_state(t, VALUE_UNSUPPORTED,
                  "several series that differ in a label that smeff does not know");
        break;
    }
    return false;
}

/* ---- levels ---- */

/* A rate that the server itself tells, or that its gauges give. SGLang's kept its last value when
 * idle (https://github.com/sgl-project/sglang/issues/4244). What was counted in the window is to be
 * preferred, and alone divided by. */
static void doubt_moment(struct attempt *t)
{
    if (t->out->value.v > 0 && t->running[1] == 0)
        doubt(t, VALUE_STALE, "no request runs: it is a value from before");
    else
        doubt(t, VALUE_SUSPECT, "the server's own figure of a moment, not of this window");
}

static void put_level(struct attempt *t)
{
    const struct way *way = t->way;
    struct amount a = window_level(t->w->now, series_of(t, way->a), way->across);
    if (!is_number(t, a))
        return;
    put_number(t, a.v);
    if (metric_info(way->metric)->unit == UNIT_TOKENS_PER_SECOND)
        doubt_moment(t);
    if (metric_info(way->metric)->unit == UNIT_RATIO && a.v == -1)
        put_state(t, VALUE_UNSUPPORTED, "the server says -1: switched off");
    else if (a.v < 0)
        put_state(t, VALUE_FAILED, "the server shows a number below 0");
}

static void put_level_share(struct attempt *t)
{
    struct amount a = window_level(t->w->now, series_of(t, t->way->a), t->way->across);
    struct amount b = window_level(t->w->now, series_of(t, t->way->b), t->way->across);
    if (!is_number(t, a) || !is_number(t, b))
        return;
    if (b.v > 0)
        put_number(t, a.v / b.v);
    else
        put_state(t, VALUE_WARMING, "a share of nothing");
}

static void put_level_rate(struct attempt *t)
{
    struct amount a = window_level(t->w->now, series_of(t, t->way->a), ACROSS_SUM);
    struct amount b = window_level(t->w->now, series_of(t, t->way->b), ACROSS_MEAN);
    struct amount c = window_level(t->w->now, series_of(t, t->way->c), ACROSS_MEAN);
    if (!is_number(t, a) || !is_number(t, b) || !is_number(t, c))
        return;
    if (a.v > 0 && !(c.v > 0)) {
        put_state(t, VALUE_WARMING, "no step was measured yet");
        return;
    }
    put_number(t, a.v > 0 ? a.v * b.v / c.v : 0);
    doubt_moment(t);
}

/* ---- rates ---- */

/* The step of a number of so many significant digits; 0 where whole numbers are exact. */
static double step_of(double v, int digits)
{
    if (digits == 0 || !(fabs(v) >= pow(10, digits)))
        return 0;
    return pow(10, floor(log10(fabs(v))) - digits + 1);
}

static bool is_quiet(const struct attempt *t)
{
    return t->running[0] == 0 && t->running[1] == 0;
}

/* What only moves when requests end says nothing of those that run, and what ended may have begun
 * before the window. With none running at both ends it is exact. */
static void judge_finish(struct attempt *t, double growth)
{
    if (t->way->fresh != FRESH_FINISH || is_quiet(t))
        return;
    if (growth == 0)
        put_state(t, VALUE_WARMING, "counted when a request ends, and none ended in this window");
    else
        doubt(t, VALUE_SUSPECT,
              "counted when a request ends: some of it may be from before the window");
}

static void judge_digits(struct attempt *t, double growth, double error)
{
    bool matters = growth > 0 ? error > digits_error_max * growth : error > 0 && !is_quiet(t);
    if (matters && value_has_number(&t->out->value))
        doubt(t, VALUE_SUSPECT, "the server prints too few digits for a window this short");
}

static void put_rate(struct attempt *t, enum part part)
{
    uint16_t series = series_of(t, t->way->a);
    struct amount a = window_growth(t->w, series, part);
    int digits = dialect_get((enum dialect_id)t->dialect)->digits;
    if (!is_number(t, a))
        return;
    if (!(t->w->seconds > 0)) {
        put_state(t, VALUE_WARMING, "no time between two scrapes");
        return;
    }
    put_number(t, a.v / t->w->seconds);
    judge_finish(t, a.v);
    if (digits)
        judge_digits(t, a.v, step_of(window_level(t->w->now, series, ACROSS_SUM).v, digits));
}

/* Tokens of steps, and those that came with the prompts. */
static void put_rate_first(struct attempt *t)
{
    struct amount steps = window_growth(t->w, series_of(t, t->way->a), PART_VALUE);
    struct amount firsts = window_growth(t->w, series_of(t, t->way->b), PART_COUNT);
    if (!is_number(t, steps) || !is_number(t, firsts))
        return;
    if (t->w->seconds > 0)
        put_number(t, (steps.v + firsts.v) / t->w->seconds);
    else
        put_state(t, VALUE_WARMING, "no time between two scrapes");
}

/* Two counters of one thing, told for one GPU by each engine. */
static void put_rate_pair(struct attempt *t)
{
    uint16_t a = series_of(t, t->way->a), b = series_of(t, t->way->b);
    struct amount x = window_growth(t->w, a, PART_VALUE), y = window_growth(t->w, b, PART_VALUE);
    size_t n = window_series(t->w, a, PART_VALUE);
    if (!is_number(t, x) || !is_number(t, y))
        return;
    if (!(t->w->seconds > 0) || n != window_series(t->w, b, PART_VALUE))
        put_state(t, VALUE_WARMING, "no time between two scrapes, or series are missing");
    else
        put_number(t, (x.v + y.v) / (double)n / t->w->seconds);
}

/* n × mean since the start = the sum since the start. */
static void put_rate_work(struct attempt *t)
{
    uint16_t a = series_of(t, t->way->a), b = series_of(t, t->way->b);
    int digits = dialect_get((enum dialect_id)t->dialect)->digits;
    struct amount n = window_growth(t->w, a, PART_VALUE);
    struct amount n1 = window_level(t->w->now, a, ACROSS_SUM);
    struct amount m1 = window_level(t->w->now, b, ACROSS_MEAN);
    if (!is_number(t, m1) || !is_number(t, n1) || !is_number(t, n) || !t->w->before)
        return;
    struct amount n0 = window_level(t->w->before, a, ACROSS_SUM);
    struct amount m0 = window_level(t->w->before, b, ACROSS_MEAN);
    if (!is_number(t, m0) || !is_number(t, n0))
        return;
    double growth = n1.v * m1.v - n0.v * m0.v;
    /* Half a step at either end. A mean below 10 has a step of 10^(1 - digits). */
    double error = step_of(n1.v, digits) * m1.v +
                   n1.v * pow(10, (m1.v > 0 ? floor(log10(m1.v)) : 0) - digits + 1);
    if (n.v == 0)
        growth = 0;
    if (growth < -error) {
        put_state(t, VALUE_WARMING, "the server or its counter started anew in this window");
        return;
    }
    if (!(t->w->seconds > 0)) {
        put_state(t, VALUE_WARMING, "no time between two scrapes");
        return;
    }
    put_number(t, fmax(growth, 0) / t->w->seconds);
    if (n.v == 0) /* no step, no token */
        return;
    judge_digits(t, growth, error);
    const char *reason = steps_reason(steps_of(t->w, t->dialect, growth));
    if (reason && t->out->value.state == VALUE_OK)
        doubt(t, VALUE_SUSPECT, reason);
}

/* ---- means and ratios ---- */

static void put_quotient(struct attempt *t, double above, double below)
{
    if (below > 0)
        put_number(t, above / below);
    else
        put_state(t, VALUE_WARMING,
                  t->way->fresh == FRESH_FINISH ? "no request ended in this window"
                                                : "nothing was counted in this window");
}

static void put_quantiles(struct attempt *t)
{
    static const double wanted[] = {0.5, 0.95};
    struct quantile q[2];
    window_quantiles(t->w, series_of(t, t->way->a), wanted, 2, q);
    for (int i = 0; i < 2; i++)
        q[i].v *= scale_of(t->way);
    t->out->p50 = q[0];
    t->out->p95 = q[1];
}

static void put_mean(struct attempt *t)
{
    struct amount sum = window_growth(t->w, series_of(t, t->way->a), PART_SUM);
    struct amount count = window_growth(t->w, series_of(t, t->way->a), PART_COUNT);
    if (!is_number(t, sum) || !is_number(t, count))
        return;
    put_quotient(t, sum.v, count.v);
    put_quantiles(t);
}

/* Steps hold one token each unless drafts were accepted: only then the quantiles are of tokens. */
static void put_mean_token(struct attempt *t)
{
    struct amount sum = window_growth(t->w, series_of(t, t->way->a), PART_SUM);
    struct amount steps = window_growth(t->w, series_of(t, t->way->a), PART_COUNT);
    struct amount tokens = window_growth(t->w, series_of(t, t->way->b), PART_VALUE);
    struct amount firsts = window_growth(t->w, series_of(t, t->way->c), PART_COUNT);
    if (!is_number(t, sum) || !is_number(t, steps) || !is_number(t, tokens) ||
        !is_number(t, firsts))
        return;
    double n = tokens.v - firsts.v;
    put_quotient(t, steps.v > 0 ? sum.v : 0, steps.v > 0 ? n : 0);
    if (fabs(steps.v - n) <= 0.02 * n)
        put_quantiles(t);
}

static void put_ratio(struct attempt *t, bool of_both)
{
    struct amount a = window_growth(t->w, series_of(t, t->way->a), PART_VALUE);
    struct amount b = window_growth(t->w, series_of(t, t->way->b), PART_VALUE);
    if (is_number(t, a) && is_number(t, b))
        put_quotient(t, a.v, of_both ? a.v + b.v : b.v);
}

/* ---- choosing ---- */

static void try(struct attempt *t)
{
    switch (t->way->kind) {
    case WAY_LEVEL:
        put_level(t);
        break;
    case WAY_LEVEL_SHARE:
        put_level_share(t);
        break;
    case WAY_LEVEL_RATE:
        put_level_rate(t);
        break;
    case WAY_RATE:
        put_rate(t, PART_VALUE);
        break;
    case WAY_RATE_FIRST:
        put_rate_first(t);
        break;
    case WAY_RATE_PAIR:
        put_rate_pair(t);
        break;
    case WAY_RATE_SUM:
        put_rate(t, PART_SUM);
        break;
    case WAY_RATE_WORK:
        put_rate_work(t);
        break;
    case WAY_MEAN:
        put_mean(t);
        break;
    case WAY_MEAN_TOKEN:
        put_mean_token(t);
        break;
    case WAY_RATIO:
        put_ratio(t, false);
        break;
    case WAY_SHARE:
        put_ratio(t, true);
        break;
    case WAY_NONE:
        put_state(t, VALUE_UNSUPPORTED, t->way->note);
        break;
    }
}

/* A share outside 0..1 is shown, but nobody may build on it. */
static void check_range(struct attempt *t)
{
    const struct value *v = &t->out->value;
    if (value_has_number(v) && !isfinite(v->v))
        put_state(t, VALUE_FAILED, "the server shows numbers that are too large");
    if (metric_info(t->way->metric)->unit == UNIT_RATIO && v->state == VALUE_OK && v->v > 1)
        doubt(t, VALUE_SUSPECT, "above 100 %");
}

/* Appends the name of a series as the body has it, with what selects its samples. */
static void name_series(const struct attempt *t, unsigned which, const char *between,
                        const char *part)
{
    const struct dialect_series *s = &dialect_get((enum dialect_id)t->dialect)->series[which];
    const char *name = t->w->now->names[t->dialect][which];
    char *dst = t->out->series;
    size_t used = strlen(dst);
    if (s->label)
        snprintf(dst + used, SIGNAL_SERIES_SIZE - used, "%s%s%s{%s=\"%s\"}", between, name, part,
                 s->label, s->value);
    else
        snprintf(dst + used, SIGNAL_SERIES_SIZE - used, "%s%s%s", between, name, part);
}

static void name_all(const struct attempt *t)
{
    const struct way *way = t->way;
    t->out->series[0] = '\0';
    if (way->kind == WAY_NONE)
        return;
    bool is_sum = way->kind == WAY_RATE_SUM || way->kind == WAY_MEAN_TOKEN;
    name_series(t, way->a, "", is_sum ? "_sum" : "");
    if (way->kind == WAY_LEVEL_SHARE || way->kind == WAY_RATIO)
        name_series(t, way->b, " / ", "");
    else if (way->kind == WAY_LEVEL_RATE || way->kind == WAY_RATE_WORK)
        name_series(t, way->b, " * ", "");
    else if (way->kind == WAY_RATE_PAIR)
        name_series(t, way->b, " + ", "");
    else if (way->kind == WAY_RATE_FIRST)
        name_series(t, way->b, " + ", "_count");
    else if (way->kind == WAY_SHARE)
        name_series(t, way->b, " / (same + ", "");
    else if (way->kind == WAY_MEAN_TOKEN)
        name_series(t, way->b, " / (", "");
    if (way->kind == WAY_LEVEL_RATE)
        name_series(t, way->c, " / ", "");
    else if (way->kind == WAY_MEAN_TOKEN)
        name_series(t, way->c, " - ", "_count");
    size_t used = strlen(t->out->series);
    if (way->kind == WAY_SHARE || way->kind == WAY_MEAN_TOKEN)
        snprintf(t->out->series + used, SIGNAL_SERIES_SIZE - used, ")");
}

/* Which of two outcomes is worth more. */
static int rank(enum value_state state)
{
    static const int ranks[VALUE_STATE_COUNT] = {[VALUE_OK] = 5,
                                                 [VALUE_SUSPECT] = 4,
                                                 [VALUE_STALE] = 3,
                                                 [VALUE_WARMING] = 2,
                                                 [VALUE_FAILED] = 1};
    return ranks[state];
}

static void choose(const struct window *w, int dialect, const double running[2], enum metric m,
                   struct signal *out)
{
    const struct dialect *d = dialect_get((enum dialect_id)dialect);
    for (size_t i = 0; i < d->n_ways; i++) {
        struct signal tried = {0};
        struct attempt t = {w, &d->ways[i], dialect, {running[0], running[1]}, &tried};
        if (t.way->metric != m || (t.way->kind == WAY_NONE && w->has_engine))
            continue;
        tried.fresh = t.way->fresh;
        tried.note = t.way->kind == WAY_NONE ? NULL : t.way->note;
        try(&t);
        check_range(&t);
        if (strcmp(tried.value.reason, not_shown) != 0)
            name_all(&t);
        /* "There is none, because …" says more than "not shown". */
        bool explains =
            strcmp(tried.value.reason, not_shown) != 0 && strcmp(out->value.reason, not_shown) == 0;
        bool is_first = out->value.state == VALUE_UNSUPPORTED && !out->value.reason[0];
        if (is_first || explains || rank(tried.value.state) > rank(out->value.state))
            *out = tried;
    }
}

static double level_of(const struct scrape *s, int dialect, enum metric m)
{
    const struct dialect *d = dialect_get((enum dialect_id)dialect);
    for (size_t i = 0; s && i < d->n_ways; i++)
        if (d->ways[i].metric == m && d->ways[i].kind == WAY_LEVEL) {
            struct amount a =
                window_level(s, scrape_series(dialect, d->ways[i].a), d->ways[i].across);
            if (a.kind == AMOUNT_NUMBER)
                return a.v;
        }
    return -1;
}

void signals_doubt_gauges(struct signals *s, double quiet_s)
{
    static const enum metric gauges[] = {METRIC_RUNNING, METRIC_WAITING, METRIC_KV_USAGE};
    const struct value *running = &signal_of(s, METRIC_RUNNING)->value;
    const struct value *waiting = &signal_of(s, METRIC_WAITING)->value;
    bool is_busy = (running->state == VALUE_OK && running->v > 0) ||
                   (waiting->state == VALUE_OK && waiting->v > 0);
    if (quiet_s < stale_seconds || !is_busy)
        return;
    for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++) {
        struct value *x = &signal_of(s, gauges[i])->value;
        double v = x->v;
        if (x->state != VALUE_OK || v <= 0)
            continue;
        value_set_state(x, SOURCE_SERVER, VALUE_STALE,
                        "no token was counted for %.0f s: it may be a value from before", quiet_s);
        x->v = v;
    }
}

/* Did every token counter that moves while a request streams stand still in the window? */
static bool stood_still(const struct signals *s)
{
    const struct signal *out = &s->list[METRIC_OUTPUT_TOKENS_PER_SECOND - SIGNAL_FIRST];
    const struct signal *in = &s->list[METRIC_PROMPT_TOKENS_PER_SECOND - SIGNAL_FIRST];
    return s->seconds > 0 && out->fresh == FRESH_LIVE && out->value.state == VALUE_OK &&
           !(out->value.v > 0) && in->value.state == VALUE_OK && !(in->value.v > 0);
}

static void read_dialect(const struct window *w, int dialect, struct signals *out)
{
    const double running[2] = {level_of(w->before, dialect, METRIC_RUNNING),
                               level_of(w->now, dialect, METRIC_RUNNING)};
    for (int m = SIGNAL_FIRST; m < SIGNAL_END; m++)
        choose(w, dialect, running, (enum metric)m, signal_of(out, (enum metric)m));
}

void signals_read(const struct scrape *before, const struct scrape *now, struct signals *out)
{
    struct window w;
    window_init(&w, before, now);
    *out = (struct signals){.dialect = scrape_dialect(now), .seconds = w.seconds};
    /* The engine behind a front end knows more of itself, so it comes first. */
    for (int d = DIALECT_COUNT - 1; d >= 0; d--)
        if (now->present >> d & 1) {
            read_dialect(&w, d, out);
            w.has_engine = true;
        }
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct value *v = &out->list[i].value;
        if (v->state == VALUE_UNSUPPORTED && !v->reason[0])
            value_set_state(v, SOURCE_SERVER, VALUE_UNSUPPORTED, "%s", not_shown);
    }
    if (stood_still(out))
        signals_doubt_gauges(out, w.seconds);
}

bool signals_moved(const struct scrape *before, const struct scrape *now)
{
    struct window w;
    bool has_output = false, has_prompt = false;
    window_init(&w, before, now);
    for (int d = 0; d < DIALECT_COUNT && !w.restarted; d++)
        for (size_t i = 0; now->present >> d & 1 && i < dialect_get((enum dialect_id)d)->n_ways;
             i++) {
            const struct way *way = &dialect_get((enum dialect_id)d)->ways[i];
            bool output = way->metric == METRIC_OUTPUT_TOKENS_PER_SECOND,
                 prompt = way->metric == METRIC_PROMPT_TOKENS_PER_SECOND;
            if ((way->kind != WAY_RATE && way->kind != WAY_RATE_FIRST) ||
                way->fresh != FRESH_LIVE || !(output || prompt))
                continue;
            struct amount a = window_growth(&w, scrape_series(d, way->a), PART_VALUE);
            if (a.kind != AMOUNT_NUMBER ? a.kind != AMOUNT_ABSENT : a.v > 0)
                return true;
            has_output |= output && a.kind == AMOUNT_NUMBER;
            has_prompt |= prompt && a.kind == AMOUNT_NUMBER;
        }
    return w.restarted || !has_output || !has_prompt;
}

static bool fell(const struct window *w, uint16_t series, enum part part)
{
    return window_growth(w, series, part).kind == AMOUNT_RESTARTED;
}

bool signals_restarted(const struct scrape *before, const struct scrape *now)
{
    struct window w;
    window_init(&w, before, now);
    for (int d = 0; d < DIALECT_COUNT; d++)
        for (size_t i = 0; now->present >> d & 1 && i < dialect_get((enum dialect_id)d)->n_ways;
             i++) {
            const struct way *way = &dialect_get((enum dialect_id)d)->ways[i];
            uint16_t a = scrape_series(d, way->a);
            bool counts = way->kind == WAY_RATE || way->kind == WAY_RATE_FIRST ||
                          way->kind == WAY_RATE_PAIR || way->kind == WAY_RATE_WORK ||
                          way->kind == WAY_RATIO || way->kind == WAY_SHARE;
            if ((counts && fell(&w, a, PART_VALUE)) || fell(&w, a, PART_COUNT))
                return true;
        }
    return w.restarted;
}

void signals_none(struct signals *out, enum value_state state, const char *reason)
{
    *out = (struct signals){.dialect = DIALECT_NONE};
    for (int i = 0; i < SIGNAL_COUNT; i++)
        value_set_state(&out->list[i].value, SOURCE_SERVER, state, "%s", reason);
}
