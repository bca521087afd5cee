/* SPDX-License-Identifier: MIT */
/* The exports of one capture after another as one live stream: whose GPUs are counted as NVML
 * counts them, whose plans keep what any window put in doubt, and whose samples never overlap. */
#ifndef SMEFF_SOURCE_NSYS_WINDOW_H
#define SMEFF_SOURCE_NSYS_WINDOW_H

#include "source/nsys/series.h"
#include "source/nvml_cards.h"
#include "source/source.h"

struct nsys_stream; /* what earlier windows told */

/* cards: those wanted; must outlive the stream. */
enum status nsys_stream_create(struct nsys_stream **out, const struct nvml_cards *cards,
                               double rate_hz, struct error *err);
void nsys_stream_destroy(struct nsys_stream *s); /* accepts NULL */

/* The cards, and a plan for each that says why there are no numbers yet or any more. */
enum status nsys_stream_tell(struct nsys_stream *s, enum value_state state, const char *reason,
                             const struct event_sink *sink, struct error *err);

/* Sends what an export holds; beats meanwhile when reading takes long. ERR_UNSUPPORTED: none of its
 * GPUs is known. */
enum status nsys_stream_send(struct nsys_stream *s, const char *sqlite,
                             const struct event_sink *sink, struct error *err);

/* Is nsys's bus address or UUID that of this card? */
bool nsys_is_card(const struct nvml_card *card, const char *bus, const char *uuid);

#endif
