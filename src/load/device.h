/* SPDX-License-Identifier: MIT */
/* The GPU that a load runs on, and everything that it holds there: one place takes, one gives back.
 */
#ifndef SMEFF_LOAD_DEVICE_H
#define SMEFF_LOAD_DEVICE_H

#include "load/kernels.h"
#include "load/load.h"
#include "vendor/cuda_api.h"

enum { LOAD_SLOTS = 3, LOAD_MEMORY = 2 };

/* Zeroed = holds nothing. */
struct load_device {
    struct cuda_api cuda;
    CUdevice number;
    struct load_gpu gpu;
    bool retained; /* the primary context */
    CUstream stream;
    CUmodule module;
    CUgraph graph;
    CUgraphExec graph_exec;
    CUdeviceptr memory[LOAD_MEMORY]; /* 0 = none */
    void *pinned;                    /* of the host, for copies; NULL = none */
    struct load_record *records;     /* of the host, pinned: LOAD_SLOTS that kernels write */
    CUevent begin, ends[LOAD_SLOTS]; /* waiting for them blocks and does not spin */
};

/* Calls a function of the driver; ERR_… with its name when it fails. */
#define LOAD_CALL(d, err, name, ...) load_check(d, #name, (d)->cuda.name(__VA_ARGS__), err)
enum status load_check(const struct load_device *d, const char *call, CUresult rc,
                       struct error *err);

/* Finds the GPU and asks for its facts; takes nothing of it. which as in struct load_request. */
enum status load_device_find(struct load_device *d, const char *library, const char *which,
                             struct error *err);

/* Context, stream, events, records, and the kernels of image. */
enum status load_device_open(struct load_device *d, enum load_image image, struct error *err);

/* Gives everything back, whatever state it is in. */
void load_device_close(struct load_device *d);

enum status load_function(struct load_device *d, CUfunction *out, const char *name,
                          struct error *err);

struct load_grid {
    unsigned blocks, threads; /* threads of a block */
    size_t shared;            /* dynamic, bytes of a block */
};

/* Into the stream; params as for cuLaunchKernel. */
enum status load_launch(struct load_device *d, CUfunction function, struct load_grid grid,
                        void **params, struct error *err);

/* Takes n buffers of the GPU of *bytes each, or of half, a quarter, … but not below least;
 * *bytes becomes what was taken. ERR_NOMEM says what is free and what is needed. */
enum status load_take_memory(struct load_device *d, unsigned n, uint64_t *bytes, uint64_t least,
                             struct error *err);

/* The same with pinned memory of the host. */
enum status load_take_pinned(struct load_device *d, uint64_t *bytes, uint64_t least,
                             struct error *err);

/* Waits until the stream has done all. */
enum status load_wait(struct load_device *d, struct error *err);

#endif
