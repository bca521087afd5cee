/* SPDX-License-Identifier: MIT */
/* The one stream that every source speaks and every reader reads. Here are its events as C
 * structures; pointers in them belong to the sender and live until push() returns. */
#ifndef SMEFF_EVENT_EVENT_H
#define SMEFF_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metric/metric.h"
#include "metric/value.h"

enum { EVENT_SCHEMA = 1 };

enum event_kind {
    EVENT_HELLO,     /* first of a stream */
    EVENT_GPU,       /* a GPU's identity */
    EVENT_PLAN,      /* what a source gives for a GPU; sent again whenever a state changes */
    EVENT_SAMPLES,   /* a batch of samples of one GPU and source, in columns */
    EVENT_PROCESSES, /* who uses a GPU now */
    EVENT_SERVER,    /* what an inference server says of itself now */
    EVENT_NOTE,      /* one line for people */
    EVENT_BEAT,      /* "still alive": a source that has nothing to say says this */
    EVENT_END,       /* last of a stream */
};

struct event_hello {
    int schema;       /* EVENT_SCHEMA */
    const char *tool; /* who measured: "nsys 2025.3.1" */
    const char *host; /* "" when not known */
    bool is_replay;   /* of a recording that is played: nothing of it happens here and now */
};

struct event_gpu {
    unsigned gpu;                             /* number of the GPU within this stream */
    const char *name, *uuid, *chip, *pci_bus; /* "" when not known */
};

/* One series of a plan. Its index in the plan is what samples refer to. */
struct plan_series {
    int metric;             /* enum metric, or METRIC_NONE for one that is not in the catalogue */
    const char *name;       /* key, or the source's own name when metric is METRIC_NONE */
    enum unit unit;         /* of the samples; UNIT_COUNT when the source's unit is in its name */
    enum value_state state; /* ok and suspect have samples; the others none */
    const char *reason;     /* "" when ok */
    const char *counter;    /* what stands behind it at the source; "" = nothing */
    double resolution;      /* step of the values in the same unit; 0 = finer than shown */
};

struct event_plan {
    unsigned gpu;
    enum source_id source;
    double rate_hz; /* samples a second as planned or found; 0 = not known */
    size_t n;
    const struct plan_series *series;
};

struct event_samples {
    unsigned gpu;
    enum source_id source;
    size_t n;                     /* samples, oldest first */
    const int64_t *t0_ns, *t1_ns; /* UNIX time; sample i covers t0_ns[i] up to t1_ns[i] */
    size_t columns;
    const uint32_t *series; /* series[c] = index in the plan of this GPU and source */
    const double *values;   /* value of column c, sample i: values[c * stride + i]; NaN = none */
    size_t stride;          /* >= n */
};

struct event_process {
    int64_t pid;
    const char *name;        /* "" when not known */
    double gpu_memory_bytes; /* NaN when the driver does not tell */
    double sm_utilization;   /* share of time, by the driver; NaN when it does not tell */
};

struct event_processes {
    unsigned gpu;
    size_t n;
    const struct event_process *list;
};

struct event_server_metric {
    enum metric metric; /* of SCOPE_SERVER */
    enum value_state state;
    double v;              /* NaN unless the state has a number */
    const char *reason;    /* "" when ok */
    const char *series;    /* what stands behind it at the server; "" = nothing */
    const char *freshness; /* "steps", …: when the server renews it; "" = at once, or nothing */
};

struct event_server {
    const char *url;   /* as it was named or found: the server's name within this stream */
    const char *kind;  /* "vllm", "llama.cpp", …; "" when not known */
    const char *model; /* "" when not known */
    int64_t pid;       /* of the process that listens; 0 when not known */
    bool is_local;     /* of this machine, and none of its GPUs is left out of this stream */
    size_t n_gpu_pids;
    const int64_t *gpu_pids; /* processes on GPUs that are the server's: itself or its relatives */
    enum value_state state;  /* of its last answer; ok: metrics */
    const char *reason;      /* "" when ok */
    bool is_gone;         /* not watched any more: the last event of this URL, unless it returns */
    int64_t t0_ns, t1_ns; /* UNIX time: what rates and means cover; equal = no window yet */
    size_t n;
    const struct event_server_metric *metrics;
};

enum note_level { NOTE_INFO, NOTE_WARNING, NOTE_ERROR };

struct event_note {
    enum note_level level;
    int gpu; /* -1 = the whole stream */
    const char *text;
};

struct event_end {
    enum status status; /* OK = regular end */
    const char *reason; /* "" when OK */
};

struct event {
    enum event_kind kind;
    union {
        struct event_hello hello;
        struct event_gpu gpu;
        struct event_plan plan;
        struct event_samples samples;
        struct event_processes processes;
        struct event_server server;
        struct event_note note;
        struct event_end end;
    } u;
};

/* Who takes events. push copies what it keeps; a failure stops the sender, which passes it on. */
struct event_sink {
    enum status (*push)(void *self, const struct event *event, struct error *err);
    void *self;
};

enum status event_push(const struct event_sink *sink, const struct event *event, struct error *err);

/* Formats and pushes a note. gpu -1 = the whole stream. */
__attribute__((format(printf, 5, 6))) enum status event_push_note(const struct event_sink *sink,
                                                                  enum note_level level, int gpu,
                                                                  struct error *err,
                                                                  const char *fmt, ...);

const char *note_level_name(enum note_level level);

#endif
