/* SPDX-License-Identifier: MIT */
/* --gpu for a stream that has all GPUs: of a recording, another host, a daemon's socket. */
#ifndef SMEFF_CMD_GPUFILTER_H
#define SMEFF_CMD_GPUFILTER_H

#include "cmd/request.h"
#include "event/event.h"

/* request and sink live as long as it does. */
struct gpufilter {
    const struct request *request;
    const struct event_sink *sink;
    bool unwanted[SOURCE_GPUS_MAX];
    bool said; /* that there are more than that */
};

/* Passes on what belongs to wanted GPUs, or to none. */
struct event_sink gpufilter_sink(struct gpufilter *f);

#endif
