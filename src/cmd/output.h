/* SPDX-License-Identifier: MIT */
/* Standard output of a command: its style, and writing that notices failure. */
#ifndef SMEFF_CMD_OUTPUT_H
#define SMEFF_CMD_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"
#include "cmd/cmd.h"
#include "event/wire.h"
#include "show/show.h"

/* From the terminal (or 100 columns without one), the locale and the options. */
struct show_style output_style(const struct options *o);

/* COLUMNS or LINES of the environment, 1 to 500; otherwise where it says nothing of that kind. */
int output_size(const char *name, int otherwise);

/* Writes and clears b. ERR_IO when stdout is closed or full. */
enum status output_write(struct buf *b, struct error *err);

/* Events as JSON lines on standard output. */
struct output_events {
    struct event_encoder *encoder; /* owned */
    struct buf text;
};

enum status output_events_init(struct output_events *o, struct error *err);
void output_events_fini(struct output_events *o);

/* Writes each event at once; o must outlive it. */
struct event_sink output_events_sink(struct output_events *o);

/* One line on standard error for each note of a snapshot that is no info; about is "" or what comes
 * first in the line: the file. */
void complain_notes(const char *about, const struct snapshot *s);

#endif
