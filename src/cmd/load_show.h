/* SPDX-License-Identifier: MIT */
/* The report of `smeff load`, for people and as JSON. */
#ifndef SMEFF_CMD_LOAD_SHOW_H
#define SMEFF_CMD_LOAD_SHOW_H

#include "base/buf.h"
#include "load/load.h"

void load_show_text(struct buf *out, const struct load_report *r);

/* One line each: {"event":"load_begin",…}, {"event":"load",…}. */
enum status load_show_begin_json(struct buf *out, const struct load_report *r, struct error *err);
enum status load_show_json(struct buf *out, const struct load_report *r, struct error *err);

#endif
