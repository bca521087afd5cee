/* SPDX-License-Identifier: MIT */
/* What the event of an inference server says, with memory of its own, so that one thread can write
 * it down and another send it. */
#ifndef SMEFF_CMD_SERVERREPORT_H
#define SMEFF_CMD_SERVERREPORT_H

#include "event/event.h"
#include "llm/watch.h"
#include "source/source.h"

enum { REPORT_PIDS_MAX = 64 };

/* The processes on each GPU of the stream, as its events tell them. */
struct on_gpus {
    struct on_gpu {
        int64_t pid[REPORT_PIDS_MAX];
        size_t n;
        bool is_cut; /* there are more */
    } gpu[SOURCE_GPUS_MAX];
};

/* What is known of a server from outside. */
struct server_place {
    char url[TARGET_URL_SIZE]; /* as it was named or found: paths are tried, the name stays */
    int pid;                   /* of the process that listens there; 0 = not known */
    bool holds_no_gpu;         /* as far as we may see; then it is not taken for the only GPU's */
};

/* Which processes on GPUs are a server's. */
struct server_relation {
    size_t n_pids;
    int64_t pids[REPORT_PIDS_MAX];
    bool has_strangers; /* others on GPUs that we can see (ids are the same for all), or too many */
};

struct server_report {
    struct server_place place;
    struct signals signals;
    char model[SCRAPE_MODEL_SIZE];
    enum value_state state;
    char reason[VALUE_REASON_SIZE];
    bool is_front;    /* counts what other processes do, maybe on other machines */
    bool is_loopback; /* reached without a network */
    bool is_gone;     /* watched no more */
    int64_t t0_ns, t1_ns;
    struct server_relation relation;
};

/* Of the process server (0 = not known: none); reads /proc for who started whom. */
void server_relate(struct server_relation *out, int server, const struct on_gpus *on);

void server_report_fill(struct server_report *out, const struct server_place *place,
                        const struct watch_view *v, const struct server_relation *relation);

enum status server_report_push(const struct server_report *r, bool all_gpus,
                               const struct event_sink *sink, struct error *err);

/* pid itself, or somebody who started it, directly or not. */
bool server_descends(int pid, int from);

/* Is there such a process? */
bool server_is_there(int64_t pid);

#endif
