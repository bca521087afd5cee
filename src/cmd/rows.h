/* SPDX-License-Identifier: MIT */
/* Live samples as CSV on standard output: a row as soon as it is known, so that nothing is kept. */
#ifndef SMEFF_CMD_ROWS_H
#define SMEFF_CMD_ROWS_H

#include "base/error.h"
#include "event/event.h"

struct rows;

enum status rows_create(struct rows **out, struct error *err);
void rows_destroy(struct rows *r); /* accepts NULL */

/* Takes the events of one stream. The header goes out before the first sample: with the metrics
 * that have samples then, or may have some soon. ERR_IO when stdout is closed or full. */
enum status rows_push(struct rows *r, const struct event *ev, struct error *err);

#endif
