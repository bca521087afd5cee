/* SPDX-License-Identifier: MIT */
/* The nsys that is used: which program, its version, what it can do, and a folder to work in. */
#ifndef SMEFF_SOURCE_NSYS_TOOL_H
#define SMEFF_SOURCE_NSYS_TOOL_H

#include "source/nsys/find.h"
#include "source/nsys/help.h"
#include "source/nsys/task.h"
#include "source/nsys/version.h"

struct nsys_tool {
    char found[NSYS_PATH_SIZE];        /* where it is installed */
    char program[NSYS_PATH_SIZE + 64]; /* what is run: the same, or a link in our folder */
    struct nsys_version version;
    struct nsys_options options; /* after nsys_tool_learn */
    struct guard_folder folder;  /* for all that it writes */
    struct nsys_environment environment;
};

/* Finds nsys (name as nsys_find's), takes the newest, and makes the folder. Runs each candidate
 * once
 * (--version). ERR_NOT_FOUND none; ERR_UNSUPPORTED too old, or no nsys; ERR_TIMEOUT it hangs. On
 * success: nsys_tool_close. */
enum status nsys_tool_open(struct nsys_tool *t, const struct nsys_places *places, const char *name,
                           struct error *err);
void nsys_tool_close(
    struct nsys_tool *t); /* accepts a zeroed one; nothing of it may run any more */

/* How it spells its options. ERR_UNSUPPORTED: it cannot sample GPU counters. */
enum status nsys_tool_learn(struct nsys_tool *t, struct error *err);

/* The GPUs that it can sample, and the metric sets that it has. Errors as it says them (no GPU, no
 * permission, …). */
enum status nsys_tool_devices(const struct nsys_tool *t, struct nsys_device list[NSYS_DEVICES_MAX],
                              size_t *n, struct error *err);
enum status nsys_tool_sets(const struct nsys_tool *t, struct nsys_set list[NSYS_SETS_MAX],
                           size_t *n, struct error *err);

/* Makes an SQLite export of a report. filtered: only the tables that are read here. */
enum status nsys_tool_export(const struct nsys_tool *t, const char *report, const char *sqlite,
                             bool filtered, struct error *err);

/* The words of that command; at least NSYS_EXPORT_WORDS of room. */
enum { NSYS_EXPORT_WORDS = 16 };
void nsys_tool_export_argv(const struct nsys_tool *t, const char *report, const char *sqlite,
                           bool filtered, const char *argv[NSYS_EXPORT_WORDS]);

#endif
