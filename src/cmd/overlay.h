/* SPDX-License-Identifier: MIT */
/* Another program's trace (PyTorch, vLLM, …: Trace Event Format, plain or gzip) that ours is laid
 * over: where its events begin, and on which time base they stand. It is copied as it is, so that a
 * file of any size needs no memory. */
#ifndef SMEFF_CMD_OVERLAY_H
#define SMEFF_CMD_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct overlay {
    const char *path;    /* borrowed */
    int64_t base_ns;     /* its baseTimeNanoseconds; 0 = it has none: its times are UNIX time */
    int64_t events;      /* bytes up to its first event, behind the "[" */
    bool is_empty;       /* it has no event */
    bool *output_failed; /* the caller's: set when it is standard output that failed */
};

/* Reads all of the file. ERR_IO: it cannot be read; ERR_BAD_INPUT: it is no such trace, or was cut
 * off. The text names the file. */
enum status overlay_find(struct overlay *o, const char *path, struct error *err);

/* Writes it to standard output: what stands before its events, and, when ours were written, the
 * rest. after_ours: there was at least one. */
enum status overlay_copy_head(const struct overlay *o, struct error *err);
enum status overlay_copy_tail(const struct overlay *o, bool after_ours, struct error *err);

#endif
