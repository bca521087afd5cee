/* SPDX-License-Identifier: MIT */
/* The last minutes of a stream, as the lines that it is made of, within a budget of memory. Readers
 * are offsets into it, counted from the stream's beginning: any number of them costs nothing. */
#ifndef SMEFF_COLLECT_HISTORY_H
#define SMEFF_COLLECT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "event/event.h"

struct history;

/* Keeps at most so many bytes of lines, and at most so many seconds. */
enum status history_create(struct history **out, size_t most_bytes, double most_s,
                           struct error *err);
void history_destroy(struct history *h); /* accepts NULL */

/* Appends the encoded line of ev (with its line feed); what is too old or too much goes. A line
 * larger than the budget is left out, and so forgotten. now_ns: CLOCK_MONOTONIC. */
enum status history_add(struct history *h, const struct event *ev, const char *line, size_t len,
                        int64_t now_ns, struct error *err);

/* The offsets of the oldest line and behind the newest one. */
uint64_t history_begin(const struct history *h);
uint64_t history_end(const struct history *h);

/* The offset of the first line that is not older than so many seconds. */
uint64_t history_since(const struct history *h, double seconds, int64_t now_ns);

/* Over how many seconds it reaches, and the bytes of its lines. */
double history_seconds(const struct history *h, int64_t now_ns);
size_t history_bytes(const struct history *h);

/* The bytes from an offset on, as far as they lie together; 0 at the end. The offset must not be
 * before history_begin. Valid until the next history_add. */
size_t history_read(const struct history *h, uint64_t offset, const char **data);

/* Appends what a reader must have read before it begins at offset: hello, the GPUs, the plans that
 * hold there, and the newest processes and servers. */
enum status history_preamble(const struct history *h, uint64_t offset, struct buf *out,
                             struct error *err);

#endif
