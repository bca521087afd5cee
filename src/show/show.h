/* SPDX-License-Identifier: MIT */
/* Renderers: a snapshot in, text out. No I/O, no clock, no globals. */
#ifndef SMEFF_SHOW_SHOW_H
#define SMEFF_SHOW_SHOW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "collect/snapshot.h"
#include "event/event.h"
#include "judge/verdict.h"

struct show_style {
    int columns; /* width of the terminal or page, at least 40 */
    bool colour; /* ANSI colours */
    bool utf8;   /* may print more than ASCII */
};

/* A table of all metrics with numbers, why the others have none, and the verdict, for each GPU.
 * title is printed first ("" = none). */
void show_text(struct buf *out, const struct snapshot *s, const char *title,
               const struct show_style *style);

/* One JSON object in one line, schema 1 of docs/interface.md; file NULL = not from a file. */
enum status show_json(struct buf *out, const struct snapshot *s, const char *file,
                      struct error *err);

/* CSV, one row a sample. Columns are the catalogue metrics (and the sources' own) that at least
 * one of the streams has; so all streams are described first, then read. */
struct show_csv;

enum status show_csv_create(struct show_csv **out, struct error *err);
void show_csv_destroy(struct show_csv *c); /* accepts NULL */

/* Takes hello, gpu and plan events of a stream; file goes into the first column. */
enum status show_csv_describe(struct show_csv *c, const char *file, const struct event *event,
                              struct error *err);
void show_csv_header(const struct show_csv *c, struct buf *out);

/* Appends the rows of a batch of the stream that was described as number stream (from 0). */
enum status show_csv_rows(struct show_csv *c, size_t stream, const struct event_samples *batch,
                          struct buf *out, struct error *err);

#endif
