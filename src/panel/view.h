/* SPDX-License-Identifier: MIT */
/* The panel's screens: a model in, cells out. No I/O, no clock, no globals. Each view fills the
 * area that it is given and leaves out what does not fit, the least important first. */
#ifndef SMEFF_PANEL_VIEW_H
#define SMEFF_PANEL_VIEW_H

#include "panel/model.h"
#include "panel/surface.h"

/* The whole screen: head, the view that is chosen, status line. Clears s first. */
void view_draw(const struct model *m, struct surface *s);

/* The views themselves. */
void view_overview(const struct model *m, struct area a);
void view_gpu(const struct model *m, struct area a);
void view_metrics(const struct model *m, struct area a);
void view_processes(const struct model *m, struct area a);
void view_help(const struct model *m, struct area a);

#endif
