/* SPDX-License-Identifier: MIT */
/* Opening shared libraries that may be absent: the vendor's libraries are never linked. */
#ifndef SMEFF_BASE_DL_H
#define SMEFF_BASE_DL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* One function to look up. A table of these is made from one X-macro a library, see src/vendor/. */
struct dl_symbol {
    const char *name;
    size_t offset; /* of the function pointer in the struct that dl_open fills */
    bool required;
};

/* An open library. Zeroed = closed. */
struct dl_lib {
    void *handle;
    char path[1024]; /* the file that was really taken; the name asked for where unknown */
};

/* Opens the first of names (a NULL-terminated list of paths or sonames, in order of preference)
 * that loads and has every required symbol. Fills one function pointer in *api for each symbol; an
 * optional one that is absent becomes NULL. api may be NULL when n is 0.
 * Binds at once and keeps the symbols local (RTLD_NOW | RTLD_LOCAL). Runs the library's
 * constructors, so it may block as long as they do.
 * Errors: ERR_NOT_FOUND when none could be loaded, ERR_UNSUPPORTED when one lacks a required
 * symbol; the text has the reason for each name. Then *lib and *api are untouched and nothing stays
 * open. */
enum status dl_open(struct dl_lib *lib, const char *const *names, const struct dl_symbol *symbols,
                    size_t n, void *api, struct error *err);

/* Accepts NULL and a zeroed or closed library. Pointers taken from it must not be called then. */
void dl_close(struct dl_lib *lib);

#endif
