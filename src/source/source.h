/* SPDX-License-Identifier: MIT */
/* What a live source provides, and its contract. A source runs in a sampler process of its own
 * (smeff re-executed): it may load vendor libraries, block in them, crash or hang; that costs one
 * restart. It never includes another source. */
#ifndef SMEFF_SOURCE_SOURCE_H
#define SMEFF_SOURCE_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "event/event.h"

enum { SOURCE_GPUS_MAX = 64 };

/* A source that has nothing to say says so once in this time. */
#define SOURCE_BEAT_NS INT64_C(500000000)

enum source_set { SET_CORE, SET_WIDE };

/* What is wanted. Strings and lists belong to the caller and live as long as the source. */
struct source_request {
    const unsigned *gpus; /* indices in the order of PCI bus ids, as nvidia-smi and NVML count */
    size_t n_gpus;        /* 0 = all */
    double rate_hz;       /* 0 = the source's own */
    enum source_set set;
    const enum metric *extra; /* metrics beyond the set */
    size_t n_extra;
    const char *cupti_dir; /* the folder to take CUPTI from; NULL = search */
    const char *file;      /* of replay: the recording */
    double speed;          /* of replay: so many times as fast; 0 = as it was */
    bool loop;             /* of replay: again and again */
    /* for nsys alone: */
    const char *nsys;        /* the program, or its name; NULL = search */
    const char *metrics_set; /* an alias or file:PATH; NULL = the one for the chip */
    double window_s;         /* length of a capture; 0 = the source's own */
    bool once;               /* one capture, then end with OK */
    const char *keep_dir;    /* where reports and exports are kept; NULL = nowhere */
};

/* Raised by a signal handler: return soon. */
struct source_stop {
    volatile sig_atomic_t raised;
};

/* A source embeds this as its first member. */
struct source {
    const struct source_ops *ops;
};

/* All functions are called from one thread. A text in err is one line for people, and names what to
 * do about it where that is known. */
struct source_ops {
    const char *name; /* "pm": also the value of --backend */
    enum source_id id;

    /* Mandatory. The catalogue metrics that this source can give at all: a plan has a series for
     * each of them, in the order of the catalogue, whatever its state; so a plan keeps its length.
     */
    bool (*covers)(enum metric m);

    /* Mandatory. Loads what it needs and takes hold of the GPUs. On success *out is the caller's:
     * close. Errors: ERR_NO_GPU no driver or no such GPU; ERR_PERMISSION; ERR_BUSY another process
     * holds the counters (try again later); ERR_NOT_FOUND a library is missing; ERR_UNSUPPORTED
     * never on this machine; others: try again. */
    enum status (*open)(struct source **out, const struct source_request *request,
                        struct error *err);

    /* Mandatory. Sends for each GPU its identity and its plan, and as notes what was chosen (a
     * library's path and version, say). Called once after open. */
    enum status (*describe)(struct source *s, const struct event_sink *sink, struct error *err);

    /* Mandatory. Sends samples until stop is raised (then OK), sends anything (EVENT_BEAT if need
     * be) at least once a second, and the plan again when a state changes. Fails when it cannot go
     * on; the sampler then ends and is started anew. */
    enum status (*run)(struct source *s, const struct event_sink *sink,
                       const struct source_stop *stop, struct error *err);

    /* Mandatory. Lets go of everything. Accepts NULL. */
    void (*close)(struct source *s);
};

/* Is GPU index wanted? */
bool source_wants(const struct source_request *request, unsigned gpu);

/* The plan of a source that could not be opened: every metric that it covers, with the state that
 * the status means (busy, no_permission, unsupported, failed) and the reason. */
enum status source_describe_failure(const struct source_ops *ops, unsigned gpu,
                                    const struct error *why, const struct event_sink *sink,
                                    struct error *err);

/* busy, no_permission, unsupported or failed. */
enum value_state source_state_of(enum status status);

/* "still alive" */
enum status source_beat(const struct event_sink *sink, struct error *err);

/* Waits until CLOCK_MONOTONIC has the given nanoseconds or stop is raised, with a beat at least
 * once a second. */
enum status source_wait(int64_t monotonic_ns, const struct event_sink *sink,
                        const struct source_stop *stop, struct error *err);

/* Sleeps until CLOCK_MONOTONIC has the given nanoseconds, or stop is raised; returns false then. */
bool source_sleep_until(int64_t monotonic_ns, const struct source_stop *stop);

#endif
