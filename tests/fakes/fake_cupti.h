/* SPDX-License-Identifier: MIT */
/* Inside of the fake libcupti: what cupti*.c share. */
#ifndef FAKES_FAKE_CUPTI_H
#define FAKES_FAKE_CUPTI_H

#pragma GCC visibility push(default)
#include "vendor/cupti_abi.h"
#pragma GCC visibility pop

#include "script.h"
#include "vendor/cupti_api.h"

enum { METRICS = 64, NAME_SIZE = 128, AVAILABILITY_SIZE = 9184 };

/* What every call does first: planned faults, then the head of the structure. */
CUptiResult cupti_begin(const char *function, const void *params, size_t size);

/* The same for a call on a GPU that needs the driver and cuptiProfilerInitialize. */
CUptiResult cupti_begin_gpu(const char *function, const void *params, size_t size, size_t device,
                            struct gpu **gpu);

/* The GPU whose availability image this is; NULL for anything else. */
struct gpu *cupti_availability_gpu(const uint8_t *image);

/* The right to the counters, which one process a GPU can have. take is false when another one has
 * it; is_free is true also when this process has it. Ends with the process, however that ends. */
bool hold_take(const struct gpu *gpu);
bool hold_is_free(const struct gpu *gpu);
void hold_release(const struct gpu *gpu);

/* Metrics. find gives the setting of an expression ("pm.EXPRESSION", else "pm.BASE"), or NULL when
 * it is unknown or has no rollup; metric_base copies the part in front of the rollup. */
const struct setting *metric_find(const struct gpu *gpu, const char *expression);
bool metric_base(const char *expression, char base[NAME_SIZE]);
bool metric_is_unavailable(const struct setting *s);
unsigned metric_passes(const struct gpu *gpu, char names[][NAME_SIZE], unsigned n);

/* An image that says which metrics are sampled. The caller owns the memory. */
struct config_head {
    char magic[8];
    uint64_t bytes, checksum;
    uint32_t n, passes;
};
size_t config_size(unsigned n);
void config_write(uint8_t *image, unsigned passes, char names[][NAME_SIZE], unsigned n);
/* False when the bytes are no image, or were changed. */
bool config_read(const uint8_t *image, size_t bytes, struct config_head *head);
const char *config_name(const uint8_t *image, unsigned i);

/* An image that samples are decoded into. It holds no pointers: copying it is allowed. */
struct counter_head {
    char magic[8];
    uint64_t bytes;
    uint32_t n, max, count, unused;
};
struct sample {
    uint64_t t0_ns, t1_ns;
    double values[METRICS];
};
size_t counter_size(unsigned n, unsigned max);
void counter_initialize(uint8_t *image, char names[][NAME_SIZE], unsigned n, unsigned max);
bool counter_read(const uint8_t *image, size_t bytes, struct counter_head *head);
const char *counter_name(const uint8_t *image, unsigned i);
/* False when the image is full, or there is no such sample. */
bool counter_append(uint8_t *image, const struct sample *sample);
bool counter_get(const uint8_t *image, size_t index, struct sample *sample);

#endif
