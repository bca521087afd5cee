/* SPDX-License-Identifier: MIT */
#include "source/nsys/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source/nsys/message.h"

/* A source must be open within 20 s, and asks six things at most. */
enum { VERSION_MS = 3000, HELP_MS = 4000, EXPORT_MS = 120000 };

/* All that is read here, and neither environment nor processes. */
static const char tables[] =
    "--tables=GPU_METRICS,TARGET_INFO_GPU.*,TARGET_INFO_SESSION.*,GENERIC_EVENT_TYPE.*,"
    "GENERIC_EVENT_SOURCES,DIAGNOSTIC_EVENT,META_DATA_.*,EXPORT_META_DATA,ENUM_.*";

/* ---- choosing the program ---- */

static enum status ask_version(const char *program, const struct nsys_environment *e,
                               struct nsys_version *out, struct error *err)
{
    const char *const argv[] = {program, "--version", NULL};
    struct nsys_task task = {0};
    enum status st = nsys_task_run(&task, program, argv, e, VERSION_MS, err);
    if (!st && !nsys_version_parse(buf_str(&task.said), out))
        st = fail(err, ERR_UNSUPPORTED, 0, "%s: this is no nsys: --version does not say so",
                  program);
    nsys_task_fini(&task);
    return st;
}

static enum status choose(struct nsys_tool *t, const struct nsys_candidates *c, struct error *err)
{
    struct error why = ERROR_INIT;
    for (size_t i = 0; i < c->n; i++) {
        struct nsys_version v;
        struct error failed = ERROR_INIT;
        if (ask_version(c->list[i], &t->environment, &v, &failed)) {
            why = why.status ? why : failed;
        } else if (!t->found[0] || nsys_version_compare(&v, &t->version) > 0) {
            snprintf(t->found, sizeof t->found, "%s", c->list[i]);
            t->version = v;
        }
    }
    if (!t->found[0])
        return fail(err, why.status, why.native, "%s", why.text);
    if (!nsys_version_usable(&t->version))
        return fail(err, ERR_UNSUPPORTED, 0,
                    "%s is too old: nsys %s exports no table of GPU metrics; install 2023.4 or "
                    "newer",
                    t->found, t->version.text);
    return OK;
}

/* It looks for its importer beside itself; links put both side by side. */
static enum status link_importer(struct nsys_tool *t, struct error *err)
{
    char importer[NSYS_PATH_SIZE], own[NSYS_PATH_SIZE], link[NSYS_PATH_SIZE + 32];
    snprintf(t->program, sizeof t->program, "%s", t->found);
    if (!nsys_stray_importer(t->found, importer, sizeof importer))
        return OK;
    snprintf(own, sizeof own, "%.*s", (int)(strrchr(t->found, '/') - t->found), t->found);
    const char *arch = strrchr(own, '-'); /* target-linux-x64 */
    snprintf(link, sizeof link, "%.500s/host-linux%s", t->folder.path, arch ? arch : "-x64");
    bool linked = symlink(importer, link) == 0;
    snprintf(link, sizeof link, "%.500s/%s", t->folder.path, strrchr(own, '/') + 1);
    if (!linked || symlink(own, link) != 0)
        return fail(err, ERR_IO, errno, "%s: %s", link, strerror(errno));
    snprintf(t->program, sizeof t->program, "%s/nsys", link);
    return OK;
}

enum status nsys_tool_open(struct nsys_tool *t, const struct nsys_places *places, const char *name,
                           struct error *err)
{
    struct nsys_candidates candidates;
    *t = (struct nsys_tool){.folder = GUARD_FOLDER_INIT};
    enum status st = nsys_find(places, name, &candidates, err);
    if (!st)
        st = guard_folder_make(&t->folder, "smeff-nsys", err);
    if (st)
        return st;
    nsys_environment_make(&t->environment, t->folder.path);
    st = choose(t, &candidates, err);
    if (!st)
        st = link_importer(t, err);
    if (st)
        nsys_tool_close(t);
    return st;
}

void nsys_tool_close(struct nsys_tool *t)
{
    if (t->folder.path[0])
        guard_folder_remove(&t->folder);
    *t = (struct nsys_tool){.folder = GUARD_FOLDER_INIT};
}

/* ---- asking it ---- */

static enum status ask(const struct nsys_tool *t, struct nsys_task *task, const char *question,
                       struct error *err)
{
    const char *const argv[] = {t->program, "profile", question, NULL};
    return nsys_task_run(task, t->program, argv, &t->environment, HELP_MS, err);
}

enum status nsys_tool_learn(struct nsys_tool *t, struct error *err)
{
    struct nsys_task task = {0};
    enum status st = ask(t, &task, "--help", err);
    if (!st)
        nsys_options_parse(buf_str(&task.said), &t->options);
    nsys_task_fini(&task);
    if (!st && !t->options.devices)
        st = fail(err, ERR_UNSUPPORTED, 0,
                  "%s cannot sample GPU counters: its profile --help knows no "
                  "--gpu-metrics-devices",
                  t->found);
    return st;
}

/* What it says instead of a list. */
static enum status no_list(const struct nsys_task *task, const char *what, struct error *err)
{
    char last[200];
    enum status st = nsys_message_find(buf_str(&task->said), err);
    if (st)
        return st;
    nsys_message_last(buf_str(&task->said), last, sizeof last);
    return fail(err, ERR_UNSUPPORTED, 0, "nsys lists no %s%s%s", what, last[0] ? ": " : "", last);
}

enum status nsys_tool_devices(const struct nsys_tool *t, struct nsys_device list[NSYS_DEVICES_MAX],
                              size_t *n, struct error *err)
{
    char question[64];
    struct nsys_task task = {0};
    snprintf(question, sizeof question, "%s=help", t->options.devices);
    enum status st = ask(t, &task, question, err);
    *n = st ? 0 : nsys_devices_parse(buf_str(&task.said), list);
    if (!st && *n == 0)
        st = no_list(&task, "GPU that it can sample", err);
    nsys_task_fini(&task);
    return st;
}

enum status nsys_tool_sets(const struct nsys_tool *t, struct nsys_set list[NSYS_SETS_MAX],
                           size_t *n, struct error *err)
{
    char question[64];
    struct nsys_task task = {0};
    *n = 0;
    if (!t->options.set)
        return fail(err, ERR_UNSUPPORTED, 0, "this nsys lets nobody choose a metric set");
    snprintf(question, sizeof question, "%s=help", t->options.set);
    enum status st = ask(t, &task, question, err);
    *n = st ? 0 : nsys_sets_parse(buf_str(&task.said), list);
    if (!st && *n == 0)
        st = no_list(&task, "metric set", err);
    nsys_task_fini(&task);
    return st;
}

/* ---- exporting ---- */

void nsys_tool_export_argv(const struct nsys_tool *t, const char *report, const char *sqlite,
                           bool filtered, const char *argv[NSYS_EXPORT_WORDS])
{
    const char *const words[] = {t->program, "export", "-t",   "sqlite", "-f",
                                 "true",     "-o",     sqlite, NULL};
    size_t n = 0;
    for (; words[n]; n++)
        argv[n] = words[n];
    if (filtered)
        argv[n++] = tables;
    argv[n++] = report;
    argv[n] = NULL;
}

enum status nsys_tool_export(const struct nsys_tool *t, const char *report, const char *sqlite,
                             bool filtered, struct error *err)
{
    const char *argv[NSYS_EXPORT_WORDS];
    char last[200];
    struct nsys_task task = {0};
    nsys_tool_export_argv(t, report, sqlite, filtered, argv);
    enum status st = nsys_task_run(&task, t->program, argv, &t->environment, EXPORT_MS, err);
    if (!st && (task.wait_status || access(sqlite, R_OK) != 0)) {
        st = nsys_message_find(buf_str(&task.said), err);
        nsys_message_last(buf_str(&task.said), last, sizeof last);
        if (!st)
            st = fail(err, ERR_IO, 0, "nsys %s made no export%s%s", t->version.text,
                      last[0] ? ": " : "", last);
    }
    nsys_task_fini(&task);
    return st;
}
