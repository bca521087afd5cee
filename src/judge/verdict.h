/* SPDX-License-Identifier: MIT */
/* The verdict: what limits the GPU, with the numbers that led there. A pure function. */
#ifndef SMEFF_JUDGE_VERDICT_H
#define SMEFF_JUDGE_VERDICT_H

#include <stddef.h>

#include "collect/snapshot.h"

/* X(NAME, json name, one line) */
#define VERDICTS(X)                                                                                \
    X(UNKNOWN, "unknown", "not enough sound numbers for a verdict")                                \
    X(IDLE, "idle", "the GPU had nothing to do")                                                   \
    X(STARVED, "starved", "the GPU often waited for work")                                         \
    X(LAUNCH_BOUND, "launch_bound", "the GPU waited between kernels")                              \
    X(MEMORY_BOUND, "memory_bound", "the GPU waited for its memory")                               \
    X(COMPUTE_BOUND, "compute_bound", "the GPU's arithmetic was the limit")                        \
    X(COMM_BOUND, "comm_bound", "a link to the host or to other GPUs was the limit")               \
    X(LATENCY_BOUND, "latency_bound", "work was there, but no unit was near its limit")            \
    X(MIXED, "mixed", "more than one limit, at once or in turn")

enum verdict_kind {
#define X(name, json, text) VERDICT_##name,
    VERDICTS(X)
#undef X
        VERDICT_COUNT
};

enum { VERDICT_LINES = 16, VERDICT_LINE_SIZE = 240 };

struct verdict_lines {
    char line[VERDICT_LINES][VERDICT_LINE_SIZE];
    size_t n;
};

struct verdict {
    enum verdict_kind kind;
    struct verdict_lines evidence; /* the numbers that led here */
    struct verdict_lines limits;   /* what it does not prove */
    struct verdict_lines advice;   /* what to try */
};

/* Builds only on values whose state is ok. */
void verdict_of(const struct gpu_snapshot *g, struct verdict *out);

const char *verdict_name(enum verdict_kind kind);
const char *verdict_text(enum verdict_kind kind);

#endif
