/* SPDX-License-Identifier: MIT */
/* Puts the rows of one GPU together to samples, and samples to columnar batches. */
#ifndef SMEFF_SOURCE_NSYS_BATCH_H
#define SMEFF_SOURCE_NSYS_BATCH_H

#include "event/event.h"
#include "source/nsys/db.h"
#include "source/nsys/period.h"
#include "source/nsys/series.h"
#include "source/nsys/wrap.h"

/* A column's value under construction, and what it needs of its series: close together, while the
 * values of a batch lie far apart. */
struct nsys_column {
    double sum; /* as in the file */
    double divisor;
    uint64_t incomplete;  /* samples */
    uint8_t arrived, all; /* the bits of its parts */
};

struct nsys_batch {
    struct nsys_gpu *gpu; /* not owned */
    int64_t epoch_ns;
    const struct event_sink *sink; /* not owned */
    struct nsys_period period;
    struct nsys_wrap wrap;
    size_t cap, n; /* samples; the one under construction is n */
    size_t columns;
    uint32_t *series;       /* column -> index in gpu->series */
    int32_t *column;        /* index in gpu->series -> column, -1 = none */
    int64_t *t0, *t1;       /* cap */
    double *values;         /* columns * cap */
    struct nsys_column *of; /* per column */
    int64_t stamp_ns;       /* of the sample under construction: that of its first row */
    int64_t last_ns;        /* of its last row */
    int64_t within_ns;  /* rows that are no farther from the first one may belong to one sample */
    int64_t before_ns;  /* stamp of the sample before */
    bool open, any;     /* a sample is under construction; there was one before */
    int64_t cells_left; /* samples times columns that the file may still have */
    size_t hint;        /* where in gpu->metrics the last row was */
};

/* nominal_hz: as the capture was asked for; 0 = not known. file_size in bytes. */
enum status nsys_batch_init(struct nsys_batch *b, struct nsys_gpu *gpu, int64_t epoch_ns,
                            double nominal_hz, int64_t file_size, const struct event_sink *sink,
                            struct error *err);
void nsys_batch_fini(struct nsys_batch *b); /* accepts a zeroed one */

/* One row, whose typeId chose b: its time, metric id and value. *unknown counts rows whose metric
 * id has no name; where the GPU has names, these rows make no sample. ERR_ORDER when the time lies
 * before that of the row before. */
enum status nsys_batch_row(struct nsys_batch *b, int64_t stamp_ns, const struct nsys_cell *id,
                           const struct nsys_cell *value, uint64_t *unknown, struct error *err);

/* Sends what is left, and tells the GPU at which rate it was sampled. */
enum status nsys_batch_flush(struct nsys_batch *b, struct error *err);

#endif
