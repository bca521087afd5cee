/* SPDX-License-Identifier: MIT */
/* What PM sampling says of itself, with a GPU (pm.c) and of a chip without one (smeff chip). */
#ifndef SMEFF_SOURCE_PM_TELL_H
#define SMEFF_SOURCE_PM_TELL_H

#include "event/event.h"
#include "source/pm/pack.h"

/* The plan of a pack. rate_hz 0 = not known. */
enum status pm_tell_plan(const struct pm_pack *pack, unsigned gpu, double rate_hz,
                         const struct event_sink *sink, struct error *err);

/* One note: which CUPTI was taken, and from where (as pm_cupti_load says). gpu -1 = of none.
 * src/cmd/doctor_cupti.c reads it. */
enum status pm_tell_cupti(const struct cupti_api *cupti, const char *from, size_t counters, int gpu,
                          const struct event_sink *sink, struct error *err);

#endif
