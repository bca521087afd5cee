/* SPDX-License-Identifier: MIT */
/* Where an nsys program may lie. Only looks at files; runs nothing. */
#ifndef SMEFF_SOURCE_NSYS_FIND_H
#define SMEFF_SOURCE_NSYS_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { NSYS_CANDIDATES_MAX = 24, NSYS_PATH_SIZE = 512 };

struct nsys_candidates {
    char list[NSYS_CANDIDATES_MAX][NSYS_PATH_SIZE]; /* absolute */
    size_t n;
};

/* Where to look; a test gives its own. root is put in front of every absolute path ("" = none). */
struct nsys_places {
    const char *root;
    const char *path; /* PATH, or NULL */
};

/* The places of this process. */
struct nsys_places nsys_places_here(void);

/* name: a path, or a name to look for in PATH; it alone is taken then. NULL: nsys in PATH, below
 * /opt/nvidia/nsight-systems, and what comes with Nsight Compute. ERR_NOT_FOUND: none. */
enum status nsys_find(const struct nsys_places *places, const char *name,
                      struct nsys_candidates *out, struct error *err);

/* The folder that holds the importer beside this program: Nsight Compute's nsys does not find its
 * own by itself. False: it lies where it must, or nowhere. program is a path without links. */
bool nsys_stray_importer(const char *program, char *folder, size_t size);

/* Is an importer where this program looks for it, or where nsys_stray_importer finds one? */
bool nsys_has_importer(const char *program);

#endif
