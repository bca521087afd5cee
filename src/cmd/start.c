/* SPDX-License-Identifier: MIT */
#include "cmd/start.h"

#include <stdlib.h>
#include <unistd.h>

static void add(struct child_argv *a, const char *word)
{
    if (a->n < CHILD_WORDS_MAX)
        a->word[a->n++] = word;
    a->word[a->n] = NULL;
}

void child_argv_begin(struct child_argv *a, const char *command, const char *what)
{
    a->n = 0;
    add(a, "smeff");
    add(a, command);
    if (what)
        add(a, what);
}

void child_argv_option(struct child_argv *a, const char *option, const char *value)
{
    if (!value)
        return;
    add(a, option);
    add(a, value);
}

enum status start_samplers(struct samplers **out, const struct event_sink *sink, struct error *err)
{
    char exe[1024] = "";
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) <= 0)
        return fail(err, ERR_IO, 0, "/proc/self/exe cannot be read");
    return samplers_create(out, exe, getenv("SMEFF_DEBUG") != NULL, sink, err);
}
