/* SPDX-License-Identifier: MIT */
/* Captures as evidence. */
#ifndef SMEFF_SOURCE_NSYS_KEEP_H
#define SMEFF_SOURCE_NSYS_KEEP_H

#include "source/nsys/capture.h"
#include "source/nsys/scrub.h"

/* Copies what a capture that is done left into a folder: nsys-NUMBER.nsys-rep and
 * nsys-NUMBER.sqlite, for the owner alone, since nsys writes names of processes and of this machine
 * into them, and nsys-NUMBER-shared.sqlite without those (scrub.h). Never overwrites. */
enum status nsys_keep(const struct nsys_capture *c, const char *folder, unsigned number,
                      const struct nsys_beat *beat, struct error *err);

#endif
