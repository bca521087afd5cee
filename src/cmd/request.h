/* SPDX-License-Identifier: MIT */
/* What to sample: the common options --gpu, --backend, --rate, --set, --metric, --cupti,
 * --nsys, --metrics-set, --replay. */
#ifndef SMEFF_CMD_REQUEST_H
#define SMEFF_CMD_REQUEST_H

#include "cmd/cmd.h"
#include "source/source.h"

enum backend { BACKEND_AUTO, BACKEND_PM, BACKEND_GPM, BACKEND_NVML, BACKEND_NSYS };

/* nsys does not promise captures over five minutes
 * (https://docs.nvidia.com/nsight-systems/UserGuide/). */
enum { NSYS_CAPTURE_MAX_S = 300 };

struct request {
    enum backend backend;
    double rate_hz; /* 0 = default */
    enum source_set set;
    enum metric extra[METRIC_COUNT];
    size_t n_extra;
    const char *metric_list, *cupti_dir; /* as given; NULL = not */
    const char *uuids[SOURCE_GPUS_MAX];  /* point into uuid_text */
    size_t n_uuids;
    unsigned gpus[SOURCE_GPUS_MAX];
    size_t n_gpus; /* neither index nor UUID = all */
    char gpu_text[1024];
    const char *replay; /* a recording instead of a card; NULL = a card */
    double speed;       /* of it; 0 = as it was */
    bool loop;
    const char *nsys, *metrics_set, *keep_dir; /* as given; NULL = not */
    double window_s;                           /* of a capture of nsys; 0 = default */
    bool once;                                 /* one capture of nsys */
    /* not from options: */
    double gpm_hz;  /* how often to read GPM, whatever else there is; 0 = as live.c thinks best */
    bool no_nsys;   /* auto: not nsys instead of the others */
    bool no_doubts; /* do not mark what a self-test found wrong */
};

/* The text of ERR_USAGE says which option is wrong, and what it may be. */
enum status request_parse(const struct options *o, struct request *out, struct error *err);

/* SECONDS, as every command that takes them does: more than 0, at most a day. */
enum status request_check_seconds(double seconds, struct error *err);

/* For --gpu of a process that serves several GPUs: the indices that were asked for; "" when all or
 * UUIDs were. */
void request_gpu_list(const struct request *r, char *dst, size_t size);

/* Is this GPU wanted? uuid "" = not known yet. */
bool request_wants(const struct request *r, unsigned index, const char *uuid);

#endif
