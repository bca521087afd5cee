/* SPDX-License-Identifier: MIT */
#include "collect/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"

void notes_fini(struct notes *notes)
{
    free(notes->list);
    *notes = (struct notes){0};
}

static void leave_out(struct notes *notes, enum note_level level)
{
    notes->left_out++;
    if (level > notes->left_out_level)
        notes->left_out_level = level;
}

/* The newest of the least important notes; notes->n when all are at least as important as level. */
static size_t least_important(const struct notes *notes, enum note_level level)
{
    size_t victim = notes->n;
    for (size_t i = 0; i < notes->n; i++)
        if (notes->list[i].level < level &&
            (victim == notes->n || notes->list[i].level <= notes->list[victim].level))
            victim = i;
    return victim;
}

/* Takes one out of a full list; false when the new one is worth no more than any. */
static bool make_room(struct notes *notes, enum note_level level)
{
    size_t victim = notes->rolls ? 0 : least_important(notes, level);
    if (victim == notes->n)
        return false;
    leave_out(notes, notes->list[victim].level);
    notes->n--;
    memmove(&notes->list[victim], &notes->list[victim + 1],
            (notes->n - victim) * sizeof *notes->list);
    return true;
}

enum status notes_add(struct notes *notes, const struct event_note *note, struct error *err)
{
    if (notes->n == NOTES_MAX && !make_room(notes, note->level)) {
        leave_out(notes, note->level);
        return OK;
    }
    struct snapshot_note *grown = realloc(notes->list, (notes->n + 1) * sizeof *grown);
    if (!grown)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    notes->list = grown;
    struct snapshot_note *n = &grown[notes->n++];
    *n = (struct snapshot_note){.level = note->level, .gpu = note->gpu, .t_ns = clock_unix_ns()};
    str_clean(n->text, sizeof n->text, note->text, strlen(note->text));
    return OK;
}

size_t notes_copy(const struct notes *notes, struct snapshot_note *dst)
{
    if (notes->n)
        memcpy(dst, notes->list, notes->n * sizeof *dst);
    for (size_t i = 0; i < notes->n && !notes->rolls; i++)
        dst[i].t_ns = 0;
    if (notes->left_out == 0)
        return notes->n;
    struct snapshot_note *n = &dst[notes->n];
    *n = (struct snapshot_note){.level = notes->left_out_level, .gpu = -1};
    snprintf(n->text, sizeof n->text, "%" PRIu64 " %s note%s left out", notes->left_out,
             notes->rolls ? "older" : "further", notes->left_out == 1 ? " was" : "s were");
    return notes->n + 1;
}
