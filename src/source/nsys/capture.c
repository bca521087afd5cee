/* SPDX-License-Identifier: MIT */
#include "source/nsys/capture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/nsys/message.h"

/* With eight GPUs at 200 kHz nsys was seen to start in 33 s and to end in 82 s
 * (https://github.com/Hypersonic-cpu/gpu-metrics-collection). */
const struct nsys_patience nsys_patience_default = {40000, 120000};

/* What nsys runs: GPU metrics are of the whole machine, the program gives the length alone. The
 * file tells us that the window is over: what nsys prints is not made for programs. */
static const char script[] = "sleep \"$1\"; : >\"$2\"";

enum { WORDS_MAX = 32 };

static bool there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

void nsys_capture_clear(struct nsys_capture *c)
{
    nsys_task_fini(&c->task);
    if (c->folder[0])
        guard_remove_tree(c->folder);
    *c = (struct nsys_capture){0};
}

static enum status make_folder(struct nsys_capture *c, unsigned number, struct error *err)
{
    snprintf(c->folder, sizeof c->folder, "%.480s/%u", c->tool->folder.path, number);
    if (mkdir(c->folder, 0700) != 0) {
        enum status st = fail(err, ERR_IO, errno, "%s: %s", c->folder, strerror(errno));
        c->folder[0] = '\0';
        return st;
    }
    snprintf(c->report, sizeof c->report, "%s/x.nsys-rep", c->folder);
    snprintf(c->sqlite, sizeof c->sqlite, "%s/x.sqlite", c->folder);
    snprintf(c->over, sizeof c->over, "%s/over", c->folder);
    return OK;
}

static enum status start_profile(struct nsys_capture *c, struct error *err)
{
    char devices[300], frequency[64], set[300], seconds[32], base[NSYS_PATH_SIZE + 16];
    const struct nsys_options *o = &c->tool->options;
    const struct nsys_wish *w = c->wish;
    const char *argv[WORDS_MAX] = {c->tool->program, "profile",        "-f", "true", "--trace=none",
                                   "--sample=none",  "--cpuctxsw=none"};
    size_t n = 7;
    snprintf(devices, sizeof devices, "%s=%s", o->devices, w->devices);
    snprintf(frequency, sizeof frequency, "--gpu-metrics-frequency=%.0f", ceil(w->rate_hz));
    snprintf(set, sizeof set, "%s=%s", o->set ? o->set : "", w->set);
    snprintf(seconds, sizeof seconds, "%.3f", w->seconds);
    snprintf(base, sizeof base, "%s/x", c->folder);
    argv[n++] = devices;
    argv[n++] = frequency;
    if (w->set[0])
        argv[n++] = set;
    if (o->discard_environment)
        argv[n++] = "--discard-environment=true";
    const char *const rest[] = {"-o", base, "/bin/sh", "-c", script, "sh", seconds, c->over};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        argv[n++] = rest[i];
    argv[n] = NULL;
    return nsys_task_start(&c->task, c->tool->program, argv, &c->tool->environment,
                           w->patience.start_ms + (int)(1000 * w->seconds), err);
}

enum status nsys_capture_start(struct nsys_capture *c, const struct nsys_tool *tool,
                               const struct nsys_wish *wish, unsigned number, struct error *err)
{
    *c = (struct nsys_capture){.tool = tool, .wish = wish};
    enum status st = make_folder(c, number, err);
    if (!st)
        st = start_profile(c, err);
    if (st)
        nsys_capture_clear(c);
    else
        c->phase = NSYS_SAMPLING;
    return st;
}

/* ---- when it has ended ---- */

static enum status check_disk(const struct nsys_capture *c, struct error *err)
{
    enum { LEAST = 1 << 20 }; /* a report of a second has about 400 kB */
    struct statvfs disk;
    if (statvfs(c->folder, &disk) != 0 || (double)disk.f_bavail * (double)disk.f_frsize >= LEAST)
        return OK;
    return fail(err, ERR_IO, ENOSPC,
                "nsys: the disk is full (%s): make room, or let TMPDIR name another folder",
                c->tool->folder.path);
}

static enum status no_result(const struct nsys_capture *c, const char *what, struct error *err)
{
    char death[80], last[160], raw[NSYS_PATH_SIZE + 16];
    const char *said = buf_str(&c->task.said);
    int how = c->task.wait_status;
    snprintf(raw, sizeof raw, "%s/x.qdstrm", c->folder);
    enum status st = nsys_message_find(said, err);
    if (!st)
        st = check_disk(c, err);
    if (!st && access(raw, F_OK) == 0) {
        /* https://docs.nvidia.com/nsight-systems/UserGuide/: converts only with its own build */
        if (WIFSIGNALED(how) || WEXITSTATUS(how))
            st = nsys_message_find("file versions must match", err);
        else
            st = nsys_message_find("skipping importation", err);
    }
    if (st)
        return st;
    nsys_message_last(said, last, sizeof last);
    return fail(err, ERR_IO, 0, "nsys %s wrote no %s; it %s%s%s%s", c->tool->version.text, what,
                WIFSIGNALED(how) ? "was " : "", proc_death_text(death, sizeof death, how),
                last[0] ? ": " : "", last);
}

static enum status start_export(struct nsys_capture *c, struct error *err)
{
    const char *argv[NSYS_EXPORT_WORDS];
    nsys_tool_export_argv(c->tool, c->report, c->sqlite, !c->plain, argv);
    nsys_task_fini(&c->task);
    c->phase = NSYS_EXPORTING;
    return nsys_task_start(&c->task, c->tool->program, argv, &c->tool->environment,
                           c->wish->patience.finish_ms, err);
}

/* nsys exits with 0 in several cases in which it wrote nothing, so the file is what counts. */
static enum status take_end(struct nsys_capture *c, struct error *err)
{
    bool ended_well = c->task.wait_status == 0;
    if (c->phase != NSYS_EXPORTING)
        return ended_well && there(c->report) ? start_export(c, err) : no_result(c, "report", err);
    if (ended_well && there(c->sqlite)) {
        c->phase = NSYS_DONE;
        return OK;
    }
    if (c->plain)
        return no_result(c, "export", err);
    c->plain = true; /* an older one may not know the filter; and exports disturb each other */
    unlink(c->sqlite);
    return start_export(c, err);
}

enum status nsys_capture_step(struct nsys_capture *c, struct error *err)
{
    bool ended = false;
    if (c->phase == NSYS_IDLE || c->phase == NSYS_DONE)
        return OK;
    enum status st = nsys_task_step(&c->task, &ended, err);
    if (!st && c->phase == NSYS_SAMPLING && access(c->over, F_OK) == 0) {
        c->phase = NSYS_FINISHING;
        nsys_task_extend(&c->task, c->wish->patience.finish_ms);
    }
    if (!st && ended)
        st = take_end(c, err);
    if (st)
        nsys_capture_clear(c);
    return st;
}
