/* SPDX-License-Identifier: MIT */
/* The verdict of each GPU as the panel shows it: calm, and remembered.
 *
 * Each verdict is judged over VERDICTS_WINDOW_S seconds. Another kind than the one that is shown
 * takes its place when two windows in a row say so; the first verdict of all is shown at once. */
#ifndef SMEFF_PANEL_VERDICTS_H
#define SMEFF_PANEL_VERDICTS_H

#include <stdbool.h>

#include "judge/verdict.h"

#define VERDICTS_WINDOW_S 3.0

enum { VERDICTS_GPUS_MAX = 64, VERDICTS_KEPT = 12 };

/* UNIX times. */
struct verdict_entry {
    int64_t from_ns;  /* from here on it is this entry that holds */
    int64_t since_ns; /* begin of the first window that said so: of this entry, or of one before */
    bool is_first_look; /* judged over less than a window */
    struct verdict verdict;
};

struct verdict_past {
    struct verdict_entry *kept; /* owned; VERDICTS_KEPT of them, in a ring */
    size_t n;                   /* all that ever were */
    enum verdict_kind candidate;
    int64_t candidate_ns, seen_ns; /* seen: end of the newest window that was taken */
};

struct verdicts {
    struct verdict_past gpu[VERDICTS_GPUS_MAX];
    int64_t frozen_ns; /* somebody looks at this moment: what held there is not changed; 0 = not */
};

void verdicts_fini(struct verdicts *v); /* accepts a zeroed one */

/* Takes what the windows of a snapshot say, once for each window. first_look: the snapshot's
 * windows are shorter; taken only where there is no verdict yet. */
void verdicts_take(struct verdicts *v, const struct snapshot *s, bool first_look);

/* The verdict that held at that time; NULL: none, or it is no longer kept. until_ns (may be NULL):
 * 0 for one that holds still. */
const struct verdict_entry *verdicts_at(const struct verdicts *v, unsigned gpu, int64_t t_ns,
                                        int64_t *until_ns);

#endif
