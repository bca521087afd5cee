/* SPDX-License-Identifier: MIT */
/* smeff: the table of its commands, and the way to one of them. */
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fds.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "cmd/output.h"

const struct command *const commands[] = {&command_top,
                                          &command_measure,
                                          &command_analyze,
                                          &command_export,
                                          &command_stream,
                                          &command_record,
                                          &command_daemon,
                                          &command_yield,
                                          &command_servers,
                                          &command_doctor,
                                          &command_selftest,
                                          &command_load,
                                          &command_metrics,
                                          &command_chip,
                                          &command_sampler,
                                          &command_http,
                                          NULL};

const struct command *command_find(const char *name)
{
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

enum exit_code exit_code_of(enum status status)
{
    switch (status) {
    case OK:
        return EXIT_CODE_OK;
    case ERR_USAGE:
        return EXIT_CODE_USAGE;
    case ERR_NO_GPU:
        return EXIT_CODE_NO_GPU;
    case ERR_PERMISSION:
        return EXIT_CODE_NO_PERMISSION;
    case ERR_BUSY:
        return EXIT_CODE_BUSY;
    case ERR_BAD_INPUT:
        return EXIT_CODE_BAD_FILE;
    default:
        return EXIT_CODE_FAILURE;
    }
}

int usage_error(const struct command *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    complain("%s: %s (see: smeff %s --help)", c->name, text, c->name);
    return EXIT_CODE_USAGE;
}

static int print(struct buf *text)
{
    struct error err = ERROR_INIT;
    enum status st = output_write(text, &err);
    if (st)
        complain("%s", err.text);
    buf_fini(text);
    return st ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct options options;
    struct error err = ERROR_INIT;
    bool help = false;
    int rest = 0;
    if (options_parse(c, argc, argv, &options, &help, &rest, &err))
        return usage_error(c, "%s", err.text);
    if (help) {
        struct buf text = BUF_INIT;
        help_command(&text, c);
        return print(&text);
    }
    return c->run(&options, argc - rest, argv + rest);
}

int main(int argc, char **argv)
{
    fds_remember();
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, reported like every other */
    const char *name = argc > 1 ? argv[1] : "--help";
    struct buf text = BUF_INIT;
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        buf_puts(&text, "smeff " SMEFF_VERSION "\n");
        return print(&text);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        const struct command *about = argc > 2 ? command_find(argv[2]) : NULL;
        if (about)
            help_command(&text, about);
        else
            help_all(&text);
        return print(&text);
    }
    const struct command *c = command_find(name);
    if (!c) {
        complain("no such command: %s (see: smeff --help)", name);
        return EXIT_CODE_USAGE;
    }
    return run(c, argc - 1, argv + 1);
}
