/* SPDX-License-Identifier: MIT */
#include "cmd/start.h"

#include <stdlib.h>
#include <unistd.h>

void child_argv_word(struct child_argv *a, const char *word)
{
    if (a->n < CHILD_WORDS_MAX)
        a->word[a->n++] = word;
    a->word[a->n] = NULL;
}

void child_argv_begin(struct child_argv *a, const char *command, const char *what)
{
    a->n = 0;
    child_argv_word(a, "smeff");
    child_argv_word(a, command);
    if (what)
        child_argv_word(a, what);
}

void child_argv_option(struct child_argv *a, const char *option, const char *value)
{
    if (!value)
        return;
    child_argv_word(a, option);
    child_argv_word(a, value);
}

void child_argv_options(struct child_argv *a, const struct command *c, const struct options *o)
{
#define X(bit, field, name, has_value, env, help)                                                  \
    if (o->field && (c->options & OPTION(bit))) {                                                  \
        child_argv_word(a, "--" name);                                                             \
        if (has_value)                                                                             \
            child_argv_word(a, o->field);                                                          \
    }
    OPTIONS(X)
#undef X
}

enum status own_program(char *dst, size_t size, struct error *err)
{
    ssize_t n = readlink("/proc/self/exe", dst, size - 1);
    if (n <= 0)
        return fail(err, ERR_IO, 0, "/proc/self/exe cannot be read");
    dst[n] = '\0';
    return OK;
}

enum status start_child(struct proc *p, const struct child_argv *a, bool keep_stderr,
                        struct error *err)
{
    char exe[1024];
    enum status st = own_program(exe, sizeof exe, err);
    return st ? st : proc_start(p, exe, a->word, keep_stderr, err);
}

enum status start_samplers(struct samplers **out, const struct event_sink *sink, struct error *err)
{
    char exe[1024];
    enum status st = own_program(exe, sizeof exe, err);
    return st ? st : samplers_create(out, exe, getenv("SMEFF_DEBUG") != NULL, sink, err);
}
