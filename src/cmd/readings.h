/* SPDX-License-Identifier: MIT */
/* The driver's newest readings from before a measurement begins. Some are taken only every few
 * seconds, and a temperature that was read a second ago is better than none. */
#ifndef SMEFF_CMD_READINGS_H
#define SMEFF_CMD_READINGS_H

#include "event/event.h"
#include "source/source.h"

/* One GPU's newest value of each series of its plan; NaN = not read yet. */
struct reading {
    size_t n;
    int64_t t_ns;
    double values[METRIC_COUNT];
    bool is_level[METRIC_COUNT]; /* a counter's old reading would add what came before */
};

struct readings {
    struct reading gpu[SOURCE_GPUS_MAX];
};

/* Takes plans and samples of SOURCE_NVML; ignores everything else. */
void readings_take(struct readings *r, const struct event *ev);

/* Sends them as one sample a GPU that ends at unix_ns. */
enum status readings_push(const struct readings *r, int64_t unix_ns, const struct event_sink *sink,
                          struct error *err);

#endif
