/* SPDX-License-Identifier: MIT */
/* An export that can be shown to others. */
#ifndef SMEFF_SOURCE_NSYS_SCRUB_H
#define SMEFF_SOURCE_NSYS_SCRUB_H

#include "base/error.h"

/* Long work says now and then that it goes on. say may be NULL. */
struct nsys_beat {
    void (*say)(void *self);
    void *self;
};
void nsys_beat_say(const struct nsys_beat *b);

/* Writes a new SQLite file at path with what `smeff analyze` reads of the export at from, and no
 * more: samples, metric names, model and bus address of the GPUs, times, versions, and what nsys
 * says of the sampling. No environment, command line, process, user or host name, path or UUID.
 * Nothing is copied that is not on the list, so a table that a later nsys adds stays out. Never
 * overwrites: ERR_IO when path exists. ERR_BAD_INPUT: from is no export. */
enum status nsys_scrub(const char *from, const char *path, const struct nsys_beat *beat,
                       struct error *err);

#endif
