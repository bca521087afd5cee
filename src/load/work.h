/* SPDX-License-Identifier: MIT */
/* What a kind of load is, to the code that keeps the GPU busy with it. */
#ifndef SMEFF_LOAD_WORK_H
#define SMEFF_LOAD_WORK_H

#include "load/device.h"

/* A load in its course. */
struct load {
    const struct load_request *request;
    const struct load_hooks *hooks;
    struct load_report *report;
    struct load_device device;

    /* Set by prepare: */
    struct load_amounts unit; /* what one unit of work does */
    uint64_t units_max;       /* that a batch may have; 1 = a unit is a batch */
    CUfunction function;
    struct load_grid grid;
    uint64_t bytes; /* of one buffer or copy */
};

struct load_ops {
    enum load_image image;
    /* Takes what the load needs. */
    enum status (*prepare)(struct load *l, struct error *err);
    /* Puts units of work into the stream; a kernel that notes its time does so in
     * device.records[slot]. */
    enum status (*enqueue)(struct load *l, unsigned slot, uint64_t units, struct error *err);
    /* NULL, or runs the whole load instead of batches. */
    enum status (*run)(struct load *l, struct error *err);
};

extern const struct load_ops load_ops_copy, load_ops_read, load_ops_gemv, load_ops_mma,
    load_ops_fma, load_ops_occupancy, load_ops_h2d, load_ops_d2h, load_ops_duty, load_ops_tail;

/* Batches of about 25 ms, three in the queue, until the time is over. */
enum status load_run_batches(struct load *l, const struct load_ops *ops, struct error *err);

bool load_is_stopped(const struct load *l);

/* The steady part begins now: notes the time and tells the caller. */
enum status load_begin(struct load *l, struct error *err);

/* Sleeps until this monotonic time, or until the load is stopped. */
void load_sleep_until(const struct load *l, int64_t monotonic_ns);

/* Adds what a record says to the mean clock; a zeroed one says nothing. */
struct load_clock {
    double cycles, ns;
};
void load_clock_add(struct load_clock *c, const struct load_record *r);
double load_clock_hz(const struct load_clock *c); /* NAN = nothing was added */

#endif
