/* SPDX-License-Identifier: MIT */
/* Server-sent events: what an event stream is made of. */
#ifndef SMEFF_HTTP_FRAME_JSON_H
#define SMEFF_HTTP_FRAME_JSON_H

#include <stdbool.h>

#include "base/buf.h"
#include "collect/frames.h"

/* Appends "event: frame" with the samples since the last frame; false: there were none, and nothing
 * is appended. */
bool frame_json(struct buf *out, const struct frames *f);

#endif
