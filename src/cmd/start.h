/* SPDX-License-Identifier: MIT */
/* Starting this program again as a process of its own: `smeff sampler`, `smeff chip`. */
#ifndef SMEFF_CMD_START_H
#define SMEFF_CMD_START_H

#include "base/proc.h"
#include "cmd/cmd.h"
#include "collect/sampler.h"

enum { CHILD_WORDS_MAX = 64 };

/* A command line. The words are not copied: they must live until samplers_add or samplers_change
 * returns. */
struct child_argv {
    const char *word[CHILD_WORDS_MAX + 1]; /* ends with NULL */
    size_t n;
};

/* "smeff COMMAND"; what NULL = no argument. */
void child_argv_begin(struct child_argv *a, const char *command, const char *what);

/* Adds an option with its value; value NULL = not given, adds nothing. */
void child_argv_option(struct child_argv *a, const char *option, const char *value);

/* Adds a word. */
void child_argv_word(struct child_argv *a, const char *word);

/* Adds every option of a command that is given, however it was. */
void child_argv_options(struct child_argv *a, const struct command *c, const struct options *o);

/* The path of this program. */
enum status own_program(char *dst, size_t size, struct error *err);

/* Starts it with its standard output as a pipe (base/proc.h). keep_stderr: its messages are ours.
 */
enum status start_child(struct proc *p, const struct child_argv *a, bool keep_stderr,
                        struct error *err);

/* Supervision of processes of this very program. SMEFF_DEBUG in the environment keeps their
 * standard error. */
enum status start_samplers(struct samplers **out, const struct event_sink *sink, struct error *err);

#endif
