/* SPDX-License-Identifier: MIT */
/* The catalogue: everything that the project knows of a metric, written once in metrics.def.
 * Enum, JSON keys, labels, docs/METRICS.md and the manual page come from it. */
#ifndef SMEFF_METRIC_METRIC_H
#define SMEFF_METRIC_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/unit.h"

enum metric {
#define METRIC(id, ...) METRIC_##id,
#include "metric/metrics.def"
#undef METRIC
    METRIC_COUNT
};

enum { METRIC_NONE = -1 };

/* Where a metric belongs: one value a GPU, one a server, or one from both joined. */
enum metric_scope { SCOPE_GPU, SCOPE_SERVER, SCOPE_DERIVED };

/* X(NAME, title). In the order in which people read them. */
#define METRIC_GROUPS(X)                                                                           \
    X(ACTIVITY, "Activity")                                                                        \
    X(PIPES, "Pipes")                                                                              \
    X(MEMORY, "Memory")                                                                            \
    X(LINKS, "Links")                                                                              \
    X(CLOCKS, "Clocks")                                                                            \
    X(DRIVER, "Driver")                                                                            \
    X(SERVERS, "Servers")                                                                          \
    X(DERIVED, "Derived")

enum metric_group {
#define X(name, title) GROUP_##name,
    METRIC_GROUPS(X)
#undef X
        GROUP_COUNT
};

enum metric_kind { KIND_GAUGE, KIND_COUNTER };

/* A name under which nsys exports the metric: the whole string with its unit in brackets, as in
 * TARGET_INFO_GPU_METRICS. Names are tried in order; the first that a file has is taken. */
struct nsys_name {
    const char *name;
    const char *const *plus; /* further rows that must be there too and are added; ends with NULL */
    double scale;            /* row value × scale = catalogue unit (0.01 for whole percents) */
    const char *sets;        /* the metric sets and versions that use it, for docs */
    const char *suspect;     /* why a value under this name cannot be trusted alone; or NULL */
};

/* A CUPTI PM sampling expression. Candidates are tried in order of preference. */
struct pm_candidate {
    const char *expression; /* as passed to cuptiProfilerHostConfigAddMetrics */
    const char *chips;      /* blank-separated chip names with a trailing * allowed ("GH100 GB1*");
                               "!" in front excludes ("!GH100"); NULL = every chip */
    double scale;           /* value × scale = catalogue unit */
    char cost;              /* 'l'ow, 'm'id, 'h'igh: CPU class; '-' not known */
};

struct metric_info {
    const char *key;
    enum unit unit;
    enum metric_scope scope;
    enum metric_group group;
    enum metric_kind kind;
    bool core;                     /* in the always-on set of the pm source */
    const char *label;             /* short, for tables and the panel: at most 18 columns */
    const char *help;              /* one line, no full stop: for HELP lines and --help */
    const char *doc;               /* a paragraph: what it means and when it misleads */
    const struct nsys_name *nsys;  /* ends with a NULL name; or NULL */
    const char *nsys_counter;      /* stem that a "Skipping metric" line of nsys holds; or NULL */
    const struct pm_candidate *pm; /* ends with a NULL expression; or NULL */
    int gpm_id;                    /* NVML GPM metric id, 0 = none */
    double gpm_scale;              /* GPM value × scale = catalogue unit */
    const char *dcgm;              /* DCGM field name; or NULL */
};

/* Never NULL for 0 <= m < METRIC_COUNT. Static storage. */
const struct metric_info *metric_info(enum metric m);

/* Exact, case-sensitive; METRIC_NONE when there is no such key. */
int metric_by_key(const char *key);

const char *metric_group_title(enum metric_group group);

/* Does chip ("GH100") fit a candidate's chips list? */
bool metric_chip_matches(const char *chips, const char *chip);

#endif
