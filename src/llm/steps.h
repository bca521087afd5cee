/* SPDX-License-Identifier: MIT */
/* Were a server's steps one token for each of their slots? Where tokens are reckoned from steps,
 * speculative decoding (drafts of several tokens, checked in one step) makes the rate too low, and
 * steps that read prompts make it too high. */
#ifndef SMEFF_LLM_STEPS_H
#define SMEFF_LLM_STEPS_H

#include "llm/window.h"

enum steps {
    STEPS_ARE_TOKENS,  /* proven: one slot, whose sequence grew by one token in each step */
    STEPS_HAVE_DRAFTS, /* requests that ended had drafts */
    STEPS_GREW,        /* the longest sequence grew faster than the steps: drafts, or a prompt */
    STEPS_READ,        /* prompts were read in the window */
    STEPS_UNKNOWN,     /* the server does not tell */
};

/* work: the growth of steps × slots in the window. Of a dialect that has dialect_steps; others are
 * STEPS_UNKNOWN. */
enum steps steps_of(const struct window *w, int dialect, double work);

/* In words, for a number that takes them for tokens; NULL for STEPS_ARE_TOKENS. Static text. */
const char *steps_reason(enum steps steps);

#endif
