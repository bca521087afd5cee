/* SPDX-License-Identifier: MIT */
/* Text for HTML and SVG. */
#ifndef SMEFF_SHOW_HTML_H
#define SMEFF_SHOW_HTML_H

#include "base/buf.h"

/* Appends text that may be anybody's: & < > and both quotes are written as entities, so that it is
 * safe as text and in a quoted attribute. */
void html_text(struct buf *out, const char *text);

/* Appends JSON as the content of a <script type="application/json">, where only "</" could end it:
 * every '<' becomes \u003c, which JSON reads as the same. */
void html_json(struct buf *out, const char *json);

#endif
