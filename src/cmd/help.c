/* SPDX-License-Identifier: MIT */
/* --help, printed from the tables of commands and options. */
#include "cmd/help.h"

static const struct {
    const char *name, *env, *help;
} table[] = {
#define X(bit, field, name, has_value, env, help) {name, env, help},
    OPTIONS(X)
#undef X
};

void help_all(struct buf *out)
{
    buf_puts(out, "smeff - what the GPU really does, beside what GPU-Util says\n\n"
                  "usage: smeff COMMAND [OPTIONS] [ARGUMENTS]\n\n");
    for (const struct command *const *c = commands; *c; c++)
        if ((*c)->summary)
            buf_printf(out, "  %-9s %s\n", (*c)->name, (*c)->summary);
    buf_puts(out, "\n"
                  "  smeff COMMAND --help   what a command does, with an example\n"
                  "  smeff --version        the version\n\n"
                  "exit codes: 0 ok, 1 failure, 2 usage, 3 no GPU, 4 no permission, 5 counters "
                  "busy,\n            6 no daemon, 7 bad input file\n");
}

void help_command(struct buf *out, const struct command *c)
{
    buf_printf(out, "usage: smeff %s [OPTIONS]%s%s\n\n%s\n", c->name, *c->arguments ? " " : "",
               c->arguments, c->details);
    if (c->options)
        buf_puts(out, "\noptions:\n");
    for (unsigned i = 0; i < OPTION_INDEX_COUNT; i++)
        if (c->options & UINT64_C(1) << i)
            buf_printf(out, "  --%-10s %s [%s]\n", table[i].name, table[i].help, table[i].env);
    buf_printf(out, "\nexample:\n  %s\n", c->example);
}
