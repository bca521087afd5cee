/* SPDX-License-Identifier: MIT */
/* What the panel knows and what it shows of it. Views are pure functions of it; keys change it. */
#ifndef SMEFF_PANEL_MODEL_H
#define SMEFF_PANEL_MODEL_H

#include "collect/snapshot.h"
#include "collect/trace.h"
#include "panel/chart.h"
#include "panel/filter.h"
#include "panel/verdicts.h"

enum view { VIEW_OVERVIEW, VIEW_GPU, VIEW_METRICS, VIEW_PROCESSES, VIEW_HELP };

/* X(NAME, title): of the overview; of processes memory, busy and index make sense. */
#define SORTS(X)                                                                                   \
    X(INDEX, "number")                                                                             \
    X(UTIL, "GPU-Util")                                                                            \
    X(GAP, "gap")                                                                                  \
    X(POWER, "power")                                                                              \
    X(MEMORY, "memory")

enum sort {
#define X(name, title) SORT_##name,
    SORTS(X)
#undef X
        SORT_COUNT
};

enum { MODEL_SCALES = 5, MODEL_LINE_SIZE = 320 };

struct model {
    /* what is known; borrowed */
    const struct snapshot *now; /* the newest second; NULL = nothing yet */
    const struct verdicts *verdicts;
    const struct trace *trace;
    int64_t edge_ns;               /* the newest time that charts show; UNIX time, 0 = none yet */
    char origin[MODEL_LINE_SIZE];  /* where the events come from: "live", "daemon", … */
    char message[MODEL_LINE_SIZE]; /* the last thing that happened; "" = nothing */
    bool message_is_bad;
    bool is_recording;
    bool is_over;     /* no more events will come */
    bool is_once;     /* one frame, as text: no keys */
    int utc_offset_s; /* of the clock that is shown */

    /* what is shown */
    enum view view, before; /* before: where Esc goes */
    bool is_chosen;         /* a key was pressed: the view is nobody else's to change */
    unsigned gpu;           /* number of the selected GPU */
    int scale;              /* 0 .. MODEL_SCALES - 1 */
    bool is_frozen;
    int64_t at_ns, froze_ns; /* frozen: the time that is looked at, and when it was frozen */
    enum sort sort;
    struct filter filter;
    int scroll; /* rows of a list that are above its top */
    enum glyphs glyphs;
    bool ascii; /* only ASCII can be shown */
};

/* Nanoseconds of one trace column. */
int64_t model_column_ns(const struct model *m);

/* The time that is looked at: the right edge of charts. */
int64_t model_at_ns(const struct model *m);

/* Is it before the moment of freezing? Then only what has a trace is known. */
bool model_is_past(const struct model *m);

/* The selected GPU, or the first; NULL = none is known. */
const struct gpu_snapshot *model_gpu(const struct model *m);

/* A value as it is to be shown at the time that is looked at: of the snapshot, or of the trace's
 * last second. */
struct shown {
    enum metric metric;
    struct value value;
    double min, max;   /* NaN = not known */
    double resolution; /* step of the source; 0 = fine */
    bool is_not_kept;  /* looked back: it had a number later, but nothing is kept of that moment */
    bool is_sum;       /* DRAM reads and writes together; metric is the larger of both */
};
struct shown model_value(const struct model *m, const struct gpu_snapshot *g, enum metric metric);

/* The busiest of the units that limit work, by its share of the peak; false: none is known. */
bool model_busiest(const struct model *m, const struct gpu_snapshot *g, struct shown *out);

/* GPU-Util minus the busiest unit, in 0..1; NaN when one is not known. */
double model_gap(const struct model *m, const struct gpu_snapshot *g);

/* The GPUs that are shown, in order: pointers into the snapshot. Returns how many (at most max). */
size_t model_gpus(const struct model *m, const struct gpu_snapshot **out, size_t max);

/* "12:03:22" of a UNIX time, with tenths on demand. dst has at least 16 bytes. */
const char *model_clock(const struct model *m, int64_t t_ns, bool tenths, char *dst, size_t size);

const char *sort_title(enum sort sort);

#endif
