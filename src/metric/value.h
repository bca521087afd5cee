/* SPDX-License-Identifier: MIT */
/* A value is never a bare number: it has a state, a source, a time and, when there is no number,
 * a reason in words. A zeroed struct value is "unsupported", never a 0 that looks measured. */
#ifndef SMEFF_METRIC_VALUE_H
#define SMEFF_METRIC_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, json name, what it means) */
#define VALUE_STATES(X)                                                                            \
    X(UNSUPPORTED, "unsupported", "this source, chip or file does not have it")                    \
    X(OK, "ok", "measured")                                                                        \
    X(WARMING, "warming", "started, no complete reading yet")                                      \
    X(STALE, "stale", "measured, but too long ago")                                                \
    X(NO_PERMISSION, "no_permission", "the driver refuses this user")                              \
    X(BUSY, "busy", "another process holds the counters")                                          \
    X(FAILED, "failed", "asked for, and it went wrong")                                            \
    X(SUSPECT, "suspect", "measured, but a check says that it can be wrong")

enum value_state {
#define X(name, json, text) VALUE_##name,
    VALUE_STATES(X)
#undef X
        VALUE_STATE_COUNT
};

/* X(NAME, json name). Who measured it. */
#define SOURCES(X)                                                                                 \
    X(NONE, "none")                                                                                \
    X(PM, "pm")                                                                                    \
    X(GPM, "gpm")                                                                                  \
    X(NVML, "nvml")                                                                                \
    X(NSYS, "nsys")                                                                                \
    X(SERVER, "server")                                                                            \
    X(DERIVED, "derived")

enum source_id {
#define X(name, json) SOURCE_##name,
    SOURCES(X)
#undef X
        SOURCE_COUNT
};

enum { VALUE_REASON_SIZE = 200 };

struct value {
    double v;     /* in the metric's unit; meaningful only when value_has_number() */
    int64_t t_ns; /* UNIX time at which it was true, nanoseconds */
    enum value_state state;
    enum source_id source;
    char reason[VALUE_REASON_SIZE]; /* "" when the state is ok; printable UTF-8, one line */
};

/* ok, stale and suspect carry a number; the other states never do. */
bool value_has_number(const struct value *v);

/* Only ok: what the judge may build on. */
bool value_is_sound(const struct value *v);

void value_set(struct value *v, enum source_id source, int64_t t_ns, double number);

/* The reason is cleaned (str_clean) and cut to fit. State must not be VALUE_OK. */
__attribute__((format(printf, 4, 5))) void value_set_state(struct value *v, enum source_id source,
                                                           enum value_state state,
                                                           const char *reason, ...);

const char *value_state_name(enum value_state state);
const char *value_state_text(enum value_state state);
const char *source_name(enum source_id source);

#endif
