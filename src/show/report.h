/* SPDX-License-Identifier: MIT */
/* A measurement or recording as one HTML file that stands alone: no script, no request to anywhere,
 * readable offline and on paper. */
#ifndef SMEFF_SHOW_REPORT_H
#define SMEFF_SHOW_REPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "collect/snapshot.h"
#include "collect/timeline.h"

/* name: of the file that it is made from, "" = none. The snapshot as JSON (schema 1) is inside, in
 * the element with the id "data". */
enum status show_report(struct buf *out, const struct snapshot *s, const struct timeline *t,
                        const char *name, struct error *err);

#endif
