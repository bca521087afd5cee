/* SPDX-License-Identifier: MIT */
/* Does a step of a server give more than one token? Where tokens are reckoned from steps,
 * speculative decoding (drafts of several tokens, checked in one step) makes the rate too low. */
#ifndef SMEFF_LLM_DRAFTS_H
#define SMEFF_LLM_DRAFTS_H

#include "llm/window.h"

enum drafts {
    DRAFTS_NONE,    /* one token for each step and slot, as far as the server's counts reach */
    DRAFTS_USED,    /* requests that ended had drafts */
    DRAFTS_LIKELY,  /* the longest sequence grew faster than the steps: drafts, or a long prompt */
    DRAFTS_UNKNOWN, /* no request ended that would tell, or the server does not tell */
};

/* Of a dialect that has drafts; others are DRAFTS_UNKNOWN. */
enum drafts drafts_of(const struct window *w, int dialect);

/* In words, for a number that drafts can make wrong; NULL for DRAFTS_NONE. Static text. */
const char *drafts_reason(enum drafts drafts);

#endif
