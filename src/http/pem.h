/* SPDX-License-Identifier: MIT */
/* A file that is wanted whole: a certificate, a key. */
#ifndef SMEFF_HTTP_PEM_H
#define SMEFF_HTTP_PEM_H

#include "base/buf.h"
#include "base/error.h"

/* Appends all of it. option is for the error ("tls-key"). ERR_USAGE: it cannot be read, is empty,
 * larger than 1 MiB, or no PEM. */
enum status pem_read(struct buf *out, const char *option, const char *path, struct error *err);

#endif
