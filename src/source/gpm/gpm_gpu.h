/* SPDX-License-Identifier: MIT */
/* One GPU's GPM: two samples of its counters in turn, and what lies between them. */
#ifndef SMEFF_SOURCE_GPM_GPU_H
#define SMEFF_SOURCE_GPM_GPU_H

#include "source/nvml_cards.h"

enum { GPM_SERIES_MAX = 24 };

/* NVIDIA asks for more than 100 ms between two samples; nearer ones read 0 for byte rates. */
#define GPM_FLOOR_NS INT64_C(120000000)

struct gpm_series {
    enum value_state state;
    char reason[VALUE_REASON_SIZE];
    unsigned failures; /* one after the other */
    bool seen;         /* had a value once */
    bool absent;       /* the GPU has no such unit: what GPM says of it is no measurement */
};

struct gpm_gpu {
    struct nvml_card *card;
    bool ready; /* supported, and its samples are there */
    bool asleep;
    bool has_older;
    nvmlGpmSample_t older, newer;
    int64_t unix_ns, monotonic_ns; /* of the older sample */
    int64_t ready_ns;              /* monotonic: when the next one may be taken */
    struct gpm_series series[GPM_SERIES_MAX];
    double values[GPM_SERIES_MAX]; /* of this round, NaN = none */
};

/* The metrics that GPM gives, in the order of the catalogue; returns how many. */
size_t gpm_gpu_metrics(enum metric list[GPM_SERIES_MAX]);

/* Finds out whether the GPU has GPM and gets it ready; all series then say warming, or else why it
 * has not. Fails when the source cannot go on. */
enum status gpm_gpu_prepare(struct gpm_gpu *g, const struct nvml_api *api, struct error *err);

/* Every series with this state and reason. */
void gpm_gpu_set_all(struct gpm_gpu *g, enum value_state state, const char *reason);

/* Takes a sample; with one before it, values gets what lies between, and *t0_ns and *t1_ns their
 * times (UNIX). Not sooner than GPM_FLOOR_NS after the one before. *measured: there are values;
 * *changed: the plan is another one. Fails when the source cannot go on. */
enum status gpm_gpu_step(struct gpm_gpu *g, const struct nvml_api *api, int64_t *t0_ns,
                         int64_t *t1_ns, bool *measured, bool *changed, struct error *err);

enum status gpm_gpu_plan(const struct gpm_gpu *g, double rate_hz, const struct event_sink *sink,
                         struct error *err);

/* Sends the values of the metrics that are ok; *sent becomes true when there are any. */
enum status gpm_gpu_send(const struct gpm_gpu *g, int64_t t0_ns, int64_t t1_ns,
                         const struct event_sink *sink, bool *sent, struct error *err);

void gpm_gpu_fini(struct gpm_gpu *g, const struct nvml_api *api); /* accepts a zeroed one */

#endif
