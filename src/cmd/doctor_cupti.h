/* SPDX-License-Identifier: MIT */
/* Which CUPTI a process of ours took, as its note tells it. */
#ifndef SMEFF_CMD_DOCTOR_CUPTI_H
#define SMEFF_CMD_DOCTOR_CUPTI_H

#include <stdbool.h>

struct cupti_taken {
    unsigned version; /* of the interface; 0 = not known */
    char path[512];   /* of libcupti */
    char from[64];    /* "CUDA toolkit" */
};

/* Reads it from the note "pm: CUPTI interface 130001 from PATH (FROM), N counters". False when text
 * is another note. */
bool cupti_parse_note(const char *text, struct cupti_taken *out);

enum { CUPTI_RELEASE_SIZE = 48 };

/* "13.0 Update 1", "12.8", "interface 25". Returns dst. */
const char *cupti_release(char dst[CUPTI_RELEASE_SIZE], unsigned version);

#endif
