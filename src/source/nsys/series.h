/* SPDX-License-Identifier: MIT */
/* From the file's metrics, known by their names, to series: catalogue metrics or the file's own. */
#ifndef SMEFF_SOURCE_NSYS_SERIES_H
#define SMEFF_SOURCE_NSYS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "source/nsys/meta.h"

enum { NSYS_NAME_SIZE = 160, NSYS_TEXT_SIZE = 240 };

/* How GENERIC_EVENT_TYPE_FIELDS says that a value is stored. */
enum nsys_field_type { FIELD_SIGNED = 0, FIELD_UNSIGNED = 1, FIELD_FLOAT = 2, FIELD_DOUBLE = 3 };

/* What the stored number is. */
enum nsys_meaning {
    MEANS_COUNT,   /* whatever the name says */
    MEANS_PERCENT, /* whole percents */
    MEANS_HERTZ,   /* hertz, also under a "[MHz]" label */
};

/* A metric as the file has it: one (typeId, metricId) with its name and storage. The name is last,
 * so that what each row needs lies together. */
struct nsys_file_metric {
    int64_t id; /* metricId */

    /* decided once, when it is bound to a series */
    int series; /* index of the series that takes its values, -1 = none */
    enum nsys_meaning means;
    uint8_t part; /* the bit of this one among those that the series adds up */

    int type, size;     /* enum nsys_field_type; bytes */
    bool has_storage;   /* type and size are known */
    bool odd_storage;   /* declared, but in no way that is known */
    bool contradictory; /* the id has two names, the name two ids, or the value two storages */

    /* what reading found */
    uint64_t taken;      /* values that count */
    double max;          /* of them, as in the file */
    uint64_t refused;    /* values that were no numbers of the declared kind */
    uint64_t ran_over;   /* counts that 32 bits could not hold, by what stands beside them */
    uint64_t unchecked;  /* counts with nothing beside them to check that */
    uint64_t duplicates; /* second values for one instant */

    char name[NSYS_NAME_SIZE];
};

/* A series that goes out: a catalogue metric, or one of the file's own. */
struct nsys_series {
    int metric; /* enum metric or METRIC_NONE */
    enum unit unit;
    enum value_state state;
    char name[NSYS_NAME_SIZE];
    char counter[NSYS_NAME_SIZE];
    char reason[NSYS_TEXT_SIZE];
    bool skipped; /* reason quotes nsys's own line */
    double resolution;
    unsigned addends; /* file metrics that must be there and are added up; 0 = no samples */
    double divisor;   /* value of the file, or their sum, ÷ divisor = unit of the series */

    /* what reading found */
    uint64_t incomplete; /* samples without it, or without one of its addends */
};

/* All that one typeId (one GPU) has. */
struct nsys_gpu {
    int64_t type_id;
    unsigned gpu; /* low 8 bits of typeId */
    struct nsys_gpu_info info;
    struct nsys_file_metric *metrics;  /* owned, ascending id */
    struct nsys_file_metric **by_name; /* owned: the same, in the order of their names */
    size_t n_metrics;
    struct nsys_series *series; /* owned */
    size_t n_series;
    struct nsys_file_metric *clock; /* the one bound to gpc_clock, or NULL; in metrics */
    int64_t apart_ns; /* least distance of two values of a metric in the first rows; 0 = unknown */
    uint64_t samples; /* as found by reading */
    double rate_hz;   /* samples a second as found by reading; 0 = not known */
    int64_t longest_ns; /* the longest time that one sample covers, as found; 0 = not known */
};

enum nsys_names_from { NAMES_NONE, NAMES_TABLE, NAMES_VERIFIED_IDS };

/* Reads the names of all GPUs that occur. Names come from TARGET_INFO_GPU_METRICS; where a file
 * lacks that table, from ids that were verified for exactly this set and version (verified.h);
 * else there are none. */
enum status nsys_names_read(struct nsys_db *db, const struct nsys_meta *meta, struct nsys_gpu *gpus,
                            size_t n_gpus, enum nsys_names_from *from, struct error *err);

/* One more metric of the file. */
enum status nsys_gpu_add(struct nsys_gpu *g, int64_t id, const char *name, struct error *err);

/* Fills g->series from g->metrics: every catalogue metric of the GPU's counters, with a state, and
 * with all = true the file's other metrics. */
enum status nsys_series_plan(struct nsys_gpu *g, enum nsys_names_from from, bool all,
                             struct error *err);

/* The metric of this id or whole name, or NULL. Valid once nsys_names_read returned. */
struct nsys_file_metric *nsys_gpu_by_id(struct nsys_gpu *g, int64_t id);
struct nsys_file_metric *nsys_gpu_by_name(struct nsys_gpu *g, const char *name);

/* The GPU of this typeId in a list that ascends by it, or NULL. */
struct nsys_gpu *nsys_gpu_find(struct nsys_gpu *gpus, size_t n, int64_t type_id);

void nsys_gpu_fini(struct nsys_gpu *g);

#endif
