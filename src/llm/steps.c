/* SPDX-License-Identifier: MIT */
#include "llm/steps.h"

#include <math.h>

/* llama-server 0.7.0 with drafts of 4 tokens: 182 steps of 1.99 slots gave 1800 tokens. Its
 * counters of drafts stayed 0 until the requests had ended (tests/llm/llamacpp-drafts.*), and what
 * ended before the window says nothing of it: a request of one token needs no draft
 * (llamacpp-one-token.*). So only the window itself can prove anything. */

/* Counts agree within this share and so many tokens: six digits, a scrape between two counters, the
 * tokens that a request with several answers gets from one step. */
static const double agree_share = 0.02, agree_tokens = 10;

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

static bool agrees(double a, double steps)
{
    return fabs(a - steps) <= agree_share * steps;
}

/* Of several slots nobody knows which of them read their prompts. One slot in every step, whose
 * sequence is the longest so far and grew by one token a step, had neither prompt nor drafts. */
enum steps steps_of(const struct window *w, int dialect, double work)
{
    const struct dialect_steps *d = dialect_get((enum dialect_id)dialect)->steps;
    if (!d || !w->before)
        return STEPS_UNKNOWN;
    double all = level(w->now, dialect, d->steps) * level(w->now, dialect, d->slots);
    if (level(w->now, dialect, d->drafts) > 0 || exceeds(level(w->now, dialect, d->tokens), all))
        return STEPS_HAVE_DRAFTS;
    double longest = growth(w, dialect, d->longest), steps = growth(w, dialect, d->steps);
    double prompts = growth(w, dialect, d->prompt), cached = growth(w, dialect, d->cached);
    double known = fmax(prompts, 0) + fmax(cached, 0);
    if (longest >= 0 && steps >= steps_min && exceeds(longest, steps + known))
        return STEPS_GREW;
    if (known > 0)
        return STEPS_READ;
    bool is_proven =
        prompts == 0 && steps >= steps_min && agrees(longest, steps) && agrees(work, steps);
    return is_proven ? STEPS_ARE_TOKENS : STEPS_UNKNOWN;
}

const char *steps_reason(enum steps steps)
{
    static const char *const reasons[] = {
        [STEPS_ARE_TOKENS] = NULL,
        [STEPS_HAVE_DRAFTS] = "reckoned with one token a step and slot, but drafts are used: "
                              "too low",
        [STEPS_GREW] = "reckoned with one token a step and slot, but a sequence grew faster: "
                       "drafts, or a long prompt",
        [STEPS_READ] = "reckoned with one token a step and slot, but prompts were read too: "
                       "too high, unless drafts are used",
        [STEPS_UNKNOWN] = "reckoned with one token a step and slot; the server does not tell "
                          "whether steps also read prompts, or drafts are used",
    };
    return reasons[steps];
}
