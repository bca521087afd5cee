/* SPDX-License-Identifier: MIT */
/* What every JSON that we print is made with. jansson steals references in json_pack, and NULL from
 * a failed allocation makes the whole pack fail, so that json_out_line's check at the end is
 * enough.
 */
#ifndef SMEFF_SHOW_JSON_OUT_H
#define SMEFF_SHOW_JSON_OUT_H

#include <jansson.h>

#include "base/buf.h"
#include "base/error.h"

/* null for what is not finite: unknown is never 0. */
json_t *json_out_number(double v);

/* Appends o and a line's end; flags as those of json_dumps, beside JSON_COMPACT. Takes o; NULL is
 * ERR_NOMEM, and then nothing is appended. */
enum status json_out_line(struct buf *out, json_t *o, size_t flags, struct error *err);

#endif
