/* SPDX-License-Identifier: MIT */
#include "collect/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Takes the newest of the least important notes out of a full list; false when all are at least as
 * important as level. */
static bool make_room(struct notes *notes, enum note_level level)
{
    size_t victim = notes->n;
    for (size_t i = 0; i < notes->n; i++)
        if (notes->list[i].level < level &&
            (victim == notes->n || notes->list[i].level <= notes->list[victim].level))
            victim = i;
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
    *n = (struct snapshot_note){.level = note->level, .gpu = note->gpu};
    str_clean(n->text, sizeof n->text, note->text, strlen(note->text));
    return OK;
}

size_t notes_copy(const struct notes *notes, struct snapshot_note *dst)
{
    if (notes->n)
        memcpy(dst, notes->list, notes->n * sizeof *dst);
    if (notes->left_out == 0)
        return notes->n;
    struct snapshot_note *n = &dst[notes->n];
    *n = (struct snapshot_note){.level = notes->left_out_level, .gpu = -1};
    snprintf(n->text, sizeof n->text, "%" PRIu64 " further note%s left out", notes->left_out,
             notes->left_out == 1 ? " was" : "s were");
    return notes->n + 1;
}
