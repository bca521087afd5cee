/* SPDX-License-Identifier: MIT */
#include "cmd/nsys_trial.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/interrupt.h"
#include "cmd/load_child.h"
#include "cmd/nsys_snapshot.h"
#include "source/nsys/capture.h"

/* The load runs until it is told to end. */
enum { BEGIN_MS = 30000, POLL_MS = 20 };

static const double load_seconds = 300;

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

static enum status capture(struct nsys_capture *c, const struct nsys_tool *tool, unsigned gpu,
                           double seconds, struct nsys_wish *wish, struct error *err)
{
    *wish =
        (struct nsys_wish){.seconds = seconds, .rate_hz = 50, .patience = nsys_patience_default};
    snprintf(wish->devices, sizeof wish->devices, "%u", gpu);
    enum status st = nsys_capture_start(c, tool, wish, 1, err);
    while (!st && c->phase != NSYS_DONE) {
        st = pause_poll(err);
        if (!st)
            st = nsys_capture_step(c, err);
    }
    return st;
}

/* The load's GPU by its index is taken for nsys's id: a self-test has one GPU to itself. */
static enum status capture_load(const struct nsys_tool *tool, unsigned gpu, const char *load,
                                double seconds, struct snapshot **out, struct error *err)
{
    struct load_child l = LOAD_CHILD_INIT;
    struct nsys_capture c = {0};
    struct nsys_wish wish;
    enum status st = load_child_start(&l, gpu, load, load_seconds, err);
    if (!st)
        st = wait_for_load(&l, load, err);
    if (!st)
        st = capture(&c, tool, gpu, seconds, &wish, err);
    load_child_fini(&l);
    if (!st)
        st = nsys_snapshot(c.sqlite, false, out, err);
    nsys_capture_clear(&c);
    return st;
}

enum status nsys_trial_run(const char *nsys, unsigned gpu, const char *load, double seconds,
                           struct snapshot **out, struct error *err)
{
    struct nsys_tool tool;
    const struct nsys_places places = nsys_places_here();
    enum status st = nsys_tool_open(&tool, &places, nsys, err);
    if (st)
        return st;
    st = nsys_tool_learn(&tool, err);
    if (!st)
        st = capture_load(&tool, gpu, load, seconds, out, err);
    nsys_tool_close(&tool);
    return st;
}
