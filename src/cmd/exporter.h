/* SPDX-License-Identifier: MIT */
/* What a process knows of itself, for its scrapers. */
#ifndef SMEFF_CMD_EXPORTER_H
#define SMEFF_CMD_EXPORTER_H

#include "show/prometheus.h"

/* All but is_up; NaN what cannot be read. */
void exporter_read(struct show_exporter *e);

#endif
