/* SPDX-License-Identifier: MIT */
/* Fake libnvidia-ml: start, system, finding GPUs, and who they are. */
#include "fake_nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identity.h"

static int users;

nvmlReturn_t nvml_begin(const char *function, nvmlDevice_t dev, const struct gpu **gpu)
{
    int planned = script_enter(function);
    if (planned)
        return planned;
    if (users == 0)
        return NVML_ERROR_UNINITIALIZED;
    for (unsigned i = 0; i < script_gpus(); i++)
        if ((nvmlDevice_t)script_gpu(i) == dev)
            *gpu = script_gpu(i);
    if (!*gpu)
        return NVML_ERROR_INVALID_ARGUMENT;
    return script_holds(*gpu, "lost") ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t nvml_number(const char *function, const char *selector, const struct gpu *gpu,
                         double *out)
{
    char key[112];
    const struct setting *s = NULL;
    if (selector) {
        snprintf(key, sizeof key, "%s.%s", function, selector);
        s = script_find(gpu, key);
    }
    if (!s)
        s = script_find(gpu, function);
    if (!s)
        return NVML_ERROR_NOT_SUPPORTED;
    if (s->wave.kind == WAVE_ERROR)
        return s->wave.code;
    *out = wave_at(&s->wave, script_now_ns());
    return isnan(*out) ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    users++;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    if (users == 0)
        return NVML_ERROR_UNINITIALIZED;
    users--;
    return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t rc)
{
    switch (rc) {
    case NVML_SUCCESS:
        return "fake: success";
#define X(name, number, status, text)                                                              \
    case number:                                                                                   \
        return "fake: " #name;
        NVML_RESULTS(X)
#undef X
    default:
        return "fake: unknown";
    }
}

static nvmlReturn_t copy(const char *text, char *out, unsigned size)
{
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(text) >= size)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(out, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

static nvmlReturn_t system_text(const char *function, const char *key, char *out, unsigned size)
{
    int planned = script_enter(function);
    if (planned)
        return planned;
    return users ? copy(script_text(NULL, key, ""), out, size) : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    return system_text(__func__, "driver", version, size);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned size)
{
    return system_text(__func__, "nvml_version", version, size);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    *version = (int)script_number(NULL, "cuda_version", 0);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned size)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    char text[64];
    snprintf(text, sizeof text, "fake-process-%u", pid);
    return copy(text, name, size);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    if (users == 0)
        return NVML_ERROR_UNINITIALIZED;
    *count = script_gpus();
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *dev)
{
    const struct gpu *gpu = NULL;
    nvmlDevice_t found = (nvmlDevice_t)script_gpu(index);
    nvmlReturn_t rc = nvml_begin(__func__, found, &gpu);
    if (rc == NVML_SUCCESS)
        *dev = found;
    return rc;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *dev)
{
    nvmlDevice_t found = NULL;
    for (unsigned i = 0; i < script_gpus(); i++) {
        char text[NVML_UUID_SIZE];
        identity_uuid(script_gpu(i), text, sizeof text);
        if (strcmp(text, uuid) == 0)
            found = (nvmlDevice_t)script_gpu(i);
    }
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, found, &gpu);
    if (rc == NVML_SUCCESS)
        *dev = found;
    return rc == NVML_ERROR_INVALID_ARGUMENT ? NVML_ERROR_NOT_FOUND : rc;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *dev)
{
    nvmlDevice_t found = NULL;
    struct pci_address want;
    for (unsigned i = 0; identity_parse_pci(id, &want) && i < script_gpus(); i++) {
        struct pci_address a = identity_pci(script_gpu(i));
        if (a.domain == want.domain && a.bus == want.bus && a.device == want.device)
            found = (nvmlDevice_t)script_gpu(i);
    }
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, found, &gpu);
    if (rc == NVML_SUCCESS)
        *dev = found;
    return rc == NVML_ERROR_INVALID_ARGUMENT ? NVML_ERROR_NOT_FOUND : rc;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t dev, char *name, unsigned size)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    return rc ? rc : copy(script_text(gpu, "name", ""), name, size);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t dev, char *uuid, unsigned size)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    char text[NVML_UUID_SIZE];
    identity_uuid(gpu, text, sizeof text);
    return copy(text, uuid, size);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t dev, struct nvml_pci_info *pci)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    struct pci_address a = identity_pci(gpu);
    *pci = (struct nvml_pci_info){.domain = a.domain, .bus = a.bus, .device = a.device};
    pci->pciDeviceId = 0x233510DE;
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", a.domain & 0xFFFF,
             a.bus & 0xFF, a.device & 0xFF);
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", a.domain, a.bus, a.device);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t dev, int *major, int *minor)
{
    const struct gpu *gpu = NULL;
    nvmlReturn_t rc = nvml_begin(__func__, dev, &gpu);
    if (rc)
        return rc;
    return sscanf(script_text(gpu, "capability", ""), "%d.%d", major, minor) == 2
               ? NVML_SUCCESS
               : NVML_ERROR_NOT_SUPPORTED;
}
