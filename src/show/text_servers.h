/* SPDX-License-Identifier: MIT */
/* The servers' section of the text table. */
#ifndef SMEFF_SHOW_TEXT_SERVERS_H
#define SMEFF_SHOW_TEXT_SERVERS_H

#include "show/show.h"

/* One server of the snapshot: what a reader wants beside the GPUs' table, and why the rest has no
 * number. */
void text_server(struct buf *out, const struct snapshot *s, size_t server,
                 const struct show_style *style);

#endif
