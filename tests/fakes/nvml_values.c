/* SPDX-License-Identifier: MIT */
/* Fake libnvidia-ml: the values of a GPU, and its processes. */
#include "fake_nvml.h"

#include <stdio.h>
#include <string.h>

static nvmlReturn_t number(const char *function, nvmlDevice_t dev, const char *selector, double *x)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(function, dev, &gpu);
    return rc ? rc : nvml_number(function, selector, gpu, x);
}

static nvmlReturn_t get_uint(const char *function, nvmlDevice_t dev, const char *selector,
                             unsigned *out)
{
    double x = 0;
    nvmlReturn_t rc = number(function, dev, selector, &x);
    if (rc == NVML_SUCCESS)
        *out = (unsigned)x;
    return rc;
}

static nvmlReturn_t get_ullong(const char *function, nvmlDevice_t dev, const char *selector,
                               unsigned long long *out)
{
    double x = 0;
    nvmlReturn_t rc = number(function, dev, selector, &x);
    if (rc == NVML_SUCCESS)
        *out = (unsigned long long)x;
    return rc;
}

/* Functions of a GPU that give one number and take nothing. */
#define X(name)                                                                                    \
    nvmlReturn_t name(nvmlDevice_t dev, unsigned *out)                                             \
    {                                                                                              \
        return get_uint(#name, dev, NULL, out);                                                    \
    }
X(nvmlDeviceGetArchitecture)
X(nvmlDeviceGetNumGpuCores)
X(nvmlDeviceGetMemoryBusWidth)
X(nvmlDeviceGetPersistenceMode)
X(nvmlDeviceGetPowerUsage)
X(nvmlDeviceGetEnforcedPowerLimit)
X(nvmlDeviceGetPowerManagementLimit)
X(nvmlDeviceGetNumFans)
X(nvmlDeviceGetCurrPcieLinkGeneration)
X(nvmlDeviceGetMaxPcieLinkGeneration)
X(nvmlDeviceGetCurrPcieLinkWidth)
X(nvmlDeviceGetMaxPcieLinkWidth)
X(nvmlDeviceGetMaxMigDeviceCount)
#undef X

#define X(name)                                                                                    \
    nvmlReturn_t name(nvmlDevice_t dev, unsigned long long *out)                                   \
    {                                                                                              \
        return get_ullong(#name, dev, NULL, out);                                                  \
    }
X(nvmlDeviceGetTotalEnergyConsumption)
X(nvmlDeviceGetCurrentClocksEventReasons)
X(nvmlDeviceGetCurrentClocksThrottleReasons)
#undef X

/* Functions that take one number more, which the script may tell apart by FUNCTION.NUMBER. */
#define X(name, type)                                                                              \
    nvmlReturn_t name(nvmlDevice_t dev, type which, unsigned *out)                                 \
    {                                                                                              \
        char selector[16];                                                                         \
        snprintf(selector, sizeof selector, "%u", (unsigned)which);                                \
        return get_uint(#name, dev, selector, out);                                                \
    }
X(nvmlDeviceGetTemperature, enum nvml_sensor)
X(nvmlDeviceGetClockInfo, enum nvml_clock)
X(nvmlDeviceGetMaxClockInfo, enum nvml_clock)
X(nvmlDeviceGetFanSpeed_v2, unsigned)
X(nvmlDeviceGetPcieThroughput, enum nvml_pcie_counter)
X(nvmlDeviceGetNvLinkState, unsigned)
#undef X

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t dev, enum nvml_virtualization *mode)
{
    unsigned x = 0;
    nvmlReturn_t rc = get_uint(__func__, dev, NULL, &x);
    if (rc == NVML_SUCCESS)
        *mode = (enum nvml_virtualization)x;
    return rc;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t dev, enum nvml_ecc_error error,
                                         enum nvml_ecc_counter counter, unsigned long long *count)
{
    char selector[16];
    snprintf(selector, sizeof selector, "%u.%u", (unsigned)error, (unsigned)counter);
    return get_ullong(__func__, dev, selector, count);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t dev, struct nvml_utilization *u)
{
    const struct gpu *gpu = NULL;
    double busy = 0, memory = 0;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc == NVML_SUCCESS)
        rc = nvml_number(__func__, NULL, gpu, &busy);
    if (rc == NVML_SUCCESS)
        rc = nvml_number(__func__, "memory", gpu, &memory);
    if (rc == NVML_SUCCESS)
        *u = (struct nvml_utilization){(unsigned)busy, (unsigned)memory};
    return rc;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t dev, struct nvml_memory_v2 *memory)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    if (memory->version != NVML_MEMORY_V2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = (unsigned long long)script_number(gpu, "memory", 0);
    memory->used = (unsigned long long)script_number(gpu, "memory.used", 0);
    memory->reserved = (unsigned long long)script_number(gpu, "memory.reserved", 0);
    memory->free = memory->total - memory->used - memory->reserved;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t dev, struct nvml_memory *memory)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    memory->total = (unsigned long long)script_number(gpu, "memory", 0);
    memory->used = (unsigned long long)(script_number(gpu, "memory.used", 0) +
                                        script_number(gpu, "memory.reserved", 0));
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t dev, struct nvml_temperature *t)
{
    double x = 0;
    nvmlReturn_t rc = number(__func__, dev, NULL, &x);
    if (rc)
        return rc;
    if (t->version != NVML_TEMPERATURE_V1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    t->temperature = (int)x;
    return NVML_SUCCESS;
}

/* field.ID or field.ID.SCOPE. Memory temperature comes as 32 bits, everything else as 64. */
static void get_field(const struct gpu *gpu, struct nvml_field_value *v)
{
    char key[32], scope[16];
    snprintf(key, sizeof key, "field.%u", v->fieldId);
    snprintf(scope, sizeof scope, "%u", v->scopeId);
    double x = 0;
    v->timestamp = script_now_ns() / 1000;
    v->latencyUsec = 0;
    v->nvmlReturn = nvml_number(key, scope, gpu, &x);
    if (v->nvmlReturn != NVML_SUCCESS)
        return;
    v->value.ullVal = 0;
    if (v->fieldId == NVML_FIELD_MEMORY_TEMP || v->fieldId == NVML_FIELD_POWER_AVERAGE ||
        v->fieldId == NVML_FIELD_POWER_INSTANT) {
        v->valueType = NVML_TYPE_UINT;
        v->value.uiVal = (unsigned)x;
    } else {
        v->valueType = NVML_TYPE_ULLONG;
        v->value.ullVal = (unsigned long long)x;
    }
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t dev, int n, struct nvml_field_value *values)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    for (int i = 0; rc == NVML_SUCCESS && i < n; i++)
        get_field(gpu, &values[i]);
    return rc;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t dev, unsigned *current, unsigned *pending)
{
    nvmlReturn_t rc = get_uint(__func__, dev, NULL, current);
    if (rc == NVML_SUCCESS)
        *pending = *current;
    return rc;
}

/* MIG instances themselves are not modelled. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t dev, unsigned index,
                                                 nvmlDevice_t *mig)
{
    (void)index, (void)mig;
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    return rc ? rc : NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig, unsigned *id)
{
    (void)id;
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, mig, &gpu);
    return rc ? rc : NVML_ERROR_NOT_SUPPORTED;
}
