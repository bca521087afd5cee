/* SPDX-License-Identifier: MIT */
/* Fake libnvidia-ml: the processes of a GPU, from the script's lines
 * process = PID MEMORY_BYTES SM_PERCENT MEMORY_PERCENT [graphics] */
#include "fake_nvml.h"

#include <stdio.h>
#include <string.h>

enum { PROCESSES = 32 };

struct process {
    unsigned pid, sm, memory_percent;
    unsigned long long memory;
    bool graphics;
};

static unsigned list_in(const struct section *section, struct process *list, unsigned n)
{
    for (size_t i = 0; i < section->n && n < PROCESSES; i++) {
        struct process p = {0};
        char kind[16] = "";
        if (strcmp(section->list[i].key, "process") == 0 &&
            sscanf(section->list[i].text, "%u %llu %u %u %15s", &p.pid, &p.memory, &p.sm,
                   &p.memory_percent, kind) >= 4) {
            p.graphics = strcmp(kind, "graphics") == 0;
            list[n++] = p;
        }
    }
    return n;
}

static unsigned list_processes(const struct gpu *gpu, struct process *list)
{
    return list_in(&gpu->own, list, list_in(script_common(), list, 0));
}

static nvmlReturn_t running(const char *function, nvmlDevice_t dev, bool graphics, unsigned *count,
                            struct nvml_process *out)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(function, dev, &gpu);
    if (rc)
        return rc;
    struct process all[PROCESSES];
    unsigned n = list_processes(gpu, all), wanted = 0, room = *count;
    for (unsigned i = 0; i < n; i++) {
        if (all[i].graphics != graphics)
            continue;
        if (wanted < room)
            out[wanted] = (struct nvml_process){all[i].pid, all[i].memory, 0xFFFFFFFF, 0xFFFFFFFF};
        wanted++;
    }
    *count = wanted;
    return wanted > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t dev, unsigned *count,
                                                     struct nvml_process *list)
{
    return running(__func__, dev, false, count, list);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t dev, unsigned *count,
                                                      struct nvml_process *list)
{
    return running(__func__, dev, true, count, list);
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t dev,
                                                   struct nvml_processes_utilization *u)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    if (u->version != NVML_PROCESSES_UTILIZATION_V1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    struct process all[PROCESSES];
    unsigned n = list_processes(gpu, all), room = u->procUtilArray ? u->processSamplesCount : 0;
    u->processSamplesCount = n;
    if (n == 0)
        return NVML_ERROR_NOT_FOUND;
    if (n > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < n; i++)
        u->procUtilArray[i] = (struct nvml_process_utilization){
            .timeStamp = (unsigned long long)script_now_ns() / 1000,
            .pid = all[i].pid,
            .smUtil = all[i].sm,
            .memUtil = all[i].memory_percent,
        };
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t dev, struct nvml_process_sample *list,
                                             unsigned *count, unsigned long long last_seen)
{
    (void)last_seen;
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    struct process all[PROCESSES];
    unsigned n = list_processes(gpu, all), room = list ? *count : 0;
    *count = n;
    if (n == 0)
        return NVML_ERROR_NOT_FOUND;
    if (n > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < n; i++)
        list[i] = (struct nvml_process_sample){
            .pid = all[i].pid,
            .timeStamp = (unsigned long long)script_now_ns() / 1000,
            .smUtil = all[i].sm,
            .memUtil = all[i].memory_percent,
        };
    return NVML_SUCCESS;
}
