/* SPDX-License-Identifier: MIT */
/* Known loads on a GPU, through the driver alone: each counts what it did, and says what hardware
 * counters must have read meanwhile. */
#ifndef SMEFF_LOAD_LOAD_H
#define SMEFF_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metric/metric.h"
#include "metric/relation.h"

/* X(NAME, "name" or "name:ARGUMENT" in 12 columns, what it does) */
#define LOAD_LIST(X)                                                                               \
    X(COPY, "copy       ", "a kernel copies memory to memory: as many bytes read as written")      \
    X(READ, "read       ", "a kernel reads memory and writes nothing")                             \
    X(GEMV, "gemv       ", "matrices times a vector, layer after layer: decoding with batch 1")    \
    X(MMA, "mma        ", "the tensor pipe: matrix products in registers")                         \
    X(FMA, "fma        ", "the FMA pipe: 32-bit floats in registers")                              \
    X(OCCUPANCY, "occupancy:N", "N warps on every SM, which sleep")                                \
    X(H2D, "h2d        ", "copies from the host's memory over PCIe")                               \
    X(D2H, "d2h        ", "copies to the host's memory over PCIe")                                 \
    X(DUTY, "duty:P     ", "work for P % of the time, in periods of 100 ms")                       \
    X(TAIL, "tail       ", "one warp on one SM, without a pause")                                  \
    X(IDLE, "idle       ", "nothing; not even a CUDA context")

enum load_kind {
#define X(id, name, help) LOAD_##id,
    LOAD_LIST(X)
#undef X
        LOAD_KINDS
};

struct load_choice {
    enum load_kind kind;
    double argument; /* warps of an SM, or percent; 0 where the kind takes none */
};

/* "copy", "occupancy:8", "duty:37.5". ERR_USAGE: the text has the list of kinds. How many warps an
 * SM holds is only known with the GPU. */
enum status load_parse(const char *text, struct load_choice *out, struct error *err);

/* The name with its argument as load_parse takes it. Returns dst. */
const char *load_choice_text(char *dst, size_t size, struct load_choice choice);

struct load_amounts {
    uint64_t bytes_read, bytes_written; /* of the GPU's memory, by kernels */
    uint64_t pcie_in, pcie_out;         /* payload, as the GPU sees it */
    double operations;     /* arithmetic ones; a multiply-add is two. An hour has 2e18 on an H200 */
    uint64_t instructions; /* warp instructions of the pipe that the load is for */
};

/* What a counter must read as the mean over the steady part. */
struct load_expectation {
    enum metric metric;
    enum relation relation;
    double value, tolerance; /* in the metric's unit; value NAN = not known, how says why */
    char how[200];           /* how it was computed, in words */
};

enum { LOAD_EXPECTATIONS_MAX = 32 };

struct load_gpu {
    int index;
    char name[96], uuid[64], pci_bus[32];
    unsigned major, minor; /* compute capability */
    unsigned sm_count, warps_per_sm;
    uint64_t l2_bytes;      /* 0 = not known */
    uint64_t shared_per_sm; /* bytes */
    unsigned pcie_payload;  /* most of one packet, bytes; 0 = not known */
    bool integrated;        /* shares the host's memory: nothing goes over PCIe */
    double memory_peak;     /* bytes per second; NAN = not known */
};

struct load_report {
    struct load_choice choice;
    struct load_gpu gpu;
    double seconds;              /* of the steady part, by the GPU's clock; NAN = there was none */
    int64_t begin_ns, end_ns;    /* of the steady part, UNIX time; 0 = there was none */
    struct load_amounts done;    /* in the steady part */
    uint64_t batches;            /* in the steady part */
    bool stood_still;            /* for a moment: this process was stopped, or had no CPU */
    uint64_t passes;             /* gemv: through all matrices */
    double rate;                 /* passes a second; NAN = the kind has no rate */
    double busy;                 /* duty: share of time with a kernel; NAN = another kind */
    double sm_clock_hz;          /* mean while the kernels ran; NAN = not measured */
    uint64_t buffer_bytes;       /* of one buffer (gemv: all weights); 0 = the kind has none */
    unsigned layers, layer_size; /* gemv: matrices, and rows and columns of each; else 0 */
    struct load_expectation expectations[LOAD_EXPECTATIONS_MAX];
    size_t n_expectations;
};

/* All may be NULL. */
struct load_hooks {
    void *self;
    bool (*stopped)(void *self); /* asked often: true ends the load in order */
    /* The load runs steadily from now on (begin_ns). */
    enum status (*begun)(void *self, const struct load_report *report, struct error *err);
    /* A batch has ended: so many units (gemv: passes) in so many seconds by the GPU's clock, since
     * the steady part began. Not called for occupancy, duty, tail and idle. */
    enum status (*progress)(void *self, double seconds, uint64_t units, struct error *err);
};

struct load_request {
    struct load_choice choice;
    double seconds;      /* of the steady part, at least; more than 0 */
    const char *gpu;     /* index or UUID; NULL = 0 */
    const char *library; /* of the driver; NULL = the system's */
};

/* Runs a load until its time is over or stopped says so, and fills *report. Frees all that it took
 * of the GPU, also after a failure.
 * ERR_USAGE: the argument does not fit this GPU; ERR_NO_GPU; ERR_UNSUPPORTED: a GPU or driver that
 * is too old; ERR_NOMEM: no memory is left for it; ERR_VENDOR …: a call failed, which is named. */
enum status load_run(const struct load_request *request, const struct load_hooks *hooks,
                     struct load_report *report, struct error *err);

#endif
