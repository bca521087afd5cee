/* SPDX-License-Identifier: MIT */
#include "cmd/nsys_trial.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/export.h"
#include "cmd/interrupt.h"
#include "cmd/load_child.h"

/* nsys takes seconds to start and to write its files; the load runs until it is told to end. */
enum { BEGIN_MS = 30000, CAPTURE_MS = 90000, POLL_MS = 20, GRACE_MS = 5000 };

static const double load_seconds = 300;

struct files {
    char folder[PATH_MAX / 2], base[PATH_MAX], sqlite[PATH_MAX + 16], report[PATH_MAX + 16];
};

static enum status make_files(struct files *f, struct error *err)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(f->folder, sizeof f->folder, "%s/smeff-nsys-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(f->folder))
        return fail(err, ERR_IO, errno, "%s: %s", f->folder, strerror(errno));
    snprintf(f->base, sizeof f->base, "%s/x", f->folder);
    snprintf(f->sqlite, sizeof f->sqlite, "%s.sqlite", f->base);
    snprintf(f->report, sizeof f->report, "%s.nsys-rep", f->base);
    return OK;
}

static void remove_files(const struct files *f)
{
    char raw[PATH_MAX + 16]; /* where the importer is missing, this stays */
    snprintf(raw, sizeof raw, "%s.qdstrm", f->base);
    unlink(f->sqlite);
    unlink(f->report);
    unlink(raw);
    rmdir(f->folder);
}

/* As execvp would find it. */
static enum status find_program(const char *name, char dst[PATH_MAX], struct error *err)
{
    const char *path = strchr(name, '/') ? NULL : getenv("PATH");
    snprintf(dst, PATH_MAX, "%s", name);
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(dst, PATH_MAX, "%.*s/%s", (int)n, path, name);
        if (access(dst, X_OK) == 0)
            return OK;
        path += n + (path[n] == ':');
    }
    return strchr(name, '/') && access(dst, X_OK) == 0
               ? OK
               : fail(err, ERR_NOT_FOUND, 0, "%s: no such program", name);
}

static enum status pause_poll(struct error *err)
{
    const struct timespec t = {0, POLL_MS * 1000000L};
    nanosleep(&t, NULL);
    return interrupt_raised() ? fail(err, ERR_IO, interrupt_raised(), "interrupted") : OK;
}

static enum status wait_for_load(struct load_child *l, const char *name, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + BEGIN_MS * INT64_C(1000000);
    for (enum status st = OK; !st; st = pause_poll(err)) {
        load_child_read(l);
        if (l->begin_ns)
            return OK;
        if (l->ended || clock_monotonic_ns() > deadline_ns)
            return fail(err, ERR_IO, 0, "load %s did not begin", name);
    }
    return ERR_IO;
}

/* Its output says what it does; only whether a file came matters. */
static void drain(const struct proc *p)
{
    char chunk[4096];
    while (read(p->out, chunk, sizeof chunk) > 0)
        ;
}

static enum status capture(const char *program, unsigned gpu, double seconds, const struct files *f,
                           struct error *err)
{
    char device[48], length[32], death[80];
    struct proc p = PROC_INIT;
    int wait_status = 0;
    snprintf(device, sizeof device, "--gpu-metrics-devices=%u", gpu);
    snprintf(length, sizeof length, "%.3f", seconds);
    const char *const argv[] = {program,
                                "profile",
                                "-f",
                                "true",
                                "--trace=none",
                                "--sample=none",
                                "--cpuctxsw=none",
                                device,
                                "--gpu-metrics-frequency=50",
                                "--export=sqlite",
                                "-o",
                                f->base,
                                "sleep",
                                length,
                                NULL};
    int64_t deadline_ns = clock_monotonic_ns() + CAPTURE_MS * INT64_C(1000000);
    enum status st = proc_start(&p, program, argv, false, err);
    while (!st && !proc_ended(&p, &wait_status)) {
        drain(&p);
        if (clock_monotonic_ns() > deadline_ns)
            st = fail(err, ERR_TIMEOUT, 0, "nsys did not end within %d s", CAPTURE_MS / 1000);
        else
            st = pause_poll(err);
    }
    proc_stop(&p, GRACE_MS);
    if (!st && access(f->sqlite, R_OK) != 0)
        st = fail(err, ERR_IO, 0, "nsys wrote no export; it %s",
                  proc_death_text(death, sizeof death, wait_status));
    return st;
}

enum status nsys_trial_run(const char *nsys, unsigned gpu, const char *load, double seconds,
                           struct snapshot **out, struct error *err)
{
    char program[PATH_MAX];
    struct files f;
    struct load_child l = LOAD_CHILD_INIT;
    enum status st = find_program(nsys, program, err);
    if (!st)
        st = make_files(&f, err);
    if (st)
        return st;
    st = load_child_start(&l, gpu, load, load_seconds, err);
    if (!st)
        st = wait_for_load(&l, load, err);
    if (!st)
        st = capture(program, gpu, seconds, &f, err);
    load_child_fini(&l);
    if (!st)
        st = export_snapshot(f.sqlite, false, out, err);
    remove_files(&f);
    return st;
}
