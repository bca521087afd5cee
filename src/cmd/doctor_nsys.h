/* SPDX-License-Identifier: MIT */
/* Which nsys is here, and whether it could serve as a source. */
#ifndef SMEFF_CMD_DOCTOR_NSYS_H
#define SMEFF_CMD_DOCTOR_NSYS_H

#include <stdbool.h>

#include "base/error.h"

struct doctor_nsys {
    bool usable; /* it lists a GPU that it can sample, and can make reports */
    enum status status;
    char reason[400]; /* "" = usable, or not looked for */
    char path[512];   /* "" = none was found */
    char version[32];
};

/* Runs it some times, a second or two; it samples nothing. name: --nsys, or NULL. */
void doctor_nsys_look(const char *name, struct doctor_nsys *out);

#endif
