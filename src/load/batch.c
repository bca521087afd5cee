/* SPDX-License-Identifier: MIT */
/* The GPU's queue never runs empty: while a batch runs, the next ones are waiting behind it. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "load/work.h"

#define BATCH_S      0.025
#define CALIBRATED_S 0.005 /* a trial that takes this long is precise enough */

/* STALL: between two batches, of which others wait meanwhile. */
enum { TRIAL_FACTOR = 4, SLEEP_MS = 100, STALL_MS = 500 };

bool load_is_stopped(const struct load *l)
{
    return l->hooks->stopped && l->hooks->stopped(l->hooks->self);
}

enum status load_begin(struct load *l, struct error *err)
{
    l->report->begin_ns = clock_unix_ns();
    return l->hooks->begun ? l->hooks->begun(l->hooks->self, l->report, err) : OK;
}

void load_sleep_until(const struct load *l, int64_t monotonic_ns)
{
    while (!load_is_stopped(l)) {
        /* in steps: a signal that comes right before the call would not end it */
        int64_t step_ns = clock_monotonic_ns() + SLEEP_MS * INT64_C(1000000);
        int64_t until_ns = step_ns < monotonic_ns ? step_ns : monotonic_ns;
        struct timespec t = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        if (clock_monotonic_ns() >= monotonic_ns)
            return;
    }
}

void load_clock_add(struct load_clock *c, const struct load_record *r)
{
    if (r->timer_end <= r->timer_begin || r->clock_end <= r->clock_begin)
        return;
    c->cycles += (double)(r->clock_end - r->clock_begin);
    c->ns += (double)(r->timer_end - r->timer_begin);
}

double load_clock_hz(const struct load_clock *c)
{
    return c->ns > 0 ? c->cycles / c->ns * 1e9 : NAN;
}

/* ---- batches ---- */

struct queue {
    uint64_t units; /* of a batch */
    uint64_t queued, done;
    double
        seconds; /* from the beginning to the end of the newest that is done; for progress only */
    int64_t done_ns; /* when the newest was done */
    struct load_clock clock;
};

static unsigned slot_of(uint64_t batch)
{
    return (unsigned)(batch % LOAD_SLOTS);
}

static enum status time_units(struct load *l, const struct load_ops *ops, uint64_t units,
                              double *seconds, struct error *err)
{
    struct load_device *d = &l->device;
    float ms = 0;
    enum status st = LOAD_CALL(d, err, cuEventRecord, d->begin, d->stream);
    if (!st)
        st = ops->enqueue(l, 0, units, err);
    if (!st)
        st = LOAD_CALL(d, err, cuEventRecord, d->ends[0], d->stream);
    if (!st)
        st = LOAD_CALL(d, err, cuEventSynchronize, d->ends[0]);
    if (!st)
        st = LOAD_CALL(d, err, cuEventElapsedTime, &ms, d->begin, d->ends[0]);
    if (!st)
        *seconds = (double)ms * 1e-3;
    return st;
}

/* How many units take about BATCH_S. */
static enum status calibrate(struct load *l, const struct load_ops *ops, uint64_t *units,
                             struct error *err)
{
    double seconds = 0;
    uint64_t n = 1;
    enum status st = time_units(l, ops, n, &seconds, err); /* cold: not to be relied on */
    while (!st && !load_is_stopped(l) && l->units_max > 1) {
        st = time_units(l, ops, n, &seconds, err);
        if (st || seconds >= CALIBRATED_S || n >= l->units_max)
            break;
        n = n * TRIAL_FACTOR < l->units_max ? n * TRIAL_FACTOR : l->units_max;
    }
    double fit = seconds > 0 ? (double)n * BATCH_S / seconds : (double)n;
    *units = fit < 1 ? 1 : fit < (double)l->units_max ? (uint64_t)fit : l->units_max;
    return st;
}

static enum status queue_batch(struct load *l, const struct load_ops *ops, struct queue *q,
                               struct error *err)
{
    struct load_device *d = &l->device;
    unsigned slot = slot_of(q->queued);
    enum status st = ops->enqueue(l, slot, q->units, err);
    if (!st)
        st = LOAD_CALL(d, err, cuEventRecord, d->ends[slot], d->stream);
    if (!st)
        q->queued++;
    return st;
}

/* CUDA gives the time as a float of milliseconds: after five minutes its step is 0.03 ms. */
static enum status tell_progress(struct load *l, const struct queue *q, struct error *err)
{
    struct load_device *d = &l->device;
    float ms = 0;
    if (!l->hooks->progress)
        return OK;
    enum status st =
        LOAD_CALL(d, err, cuEventElapsedTime, &ms, d->begin, d->ends[slot_of(q->done)]);
    uint64_t units = (q->done + 1) * q->units;
    return st ? st : l->hooks->progress(l->hooks->self, (double)ms * 1e-3, units, err);
}

static enum status finish_batch(struct load *l, struct queue *q, struct error *err)
{
    struct load_device *d = &l->device;
    unsigned slot = slot_of(q->done);
    enum status st = LOAD_CALL(d, err, cuEventSynchronize, d->ends[slot]);
    if (!st)
        st = tell_progress(l, q, err);
    if (st)
        return st;
    int64_t now_ns = clock_monotonic_ns();
    l->report->stood_still |= q->done_ns && now_ns - q->done_ns > STALL_MS * INT64_C(1000000);
    q->done_ns = now_ns;
    load_clock_add(&q->clock, &d->records[slot]);
    q->done++;
    return OK;
}

/* One batch to warm up, then those that count; returns when the first of these begins. */
static enum status fill_queue(struct load *l, const struct load_ops *ops, struct queue *q,
                              struct error *err)
{
    struct load_device *d = &l->device;
    enum status st = ops->enqueue(l, 0, q->units, err);
    if (!st)
        st = LOAD_CALL(d, err, cuEventRecord, d->begin, d->stream);
    while (!st && q->queued < LOAD_SLOTS)
        st = queue_batch(l, ops, q, err);
    return st ? st : LOAD_CALL(d, err, cuEventSynchronize, d->begin);
}

static enum status sum_up(struct load *l, const struct queue *q, struct error *err)
{
    struct load_device *d = &l->device;
    struct load_report *r = l->report;
    float ms = 0;
    enum status st =
        LOAD_CALL(d, err, cuEventElapsedTime, &ms, d->begin, d->ends[slot_of(q->done - 1)]);
    if (st)
        return st;
    uint64_t n = q->done * q->units;
    r->seconds = (double)ms * 1e-3;
    r->batches = q->done;
    r->passes = r->choice.kind == LOAD_GEMV ? n : 0;
    r->sm_clock_hz = load_clock_hz(&q->clock);
    r->done = (struct load_amounts){
        .bytes_read = n * l->unit.bytes_read,
        .bytes_written = n * l->unit.bytes_written,
        .pcie_in = n * l->unit.pcie_in,
        .pcie_out = n * l->unit.pcie_out,
        .operations = (double)n * l->unit.operations,
        .instructions = n * l->unit.instructions,
    };
    return OK;
}

enum status load_run_batches(struct load *l, const struct load_ops *ops, struct error *err)
{
    struct queue q = {0};
    enum status st = calibrate(l, ops, &q.units, err);
    if (st || load_is_stopped(l))
        return st;
    st = fill_queue(l, ops, &q, err);
    int64_t end_ns = clock_monotonic_ns() + (int64_t)(l->request->seconds * 1e9);
    if (!st)
        st = load_begin(l, err);
    while (!st && q.done < q.queued) {
        st = finish_batch(l, &q, err);
        if (!st && !load_is_stopped(l) && clock_monotonic_ns() < end_ns)
            st = queue_batch(l, ops, &q, err);
    }
    if (st)
        return st;
    l->report->end_ns = clock_unix_ns();
    return sum_up(l, &q, err);
}
