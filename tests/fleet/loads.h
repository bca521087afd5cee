/* SPDX-License-Identifier: MIT */
/* What made-up GPUs play: real recordings, ten seconds each, as tables of values. */
#ifndef SMEFF_TESTS_FLEET_LOADS_H
#define SMEFF_TESTS_FLEET_LOADS_H

#include "base/error.h"
#include "event/event.h"

/* PM samples are put together to five a second; the other sources' are one a second. */
enum { LOADS = 5, LOAD_SECONDS = 10, LOAD_PM_HZ = 5, LOAD_SLOTS_MAX = LOAD_SECONDS * LOAD_PM_HZ };

struct load_source {
    struct plan_series *series; /* owned, with their texts; NULL = the recording lacks the source */
    size_t n;
    size_t slots;                     /* of each series */
    double (*values)[LOAD_SLOTS_MAX]; /* owned; NaN = none */
};

struct load {
    const char *name; /* of the recording */
    char gpu[96], chip[32];
    struct load_source sources[SOURCE_COUNT];
};

/* Of folder/NAME.jsonl.gz; loads has LOADS elements, to be released by loads_fini. */
enum status loads_read(struct load *loads, const char *folder, struct error *err);
void loads_fini(struct load *loads);

#endif
