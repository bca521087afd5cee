/* SPDX-License-Identifier: MIT */
/* The script that the fake libraries play: README.md has its language. Each fake library reads it
 * once, when its first function is called. A script that cannot be understood ends the process with
 * a message, since a test that runs on something else than it wrote proves nothing. */
#ifndef FAKES_SCRIPT_H
#define FAKES_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wave.h"

enum { SCRIPT_GPUS = 16, SCRIPT_SETTINGS = 320 };

struct setting {
    char key[112];
    char text[144];
    struct wave wave; /* kind WAVE_NONE where the text is no number */
};

struct section {
    struct setting list[SCRIPT_SETTINGS];
    size_t n;
};

struct gpu {
    unsigned index;
    struct section
        own; /* what stands below this GPU's [gpu]; the rest comes from the common part */
};

/* The GPUs of the script. */
unsigned script_gpus(void);
struct gpu *script_gpu(unsigned index); /* NULL beyond the last one */

/* The settings that stand above the first [gpu], behind the defaults. */
const struct section *script_common(void);

/* The last setting of this name, from the GPU's own part or else the common one; gpu may be NULL.
 * NULL when there is none. */
const struct setting *script_find(const struct gpu *gpu, const char *key);

/* The text or number of a setting, or the one given where there is none. */
const char *script_text(const struct gpu *gpu, const char *key, const char *otherwise);
double script_number(const struct gpu *gpu, const char *key, double otherwise);

/* Whether a condition holds now: "yes", "no" (also when not set), "after SECONDS" (since this
 * library read the script), "file PATH" (as long as there is such a file). */
bool script_holds(const struct gpu *gpu, const char *key);

/* The GPU that CUDA calls by this number, with cuda_order and CUDA_VISIBLE_DEVICES; NULL = none. */
struct gpu *script_cuda_gpu(int ordinal);

/* To be called first in every fake function: plays the script's delay, hang, crash and abort, and
 * returns the code of its fail (0 = go on). */
int script_enter(const char *function);

int64_t script_now_ns(void); /* UNIX time */

#endif
