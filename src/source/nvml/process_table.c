/* SPDX-License-Identifier: MIT */
#include "source/nvml/process_table.h"

#include <math.h>
#include <stdlib.h>

/* Lists grow between two calls: room is asked for with a margin, and some tries are made. */
enum { ROOM_FIRST = 32, ROOM_MAX = 1 << 16, TRIES = 5 };

typedef nvmlReturn_t running_call(nvmlDevice_t dev, unsigned *count, struct nvml_process *list);

static struct process_row *find(const struct process_table *t, unsigned pid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].pid == pid)
            return &t->rows[i];
    return NULL;
}

/* A process in both lists has the same memory in both. */
static void merge(struct process_table *t, const struct nvml_process *p)
{
    double memory = p->usedGpuMemory == NVML_NOT_AVAILABLE ? NAN : (double)p->usedGpuMemory;
    struct process_row *row = find(t, p->pid);
    if (row)
        row->memory_bytes = fmax(row->memory_bytes, memory);
    else
        t->rows[t->n++] = (struct process_row){.pid = p->pid, .memory_bytes = memory, .sm = NAN};
}

/* Room for a list that needs count entries, with a margin; 0 = that cannot be true. */
static unsigned room_for(unsigned count)
{
    return count < ROOM_MAX ? count + count / 4 + ROOM_FIRST : 0;
}

/* Memory for room elements instead of those at *array, whose content is lost. */
static nvmlReturn_t renew(void **array, unsigned room, size_t size)
{
    free(*array);
    *array = room ? calloc(room, size) : NULL;
    return *array ? NVML_SUCCESS : NVML_ERROR_MEMORY;
}

static nvmlReturn_t add_running(struct process_table *t, running_call *call, nvmlDevice_t dev)
{
    if (!call)
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    struct nvml_process *list = NULL;
    unsigned room = ROOM_FIRST, count = 0;
    nvmlReturn_t rc = NVML_ERROR_INSUFFICIENT_SIZE;
    for (int i = 0; i < TRIES && rc == NVML_ERROR_INSUFFICIENT_SIZE; i++) {
        rc = renew((void **)&list, room, sizeof *list);
        count = room;
        if (rc == NVML_SUCCESS)
            rc = call(dev, &count, list);
        if (rc == NVML_SUCCESS && count > room)
            rc = NVML_ERROR_UNKNOWN;
        room = room_for(count);
    }
    struct process_row *grown = NULL;
    if (rc == NVML_SUCCESS && count > 0) {
        grown = realloc(t->rows, (t->n + count) * sizeof *grown);
        rc = grown ? rc : NVML_ERROR_MEMORY;
    }
    if (grown)
        t->rows = grown;
    for (unsigned i = 0; grown && i < count; i++)
        merge(t, &list[i]);
    free(list);
    return rc;
}

static int by_pid(const void *a, const void *b)
{
    const struct process_row *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

nvmlReturn_t process_table_fill(struct process_table *t, const struct nvml_api *api,
                                nvmlDevice_t dev, const char **call)
{
    *call = "nvmlDeviceGetComputeRunningProcesses_v3";
    nvmlReturn_t rc = add_running(t, api->nvmlDeviceGetComputeRunningProcesses_v3, dev);
    if (rc == NVML_SUCCESS) {
        *call = "nvmlDeviceGetGraphicsRunningProcesses_v3";
        rc = add_running(t, api->nvmlDeviceGetGraphicsRunningProcesses_v3, dev);
        /* GPUs that draw nothing need not know the call */
        if (nvml_status(rc) == ERR_UNSUPPORTED)
            rc = NVML_SUCCESS;
    }
    if (rc)
        process_table_fini(t);
    else if (t->n > 1)
        qsort(t->rows, t->n, sizeof *t->rows, by_pid);
    return rc;
}

void process_table_fini(struct process_table *t)
{
    free(t->rows);
    *t = (struct process_table){0};
}

/* Values above 100 % were seen, with drivers that had nothing to tell. */
static void take_use(struct process_table *t, unsigned pid, uint64_t stamp_us, unsigned percent,
                     uint64_t since_us)
{
    struct process_row *row = find(t, pid);
    if (!row || stamp_us < since_us || stamp_us < row->sm_stamp_us)
        return;
    row->sm_stamp_us = stamp_us;
    row->sm = percent <= 100 ? percent / 100.0 : NAN;
}

/* The call that works on Blackwell too (the older one gives 0 there). */
static nvmlReturn_t use_new(struct process_table *t, const struct nvml_api *api, nvmlDevice_t dev,
                            uint64_t since_us)
{
    if (!api->nvmlDeviceGetProcessesUtilizationInfo)
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    struct nvml_process_utilization *list = NULL;
    struct nvml_processes_utilization u = {0};
    unsigned room = ROOM_FIRST;
    nvmlReturn_t rc = NVML_ERROR_INSUFFICIENT_SIZE;
    for (int i = 0; i < TRIES && rc == NVML_ERROR_INSUFFICIENT_SIZE; i++) {
        rc = renew((void **)&list, room, sizeof *list);
        u = (struct nvml_processes_utilization){.version = NVML_PROCESSES_UTILIZATION_V1,
                                                .processSamplesCount = room,
                                                .lastSeenTimeStamp = since_us,
                                                .procUtilArray = list};
        if (rc == NVML_SUCCESS)
            rc = api->nvmlDeviceGetProcessesUtilizationInfo(dev, &u);
        if (rc == NVML_SUCCESS && u.processSamplesCount > room)
            rc = NVML_ERROR_UNKNOWN;
        room = room_for(u.processSamplesCount);
    }
    for (unsigned i = 0; rc == NVML_SUCCESS && i < u.processSamplesCount; i++)
        take_use(t, list[i].pid, list[i].timeStamp, list[i].smUtil, since_us);
    free(list);
    return rc;
}

static nvmlReturn_t use_old(struct process_table *t, const struct nvml_api *api, nvmlDevice_t dev,
                            uint64_t since_us)
{
    if (!api->nvmlDeviceGetProcessUtilization)
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    struct nvml_process_sample *list = NULL;
    unsigned room = ROOM_FIRST, count = 0;
    nvmlReturn_t rc = NVML_ERROR_INSUFFICIENT_SIZE;
    for (int i = 0; i < TRIES && rc == NVML_ERROR_INSUFFICIENT_SIZE; i++) {
        rc = renew((void **)&list, room, sizeof *list);
        count = room;
        if (rc == NVML_SUCCESS)
            rc = api->nvmlDeviceGetProcessUtilization(dev, list, &count, since_us);
        if (rc == NVML_SUCCESS && count > room)
            rc = NVML_ERROR_UNKNOWN;
        room = room_for(count);
    }
    for (unsigned i = 0; rc == NVML_SUCCESS && i < count; i++)
        take_use(t, list[i].pid, list[i].timeStamp, list[i].smUtil, since_us);
    free(list);
    return rc;
}

nvmlReturn_t process_table_use(struct process_table *t, const struct nvml_api *api,
                               nvmlDevice_t dev, uint64_t since_us, const char **call)
{
    *call = "nvmlDeviceGetProcessesUtilizationInfo";
    nvmlReturn_t rc = use_new(t, api, dev, since_us);
    if (nvml_status(rc) == ERR_UNSUPPORTED) {
        *call = "nvmlDeviceGetProcessUtilization";
        rc = use_old(t, api, dev, since_us);
    }
    return rc;
}
