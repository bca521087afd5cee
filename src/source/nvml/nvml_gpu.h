/* SPDX-License-Identifier: MIT */
/* One GPU's readings: which succeed, by which call, and what the last round gave. */
#ifndef SMEFF_SOURCE_NVML_GPU_H
#define SMEFF_SOURCE_NVML_GPU_H

#include "source/nvml/nvml_readers.h"
#include "source/nvml_cards.h"

/* What became of one reader. */
struct nvml_outcome {
    enum value_state state;
    char reason[VALUE_REASON_SIZE];
    size_t way;                    /* of the reader's; the one that works when the state is ok */
    double v[NVML_READER_METRICS]; /* of this round, NaN = not read */
};

struct nvml_gpu {
    struct nvml_card *card;
    bool asleep;
    bool told_processes; /* that they cannot be listed was said */
    int64_t last_ns;     /* UNIX time of the last round */
    struct nvml_outcome outcomes[NVML_READERS];
};

/* One round. due: enum nvml_when; NVML_ALL asks every reader, less than that only those that have
 * worked. *changed becomes
 * true when a state, a reason or a call did change. Fails when the source cannot go on. */
enum status nvml_gpu_read(struct nvml_gpu *g, const struct nvml_api *api, unsigned due,
                          bool *changed, struct error *err);

/* Sends the plan: the outcomes, or why the card cannot be read at all. */
enum status nvml_gpu_plan(const struct nvml_gpu *g, double rate_hz, const struct event_sink *sink,
                          struct error *err);

/* Sends the round's values as one sample from t0 to t1; *sent becomes true when there are any. */
enum status nvml_gpu_send(const struct nvml_gpu *g, int64_t t0_ns, int64_t t1_ns,
                          const struct event_sink *sink, bool *sent, struct error *err);

#endif
