/* SPDX-License-Identifier: MIT */
/* The notes of a stream, bounded: what does not fit is counted, never lost silently. */
#ifndef SMEFF_COLLECT_NOTES_H
#define SMEFF_COLLECT_NOTES_H

#include <stdbool.h>

#include "base/error.h"
#include "collect/snapshot.h"

/* A zeroed one is empty. */
struct notes {
    struct snapshot_note *list;
    size_t n;
    uint64_t left_out;              /* notes that did not fit */
    enum note_level left_out_level; /* the highest of them */
    bool rolls;                     /* shows the present */
};

/* More notes than this say nothing new. A full list keeps errors rather than warnings, and those
 * rather than infos; but where the present is shown the oldest go, whatever they are: what is wrong
 * now counts, and the list must not be full for good. */
enum { NOTES_MAX = 100 };

enum status notes_add(struct notes *notes, const struct event_note *note, struct error *err);

/* Copies them (with times only where the present is shown: a file's notes are of no moment) to dst,
 * which has room for notes->n + 1: the last one counts those left out, if any. Returns how many
 * were written. */
size_t notes_copy(const struct notes *notes, struct snapshot_note *dst);

void notes_fini(struct notes *notes);

#endif
