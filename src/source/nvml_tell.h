/* SPDX-License-Identifier: MIT */
/* What every source on top of NVML says, and how it waits. */
#ifndef SMEFF_SOURCE_NVML_TELL_H
#define SMEFF_SOURCE_NVML_TELL_H

#include "source/nvml_cards.h"

/* A card's identity. */
enum status nvml_tell_gpu(const struct nvml_card *card, const struct event_sink *sink,
                          struct error *err);

/* One note: versions of NVML and driver, and the library's path. */
enum status nvml_tell_versions(const struct nvml_cards *c, const struct event_sink *sink,
                               struct error *err);

/* How often a source reads. */
struct nvml_pace {
    double asked_hz, rate_hz; /* rate_hz: what it is */
    int64_t period_ns;
    int64_t due_ns; /* CLOCK_MONOTONIC of the next round */
};

/* asked_hz 0 = default_hz; what is asked for is kept within min_hz and max_hz. */
void nvml_pace_set(struct nvml_pace *p, double asked_hz, double default_hz, double min_hz,
                   double max_hz);

bool nvml_pace_is_as_asked(const struct nvml_pace *p);

/* The first round is due now. */
void nvml_pace_start(struct nvml_pace *p);

/* Waits for the next round as source_wait does; a round that took too long is not made up for.
 */
enum status nvml_pace_wait(struct nvml_pace *p, const struct event_sink *sink,
                           const struct source_stop *stop, struct error *err);

/* Waits, with beats, until one of the GPUs of cards that are not started wakes, and starts them;
 * returns OK without that when stop is raised. */
enum status nvml_tell_wait_awake(struct nvml_cards *c, const struct event_sink *sink,
                                 const struct source_stop *stop, struct error *err);

#endif
