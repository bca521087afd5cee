/* SPDX-License-Identifier: MIT */
/* What is known at one moment: the input of judge and show. Immutable once published. */
#ifndef SMEFF_COLLECT_SNAPSHOT_H
#define SMEFF_COLLECT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "metric/metric.h"
#include "metric/value.h"

/* Changes only when a reader of the JSON could misunderstand (docs/interface.md). */
enum { SNAPSHOT_SCHEMA = 1 };

/* A ratio up to this, or up to one step of its source, is nobody's work: nsys lifts any trace of
 * activity to 1 %, and an idle H200 has such traces (data/h200/idle.sqlite). */
#define SNAPSHOT_IDLE_SHARE 0.02

/* A metric over the window. min to max are NaN when the value has no number. */
struct metric_stats {
    struct value value; /* the mean over the window */
    double min, p05, p50, p95, max;
    double idle_share; /* share of the samples that are idle (SNAPSHOT_IDLE_SHARE); ratios only,
                          NaN for all else */
    uint64_t samples;
    double resolution; /* step of single samples, in the metric's unit; 0 = fine. Of a sum of rows,
                          the steps of all of them */
    char counter[240]; /* what stands behind it at the source (four names of NVLink rows fit); "" =
                          nothing */
};

/* What a snapshot of the present has of the seconds before: a server's window is longer than a
 * GPU's, and begins at another time. */
enum past_metric {
    PAST_GR_ACTIVE,
    PAST_DRAM_READ_BYTES,
    PAST_DRAM_WRITE_BYTES,
    PAST_ENERGY,
    PAST_POWER,
    PAST_METRICS,
    PAST_WINDOWS = 16,
};

struct metric_window {
    int64_t t0_ns, t1_ns; /* UNIX time; t1 is later than t0 */
    double coverage;      /* measured time ÷ window */
    double v;             /* the mean, in the metric's unit; of energy watts */
    enum value_state state;
};

struct metric_past {
    size_t n; /* oldest first */
    struct metric_window list[PAST_WINDOWS];
};

/* Which past is that of this metric; -1 = none. */
int snapshot_past_index(int metric);

/* A metric of the source that is not in the catalogue (`--all`). */
struct extra_stats {
    char name[160]; /* the source's own name, cleaned, with its unit */
    struct metric_stats stats;
};

struct snapshot_process {
    int64_t pid;
    char name[64];                           /* "" = not known */
    double gpu_memory_bytes, sm_utilization; /* NaN = the driver does not tell */
};

struct gpu_snapshot {
    unsigned index;
    char name[96], uuid[64], chip[32], pci_bus[32]; /* "" = not known */
    enum source_id backend;                         /* of the hardware counters */
    double rate_hz;                                 /* 0 = not known */
    int64_t t0_ns, t1_ns;                           /* begin and end of the window, UNIX time */
    uint64_t samples;
    double coverage;      /* measured time ÷ window, 0..1; NaN = not known */
    uint64_t gaps;        /* breaks between one sample and the next */
    double longest_gap_s; /* 0 when there is none */
    struct metric_stats metrics[METRIC_COUNT];
    struct metric_past past[PAST_METRICS]; /* closed windows; empty unless the snapshot is of the
                                              present (taken_ns) */
    struct extra_stats *extras;
    size_t n_extras;
    struct snapshot_process *processes;
    size_t n_processes;
    bool processes_known; /* false: not asked, or the driver does not tell */
};

enum {
    SERVER_METRIC_FIRST = METRIC_OUTPUT_TOKENS_PER_SECOND,
    SERVER_METRICS = METRIC_ESTIMATED_BYTES + 1 - SERVER_METRIC_FIRST,
    SERVER_PIDS_MAX = 32,
    SERVER_URL_SIZE = 512,
};

/* A metric of a server: its newest value, and what its sound readings of the window were. */
struct server_metric {
    struct value value;
    uint64_t readings; /* sound ones; mean and max are meaningful only with at least one */
    double mean, max;
    char series[320];   /* what stands behind it at the server; "" = nothing */
    char freshness[16]; /* when the server renews it, as in the event */
};

/* What a token's cost is reckoned from, of one window. */
struct server_rates {
    int64_t t0_ns, t1_ns; /* UNIX time; equal = no window */
    struct value tokens, tpot, estimated_bytes;
};

struct server_snapshot {
    char url[SERVER_URL_SIZE];         /* as it was named or found */
    char kind[32], model[160];         /* "" = not known */
    int64_t pid;                       /* of the process that listens; 0 = not known */
    bool is_local;                     /* of this machine, and all its GPUs are in the snapshot */
    int64_t gpu_pids[SERVER_PIDS_MAX]; /* processes on GPUs that are the server's */
    size_t n_gpu_pids;
    enum value_state state; /* of its last answer */
    char reason[VALUE_REASON_SIZE];
    int64_t t0_ns, t1_ns; /* UNIX time: what rates and means cover; equal = no window */
    struct server_metric metrics[SERVER_METRICS];
    struct server_rates before; /* of the present: of the window before this one, at its end */
};

struct snapshot_note {
    enum note_level level;
    int gpu;      /* -1 = the whole snapshot */
    int64_t t_ns; /* UNIX time at which it came; 0 = not of the present, or of no moment */
    char text[600];
};

struct snapshot {
    int64_t taken_ns; /* UNIX time of the snapshot itself; 0 = of a file, a whole measurement */
    int64_t time_ns;  /* end of the newest window, UNIX time; 0 = nothing measured */
    bool is_replay;   /* of a recording that is played: nothing of it happens now */
    char host[128];   /* "" = not known */
    char tool[96];    /* who measured */
    struct gpu_snapshot *gpus;
    size_t n_gpus;
    struct server_snapshot *servers;
    size_t n_servers;
    struct snapshot_note *notes;
    size_t n_notes;
};

/* Accepts NULL. */
void snapshot_destroy(struct snapshot *s);

/* Length of the window in seconds, 0 when nothing was measured. */
double gpu_snapshot_window_s(const struct gpu_snapshot *g);
double server_snapshot_window_s(const struct server_snapshot *s);

/* Those of the newest window. */
struct server_rates server_snapshot_rates(const struct server_snapshot *s);

/* m must be of SCOPE_SERVER. */
static inline const struct server_metric *server_snapshot_metric(const struct server_snapshot *s,
                                                                 enum metric m)
{
    return &s->metrics[m - SERVER_METRIC_FIRST];
}

#endif
