/* SPDX-License-Identifier: MIT */
/* Who uses a GPU: memory and, where the driver tells, the share of time on the SMs. */
#ifndef SMEFF_SOURCE_NVML_PROCESSES_H
#define SMEFF_SOURCE_NVML_PROCESSES_H

#include "source/nvml/nvml_gpu.h"

/* Sends EVENT_PROCESSES in the order of process ids; when they cannot be listed nothing but a
 * note, the first time. Fails when the source cannot go on. */
enum status nvml_processes_send(struct nvml_gpu *g, const struct nvml_api *api,
                                const struct event_sink *sink, struct error *err);

#endif
