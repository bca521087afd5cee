/* SPDX-License-Identifier: MIT */
/* From the file's metric names to catalogue series: which row of GPU_METRICS is which metric. */
#ifndef SMEFF_SOURCE_NSYS_SERIES_H
#define SMEFF_SOURCE_NSYS_SERIES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "source/nsys/meta.h"

enum { NSYS_NAME_SIZE = 160, NSYS_TEXT_SIZE = 240 };

/* How GENERIC_EVENT_TYPE_FIELDS says that a value is stored. */
enum nsys_field_type { FIELD_SIGNED = 0, FIELD_UNSIGNED = 1, FIELD_FLOAT = 2, FIELD_DOUBLE = 3 };

/* A metric as the file has it: one (typeId, metricId) with its name and storage. */
struct nsys_raw {
    int64_t metric_id;
    char name[NSYS_NAME_SIZE];
    bool ambiguous; /* the id has two names, or the name two ids */
    bool has_field; /* type and size are known */
    int type, size; /* enum nsys_field_type; bytes */
    bool percent; /* whole percents: the unit in brackets ends with '%', or the catalogue says so */
    bool clock;   /* hertz under a "[MHz]" label, or a clock of the catalogue */
    int target;   /* index of the series that takes its values, -1 = none */
    double divisor;   /* raw value ÷ divisor = unit of the target */
    uint64_t rows;    /* values read */
    uint64_t refused; /* values that were no numbers of the declared kind */
    uint64_t clash;   /* second values for one instant */
    double sum, max;  /* of the decoded raw values */
};

/* A series that goes out: a catalogue metric, or one of the file's own. */
struct nsys_series {
    int metric; /* enum metric or METRIC_NONE */
    enum unit unit;
    enum value_state state;
    char name[NSYS_NAME_SIZE];
    char counter[NSYS_NAME_SIZE];
    char reason[NSYS_TEXT_SIZE];
    double resolution;
    unsigned parts; /* rows that must be there and are added up; 0 = no samples */
};

/* All that one typeId (one GPU) has. */
struct nsys_gpu {
    int64_t type_id;
    unsigned gpu; /* low 8 bits of typeId */
    struct nsys_gpu_info info;
    struct nsys_raw *raw;
    size_t n_raw;
    struct nsys_series *series;
    size_t n_series;
    int64_t period_ns; /* distance of the samples; 0 = not known (one sample) */
};

enum nsys_names_from { NAMES_NONE, NAMES_TABLE, NAMES_FIELDS, NAMES_VERIFIED_IDS };

/* Reads the names of all GPUs that occur. Names come from TARGET_INFO_GPU_METRICS; where a file
 * lacks that table, from the same names in GENERIC_EVENT_TYPE_FIELDS; where it lacks both, from
 * ids that were verified for exactly this set and version; else there are none. */
enum status nsys_series_read(sqlite3 *db, const struct nsys_meta *meta, struct nsys_gpu *gpus,
                             size_t n_gpus, enum nsys_names_from *from, struct error *err);

/* Fills g->series from g->raw: every catalogue metric of the GPU's counters, with a state, and
 * with all = true the file's other metrics. */
enum status nsys_series_plan(struct nsys_gpu *g, enum nsys_names_from from, bool all,
                             struct error *err);

/* The row of this id, or NULL. Valid once nsys_series_read returned. */
struct nsys_raw *nsys_raw_find(struct nsys_gpu *g, int64_t metric_id);

void nsys_gpu_fini(struct nsys_gpu *g);

#endif
