/* SPDX-License-Identifier: MIT */
/* top --prometheus: the GPUs of all hosts that a Prometheus server scrapes. */
#ifndef SMEFF_CMD_FLEET_H
#define SMEFF_CMD_FLEET_H

#include "cmd/cmd.h"
#include "panel/chart.h"

/* once: one frame as text. Returns the exit code. */
int fleet_show(const struct options *o, bool once, enum glyphs glyphs, bool ascii);

#endif
