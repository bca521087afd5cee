/* SPDX-License-Identifier: MIT */
#include "cmd/token.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A header may hold printable ASCII alone; a line end in it would begin another header. */
static enum status check(const char *what, const char *token, struct error *err)
{
    for (const char *p = token; *p; p++)
        if (*p < '!' || *p > '~')
            return fail(err, ERR_USAGE, 0, "%s: a blank or an odd character in the key", what);
    return OK;
}

static enum status read_file(const char *path, char dst[TOKEN_SIZE], struct error *err)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return fail(err, ERR_USAGE, errno, "%s: %s", path, strerror(errno));
    size_t n = fread(dst, 1, TOKEN_SIZE - 1, f);
    bool bad = ferror(f);
    bool more = n == TOKEN_SIZE - 1;
    fclose(f);
    dst[n] = '\0';
    dst[strcspn(dst, "\r\n")] = '\0';
    if (bad || more || !*dst) {
        dst[0] = '\0';
        return fail(err, ERR_USAGE, 0, "%s: %s", path,
                    bad    ? "cannot be read"
                    : more ? "too large for a key"
                           : "no key in its first line");
    }
    return check(path, dst, err);
}

static char *kept; /* what SMEFF_TOKEN was, as long as the process lives; NULL = nothing */

void token_hide(void)
{
    const char *token = getenv("SMEFF_TOKEN");
    if (!token)
        return;
    if (!kept)
        kept = strdup(token);
    unsetenv("SMEFF_TOKEN");
}

static enum status read_kept(char dst[TOKEN_SIZE], struct error *err)
{
    if (!kept)
        return OK;
    if (strlen(kept) >= TOKEN_SIZE)
        return fail(err, ERR_USAGE, 0, "SMEFF_TOKEN: too large for a key");
    memcpy(dst, kept, strlen(kept) + 1);
    return check("SMEFF_TOKEN", dst, err);
}

enum status token_read(const char *path, char dst[TOKEN_SIZE], struct error *err)
{
    token_hide();
    dst[0] = '\0';
    return path ? read_file(path, dst, err) : read_kept(dst, err);
}
