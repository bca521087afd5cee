/* SPDX-License-Identifier: MIT */
#include "llm/drafts.h"

#include <math.h>

/* llama-server 0.7.0 with drafts of 4 tokens: 182 steps of 1.99 slots gave 1800 tokens. Its
 * counters of drafts stayed 0 until the requests had ended (tests/llm/llamacpp-drafts.*), so that
 * other counts have to tell of those that run. */

/* Counts agree within this share and so many tokens: six digits, a scrape between two counters, the
 * tokens that a request with several answers gets from one step. */
static const double agree_share = 0.02, agree_tokens = 10;

/* Below this share of one token a step much was cancelled or read, and drafts could hide in it. */
static const double whole_share = 0.8;

/* So many steps tell something. */
static const double steps_min = 20;

/* A level, or -1. */
static double level(const struct scrape *s, int dialect, unsigned series)
{
    struct amount a = window_level(s, scrape_series(dialect, series), ACROSS_SUM);
    return a.kind == AMOUNT_NUMBER ? a.v : -1;
}

static double growth(const struct window *w, int dialect, unsigned series)
{
    struct amount a = window_growth(w, scrape_series(dialect, series), PART_VALUE);
    return a.kind == AMOUNT_NUMBER ? a.v : -1;
}

static bool exceeds(double a, double b)
{
    return a > b * (1 + agree_share) + agree_tokens;
}

/* A sequence grows by one token a step, and by its prompt. */
static enum drafts ask_longest(const struct window *w, int dialect, const struct dialect_steps *d)
{
    double longest = growth(w, dialect, d->longest), steps = growth(w, dialect, d->steps);
    double prompts =
        fmax(growth(w, dialect, d->prompt), 0) + fmax(growth(w, dialect, d->cached), 0);
    if (longest < 0 || steps < steps_min)
        return DRAFTS_UNKNOWN;
    if (exceeds(longest, steps + prompts))
        return DRAFTS_LIKELY;
    return fabs(longest - steps) <= agree_share * steps ? DRAFTS_NONE : DRAFTS_UNKNOWN;
}

enum drafts drafts_of(const struct window *w, int dialect)
{
    const struct dialect_steps *d = dialect_get((enum dialect_id)dialect)->steps;
    if (!d || !w->before)
        return DRAFTS_UNKNOWN;
    double drafts = level(w->now, dialect, d->drafts), tokens = level(w->now, dialect, d->tokens);
    double work = level(w->now, dialect, d->steps) * level(w->now, dialect, d->slots);
    if (drafts > 0 || exceeds(tokens, work))
        return DRAFTS_USED;
    enum drafts longest = ask_longest(w, dialect, d);
    if (longest != DRAFTS_UNKNOWN)
        return longest;
    bool ended_without = tokens > 0 && (drafts == 0 || tokens >= whole_share * work);
    return ended_without ? DRAFTS_NONE : DRAFTS_UNKNOWN;
}

const char *drafts_reason(enum drafts drafts)
{
    static const char *const reasons[] = {
        [DRAFTS_NONE] = NULL,
        [DRAFTS_USED] = "reckoned with one token a step and slot, but drafts are used: too low",
        [DRAFTS_LIKELY] = "reckoned with one token a step and slot, but a sequence grew faster: "
                          "drafts, or a long prompt",
        [DRAFTS_UNKNOWN] =
            "reckoned with one token a step and slot; no request ended yet that tells "
            "whether drafts are used",
    };
    return reasons[drafts];
}
