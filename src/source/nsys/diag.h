/* SPDX-License-Identifier: MIT */
/* DIAGNOSTIC_EVENT: the only place where nsys says what went wrong with a collection. */
#ifndef SMEFF_SOURCE_NSYS_DIAG_H
#define SMEFF_SOURCE_NSYS_DIAG_H

#include <sqlite3.h>

#include "event/event.h"
#include "source/nsys/series.h"

struct nsys_diag {
    struct {
        int64_t severity; /* 1 info, 2 warning, 3 error */
        char text[NSYS_TEXT_SIZE];
    } * line; /* owned */
    size_t n;
    bool data_lost; /* a line says that samples were lost or the collection broke off */
};

enum status nsys_diag_read(sqlite3 *db, struct nsys_diag *out, struct error *err);
void nsys_diag_fini(struct nsys_diag *d);

/* Gives a series that has no row the reason that nsys states for leaving it out. */
void nsys_diag_explain(const struct nsys_diag *d, struct nsys_gpu *g);

/* Warnings and errors as notes of the stream. */
enum status nsys_diag_push(const struct nsys_diag *d, const struct event_sink *sink,
                           struct error *err);

#endif
