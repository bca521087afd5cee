/* SPDX-License-Identifier: MIT */
/* smeff servers: what is printed. */
#ifndef SMEFF_CMD_SERVERS_H
#define SMEFF_CMD_SERVERS_H

#include "base/buf.h"
#include "base/error.h"
#include "llm/watch.h"
#include "show/show.h"

/* Each server, its signals with state and series, and why there is none. Pure. */
void servers_text(struct buf *out, const struct watch_view *list, size_t n,
                  const struct show_style *style);

/* One JSON object in one line; unix_ns is when it was made. */
enum status servers_json(struct buf *out, const struct watch_view *list, size_t n, int64_t unix_ns,
                         struct error *err);

#endif
