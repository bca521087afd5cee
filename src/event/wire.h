/* SPDX-License-Identifier: MIT */
/* The wire format of the stream: one JSON object a line, between processes, over ssh, on disk
 * (docs/events.md). Samples go in columnar batches, so that 10,000 a second still cost little. */
#ifndef SMEFF_EVENT_WIRE_H
#define SMEFF_EVENT_WIRE_H

#include "base/buf.h"
#include "event/event.h"

/* Remembers the plans, since samples are written under the names of their series. */
struct event_encoder;

enum status event_encoder_create(struct event_encoder **out, struct error *err);
void event_encoder_destroy(struct event_encoder *e); /* accepts NULL */

/* Appends the event and a line feed. NaN and infinities become null. Ratios carry seven decimal
 * places, other values twelve significant digits. */
enum status event_encode(struct event_encoder *e, struct buf *out, const struct event *event,
                         struct error *err);

/* Turns lines back into events; remembers the plans, too. */
struct event_decoder;

enum status event_decoder_create(struct event_decoder **out, struct error *err);
void event_decoder_destroy(struct event_decoder *d); /* accepts NULL */

/* Decodes one line (without its line feed; not necessarily terminated) and pushes the event.
 * Events, keys and series that are not known are ignored.
 * ERR_BAD_INPUT: the line is no event of schema 1; nothing was pushed. */
enum status event_decode(struct event_decoder *d, const char *line, size_t len,
                         const struct event_sink *sink, struct error *err);

#endif
