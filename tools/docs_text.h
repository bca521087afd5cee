/* SPDX-License-Identifier: MIT */
/* The catalogue as documentation: docs/METRICS.md and man/smeff-metrics.7. */
#ifndef SMEFF_TOOLS_DOCS_TEXT_H
#define SMEFF_TOOLS_DOCS_TEXT_H

#include "base/buf.h"

/* Append the whole document to b; the caller checks b->failed. Same catalogue, same bytes. */
void docs_markdown(struct buf *b);
void docs_man(struct buf *b); /* mdoc(7), ASCII only */

#endif
