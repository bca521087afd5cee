/* SPDX-License-Identifier: MIT */
/* How each metric of the driver group is read: the calls, in order of preference, with their units
 * turned into the catalogue's. */
#ifndef SMEFF_SOURCE_NVML_READERS_H
#define SMEFF_SOURCE_NVML_READERS_H

#include <stdbool.h>

#include "metric/metric.h"
#include "vendor/nvml_api.h"

enum { NVML_READER_WAYS = 2, NVML_READER_METRICS = 2 };

struct nvml_reading {
    double v[NVML_READER_METRICS]; /* NaN = a value that cannot be true */
    const char *why; /* for people, where the return code would not tell; NULL otherwise */
};

/* One call. read gives NVML_ERROR_FUNCTION_NOT_FOUND when the driver lacks it. */
struct nvml_way {
    const char *call; /* its name, for messages; NULL = there is no such way */
    nvmlReturn_t (*read)(const struct nvml_api *api, nvmlDevice_t dev, struct nvml_reading *out);
    const char *counter[NVML_READER_METRICS]; /* for the plan */
};

/* When a reader is asked. */
enum nvml_when {
    NVML_QUICK = 1,  /* each round */
    NVML_SLOW = 2,   /* changes slowly, or never */
    NVML_COSTLY = 4, /* each round for a while, so that a short measurement has it, then slowly */
    NVML_ALL = 7,
};

/* One or two metrics that come from one call. */
struct nvml_reader {
    int metrics[NVML_READER_METRICS]; /* enum metric, or METRIC_NONE */
    double resolution[NVML_READER_METRICS];
    enum nvml_when when;
    struct nvml_way ways[NVML_READER_WAYS];
};

enum { NVML_READERS = 14 };
extern const struct nvml_reader nvml_readers[NVML_READERS];

#endif
