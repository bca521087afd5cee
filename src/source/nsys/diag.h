/* SPDX-License-Identifier: MIT */
/* DIAGNOSTIC_EVENT: the only place where nsys says what went wrong with a collection. */
#ifndef SMEFF_SOURCE_NSYS_DIAG_H
#define SMEFF_SOURCE_NSYS_DIAG_H

#include "event/event.h"
#include "source/nsys/series.h"

struct nsys_diag {
    struct nsys_diag_line {
        enum note_level level;
        char text[NSYS_TEXT_SIZE];
    } * line; /* owned: errors, then warnings, as many as a reader may want to see */
    size_t n;
    uint64_t left_out; /* further errors and warnings */
    bool data_lost;    /* a line says that samples were lost or the collection broke off */
};

enum status nsys_diag_read(struct nsys_db *db, struct nsys_diag *out, struct error *err);
void nsys_diag_fini(struct nsys_diag *d);

/* Gives series that have no row the reason that nsys states for leaving them out. */
enum status nsys_diag_explain(struct nsys_db *db, struct nsys_gpu *gpus, size_t n_gpus,
                              struct error *err);

/* Warnings and errors as notes of the stream. */
enum status nsys_diag_push(const struct nsys_diag *d, const struct event_sink *sink,
                           struct error *err);

#endif
