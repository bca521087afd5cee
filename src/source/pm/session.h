/* SPDX-License-Identifier: MIT */
/* One GPU's PM sampling: from a packed set to decoded samples. */
#ifndef SMEFF_SOURCE_PM_SESSION_H
#define SMEFF_SOURCE_PM_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "source/pm/pack.h"

/* How often one pm_session_decode fills the image at most. */
enum { PM_FILLS_MAX = 4 };

struct pm_session {
    const struct cupti_api *cupti; /* not owned, as is pack: both must outlive the session */
    const struct pm_pack *pack;
    size_t device; /* CUDA ordinal */
    struct cupti_host_object *host;
    struct cupti_pm_object *object;
    bool started, skip_first;  /* skip_first: the next sample covers the set-up time */
    uint64_t interval;         /* ns, or SYS cycles with the cycle trigger */
    uint32_t capacity;         /* samples that fit the image */
    uint8_t *image, *pristine; /* the counter data image, and an initialised copy */
    size_t image_size;
    size_t next;         /* samples of the image before this one were given out */
    int64_t length_ns;   /* of the newest sample that was given out; 0 = none */
    int64_t last_end_ns; /* of the newest sample that was given out; 0 = none */
    double *row;         /* room for pack->n_names values */
};

/* A sample: times in UNIX ns, values in the order of pack->names, as CUPTI gives them. */
struct pm_sample {
    int64_t t0_ns, t1_ns;
    const double *values; /* valid until the next sample */
};

struct pm_sample_sink {
    enum status (*take)(void *self, const struct pm_sample *sample, struct error *err);
    void *self;
};

/* Takes the counters and starts. samples_per_decode: how many samples arrive between two decodes.
 * ERR_BUSY: another process holds the counters. On failure nothing is held. */
enum status pm_session_start(struct pm_session *s, const struct cupti_api *cupti,
                             const struct pm_pack *pack, size_t device, const char *chip,
                             const uint8_t *availability, double rate_hz,
                             uint32_t samples_per_decode, struct error *err);

/* Decodes what has arrived and gives it out, oldest first; the first sample after a start, and
 * samples that do not lie after the one before, are dropped. Where counters can come late
 * (pack->late) the newest sample is held back until the next decode, and the first one of an
 * emptied image dropped. *overflow: the hardware buffer ran full; what was decoded was given out,
 * and the session must be stopped and started again. */
enum status pm_session_decode(struct pm_session *s, const struct pm_sample_sink *sink,
                              bool *overflow, struct error *err);

/* Lets go of the counters. Accepts a zeroed session. */
void pm_session_stop(struct pm_session *s);

#endif
