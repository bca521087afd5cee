/* SPDX-License-Identifier: MIT */
#include "http/pem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PEM_MAX = 1 << 20 };

enum status pem_read(struct buf *out, const char *option, const char *path, struct error *err)
{
    char chunk[4096];
    FILE *f = fopen(path, "re");
    if (!f)
        return fail(err, ERR_USAGE, errno, "--%s: %s: %s", option, path, strerror(errno));
    for (size_t n; out->len <= PEM_MAX && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(out, chunk, n);
    int why = ferror(f) ? errno : 0;
    fclose(f);
    explicit_bzero(chunk, sizeof chunk);
    if (why)
        return fail(err, ERR_USAGE, why, "--%s: %s: %s", option, path, strerror(why));
    if (out->failed)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    if (out->len > PEM_MAX || strlen(buf_str(out)) != out->len ||
        !strstr(buf_str(out), "-----BEGIN "))
        return fail(err, ERR_USAGE, 0, "--%s: %s is no PEM file", option, path);
    return OK;
}
