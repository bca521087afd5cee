/* SPDX-License-Identifier: MIT */
/* Reads the GPU metrics of an nsys SQLite export. The file is untrusted input. */
#ifndef SMEFF_SOURCE_NSYS_NSYS_H
#define SMEFF_SOURCE_NSYS_NSYS_H

#include <stdbool.h>

#include "base/error.h"
#include "event/event.h"

struct nsys_export;

/* Opens path read-only and learns what it holds: version, GPUs, metrics, times; touches nothing
 * beside it. all = also the metrics that are not in the catalogue. ERR_BAD_INPUT when it is no
 * usable export; ERR_IO or ERR_PERMISSION when it cannot be read. The error's line is "path:
 * cause", with the cause whole and, if need be, the path shortened. */
enum status nsys_export_open(struct nsys_export **out, const char *path, bool all,
                             struct error *err);

/* Sends hello, and for each GPU its identity and plan, and the notes about the file. The rate in
 * these plans is 0: only the rows show it. */
enum status nsys_export_describe(struct nsys_export *x, const struct event_sink *sink,
                                 struct error *err);

enum nsys_order {
    NSYS_AS_STORED, /* fast: one pass in the order of the file, nearly always that of time */
    NSYS_BY_TIME,   /* sorted: nsys does not promise an order */
};

/* Sends all samples, then the plans again with the rates and states that reading showed, then end.
 * After nsys_export_describe. ERR_ORDER: the file is not in the order of time; what was sent so far
 * must be thrown away, and describe and read(NSYS_BY_TIME) give all of it again. */
enum status nsys_export_read(struct nsys_export *x, enum nsys_order order,
                             const struct event_sink *sink, struct error *err);

/* For those who cannot throw away what they got: one more pass tells which order to read in. */
enum status nsys_export_order(struct nsys_export *x, enum nsys_order *out, struct error *err);

/* Puts "path: " in front of err's cause, as nsys_export_open does. err may be NULL. */
void nsys_name_file(struct error *err, enum status st, const char *path);

void nsys_export_close(struct nsys_export *x); /* accepts NULL */

#endif
