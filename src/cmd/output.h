/* SPDX-License-Identifier: MIT */
/* Standard output of a command: its style, and writing that notices failure. */
#ifndef SMEFF_CMD_OUTPUT_H
#define SMEFF_CMD_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"
#include "cmd/cmd.h"
#include "show/show.h"

/* From the terminal (or 100 columns without one), the locale and the options. */
struct show_style output_style(const struct options *o);

/* Writes and clears b. ERR_IO when stdout is closed or full. */
enum status output_write(struct buf *b, struct error *err);

#endif
