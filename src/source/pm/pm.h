/* SPDX-License-Identifier: MIT */
/* PM sampling through CUPTI: the hardware's own counters, 50 to 10,000 times a second, gapless,
 * of the whole GPU, without touching the measured process. */
#ifndef SMEFF_SOURCE_PM_PM_H
#define SMEFF_SOURCE_PM_PM_H

#include "source/pm/pack.h"
#include "source/source.h"

extern const struct source_ops pm_ops;

enum { PM_RATE_DEFAULT_HZ = 50, PM_RATE_MIN_HZ = 1, PM_RATE_MAX_HZ = 20000 };

/* Loads CUPTI from dir, or from the first folder of pm_find that works; *from says where it came
 * from (static text). The text of ERR_NOT_FOUND and ERR_UNSUPPORTED names what was tried. */
enum status pm_cupti_load(struct cupti_api *cupti, const char *dir, const char **from,
                          struct error *err);

#endif
