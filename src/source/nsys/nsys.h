/* SPDX-License-Identifier: MIT */
/* Reads the GPU metrics of an nsys SQLite export. The file is untrusted input. */
#ifndef SMEFF_SOURCE_NSYS_NSYS_H
#define SMEFF_SOURCE_NSYS_NSYS_H

#include <stdbool.h>

#include "base/error.h"
#include "event/event.h"

struct nsys_export;

/* Opens path read-only and learns what it holds: version, GPUs, metrics, times. all = also the
 * metrics that are not in the catalogue. ERR_BAD_INPUT with one clear line (file and cause) when
 * it is no usable export; ERR_IO or ERR_PERMISSION when it cannot be read. */
enum status nsys_export_open(struct nsys_export **out, const char *path, bool all,
                             struct error *err);

/* Sends hello, and for each GPU its identity and plan, and the notes about the file. */
enum status nsys_export_describe(struct nsys_export *x, const struct event_sink *sink,
                                 struct error *err);

/* Sends all samples, then the plans again when reading them changed a state, then end.
 * Once, and after nsys_export_describe. */
enum status nsys_export_read(struct nsys_export *x, const struct event_sink *sink,
                             struct error *err);

void nsys_export_close(struct nsys_export *x); /* accepts NULL */

#endif
