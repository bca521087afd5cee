/* SPDX-License-Identifier: MIT */
/* Bytes that many answers share: made once a snapshot, sent to whoever asks. Counted references,
 * for one thread. */
#ifndef SMEFF_HTTP_BLOB_H
#define SMEFF_HTTP_BLOB_H

#include <stddef.h>

#include "base/buf.h"

struct blob {
    unsigned refs;
    size_t len;
    struct blob *packed; /* the same by gzip, made when first asked for; owned */
    char data[];
};

/* One reference, the caller's; NULL when memory ran out (also when b has failed). */
struct blob *blob_make(const void *data, size_t len);
struct blob *blob_of(const struct buf *b);

struct blob *blob_ref(struct blob *b); /* returns b */
void blob_unref(struct blob *b);       /* accepts NULL */

/* The blob whose data this is: what a library that knows the bytes alone gives back. */
struct blob *blob_of_data(void *data);

/* b by gzip; belongs to b. NULL: no memory, or it would not be smaller. */
struct blob *blob_gzip(struct blob *b);

#endif
