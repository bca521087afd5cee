/* SPDX-License-Identifier: MIT */
/* Recordings: the lines of a stream in a file, plain or compressed with gzip. */
#ifndef SMEFF_EVENT_FILE_H
#define SMEFF_EVENT_FILE_H

#include <stdbool.h>

#include "event/event.h"

/* ---- reading ---- */

struct event_reader;

/* Does a file look like a recording: is its first byte that of a JSON object? Only regular files
 * are opened. */
bool event_file_looks_like_one(const char *path);

/* Plain text and gzip are told apart by what is in the file. ERR_BAD_INPUT: it cannot be opened. */
enum status event_reader_open(struct event_reader **out, const char *path, struct error *err);
void event_reader_close(struct event_reader *r); /* accepts NULL */

/* Pushes the event of the next line, if it is one that we know. *more false: the end was reached,
 * and nothing was pushed. A file that was cut off anywhere ends with its last whole line.
 * ERR_BAD_INPUT: no recording of schema 1, or damaged here; the text names file and line. */
enum status event_reader_next(struct event_reader *r, const struct event_sink *sink, bool *more,
                              struct error *err);

/* At the end: was the recording cut off, without a last line that says so? */
bool event_reader_was_cut(const struct event_reader *r);

/* Begins again. */
enum status event_reader_rewind(struct event_reader *r, struct error *err);

/* ---- writing ---- */

struct event_writer;

/* Makes the file, which must not exist; a name that ends in .gz is compressed. */
enum status event_writer_create(struct event_writer **out, const char *path, struct error *err);

/* What is written reaches the file every two seconds, whatever ends the process. */
enum status event_writer_push(struct event_writer *w, const struct event *ev, struct error *err);

/* Writes all that is left, and closes. A full disk is an error here, too. */
enum status event_writer_finish(struct event_writer *w, struct error *err);
void event_writer_destroy(struct event_writer *w); /* accepts NULL */

#endif
