/* SPDX-License-Identifier: MIT */
/* Small pieces that passwords need. */
#ifndef SMEFF_HTTP_SECRET_H
#define SMEFF_HTTP_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Are both the same? Takes as long whatever differs; only their lengths can be told from it. */
bool secret_equal(const char *a, const char *b);

/* The rest of an Authorization header behind this scheme ("Basic"), NULL = another one. */
const char *secret_of_scheme(const char *authorization, const char *scheme);

/* Decodes base64 as a terminated string; false: it is none, holds a NUL, or does not fit. */
bool secret_decode(const char *base64, char *dst, size_t size);

/* Overwrites, also where a compiler thinks that nobody looks. */
void secret_wipe(void *p, size_t size);

#endif
