/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const char *const names[] = {"OK",
#define X(name, text) #name,
                                    STATUS_LIST(X)
#undef X
};

static const char *const texts[] = {"ok",
#define X(name, text) text,
                                    STATUS_LIST(X)
#undef X
};

enum status fail(struct error *err, enum status st, int native, const char *fmt, ...)
{
    if (!err)
        return st;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    str_one_line(err->text);
    err->status = st;
    err->native = native;
    return st;
}

enum status fail_wrap(struct error *err, enum status st, const char *fmt, ...)
{
    if (!err)
        return st;
    char context[sizeof err->text];
    char whole[2 * sizeof err->text + 4];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(context, sizeof context, fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "%s: %s", context, err->text);
    snprintf(err->text, sizeof err->text, "%.*s", (int)sizeof err->text - 1, whole);
    str_one_line(err->text);
    return err->status;
}

static unsigned index_of(enum status st)
{
    int i = -(int)st;
    return i >= 0 && i < (int)(sizeof names / sizeof names[0]) ? (unsigned)i : 0;
}

const char *status_name(enum status st)
{
    return names[index_of(st)];
}

const char *status_text(enum status st)
{
    return texts[index_of(st)];
}
