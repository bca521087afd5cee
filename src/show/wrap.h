/* SPDX-License-Identifier: MIT */
/* Text for pages of some width, and for terminals that know only ASCII. Widths are columns, not
 * bytes. */
#ifndef SMEFF_SHOW_WRAP_H
#define SMEFF_SHOW_WRAP_H

#include "show/show.h"

/* Text as the style allows. In ASCII mode the project's own other characters get their stand-ins
 * ("–" is "-", "µs" "us", "°C" "C"), and each character from elsewhere becomes '?'. */
void wrap_plain(struct buf *out, const struct show_style *style, const char *text);

/* Words of text on lines of the style's width; the first line begins with lead, the others are
 * indented by as many blanks. A word that is wider than a line is not cut. Ends the line. */
void wrap_words(struct buf *out, const struct show_style *style, const char *lead,
                const char *text);

#endif
