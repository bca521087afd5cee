/* SPDX-License-Identifier: MIT */
/* A file that a command was given: a recording, an SQLite export of nsys, or a report of nsys. */
#ifndef SMEFF_CMD_INFILE_H
#define SMEFF_CMD_INFILE_H

#include <stdbool.h>

#include "cmd/nsys_reports.h"
#include "collect/snapshot.h"
#include "event/event.h"

/* One of the files that reports_open was given: the i-th, by its name. */
struct infile {
    struct reports *reports;
    int i;
    const char *name;
    bool all; /* also what is not in the catalogue */
};

/* The statistics of all of it, to be released by snapshot_destroy. err's text names the file. */
enum status infile_snapshot(const struct infile *f, struct snapshot **out, struct error *err);

/* All of its events, hello first, samples in the order of time. */
enum status infile_events(const struct infile *f, const struct event_sink *sink, struct error *err);

/* Says what is wrong with a file; the exit code: a file that cannot be used costs that file, not
 * the others. */
int infile_failed(const struct error *err);

/* The worse of two exit codes: a failure of our own outweighs a bad file, and that outweighs OK. */
int infile_worse(int a, int b);

#endif
