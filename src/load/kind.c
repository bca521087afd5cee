/* SPDX-License-Identifier: MIT */
/* The kinds' names, and the way from a text to one of them. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "load/load.h"

static const char *const table[] = {
#define X(id, name, help) name,
    LOAD_LIST(X)
#undef X
};

static size_t name_length(int kind)
{
    return strcspn(table[kind], ": ");
}

static bool has_argument(int kind)
{
    return table[kind][name_length(kind)] == ':';
}

static enum status unknown(const char *text, struct error *err)
{
    char list[200];
    size_t n = 0;
    for (int k = 0; k < LOAD_KINDS && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", k ? ", " : "",
                              (int)strcspn(table[k], " "), table[k]);
    return fail(err, ERR_USAGE, 0, "KIND is one of %s, not \"%s\"", list, text);
}

static enum status check_argument(struct load_choice c, const char *text, struct error *err)
{
    if (c.kind == LOAD_OCCUPANCY &&
        !(c.argument >= 1 && c.argument <= 1024 && c.argument == (double)(unsigned)c.argument))
        return fail(err, ERR_USAGE, 0,
                    "occupancy:N is a whole number of warps, 1 to what an SM holds, not \"%s\"",
                    text);
    if (c.kind == LOAD_DUTY && !(c.argument > 0 && c.argument < 100))
        return fail(err, ERR_USAGE, 0,
                    "duty:P is a percentage, more than 0 and less than 100, not \"%s\"", text);
    return OK;
}

enum status load_parse(const char *text, struct load_choice *out, struct error *err)
{
    size_t n = strcspn(text, ":");
    for (int k = 0; k < LOAD_KINDS; k++) {
        if (name_length(k) != n || strncmp(text, table[k], n) != 0)
            continue;
        struct load_choice c = {.kind = (enum load_kind)k};
        bool has = text[n] == ':';
        if (has != has_argument(k) || (has && !num_parse(text + n + 1, &c.argument)))
            return unknown(text, err);
        enum status st = check_argument(c, text, err);
        if (st == OK)
            *out = c;
        return st;
    }
    return unknown(text, err);
}

const char *load_choice_text(char *dst, size_t size, struct load_choice choice)
{
    char number[NUM_TEXT_SIZE];
    int kind = (int)choice.kind;
    num_format(number, choice.argument);
    bool has = has_argument(kind);
    snprintf(dst, size, "%.*s%s%s", (int)name_length(kind), table[kind], has ? ":" : "",
             has ? number : "");
    return dst;
}
