/* SPDX-License-Identifier: MIT */
/* Fake libcuda: start, finding GPUs, and who they are. */
#include <stdio.h>
#include <string.h>

#include "fake_cuda.h"
#include "identity.h"

static bool initialised;

int fake_cuda_initialised(void)
{
    return initialised;
}

CUresult cuda_begin(const char *function)
{
    int planned = script_enter(function);
    if (planned)
        return planned;
    return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuInit(unsigned flags)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!script_cuda_gpu(0))
        return CUDA_ERROR_NO_DEVICE;
    initialised = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    *version = (int)script_number(NULL, "cuda_version", 0);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult rc, const char **text)
{
    switch (rc) {
    case CUDA_SUCCESS:
        *text = "CUDA_SUCCESS";
        return CUDA_SUCCESS;
#define X(name, number, status)                                                                    \
    case number:                                                                                   \
        *text = "CUDA_ERROR_" #name;                                                               \
        return CUDA_SUCCESS;
        CUDA_RESULTS(X)
#undef X
    default:
        *text = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuGetErrorString(CUresult rc, const char **text)
{
    const char *name = NULL;
    CUresult known = cuGetErrorName(rc, &name);
    *text = known == CUDA_SUCCESS ? "fake: words of the driver" : NULL;
    return known;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult rc = cuda_begin(__func__);
    if (rc)
        return rc;
    *count = 0;
    while (script_cuda_gpu(*count))
        ++*count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
    CUresult rc = cuda_begin(__func__);
    if (rc)
        return rc;
    if (ordinal < 0 || !script_cuda_gpu(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = ordinal;
    return CUDA_SUCCESS;
}

static CUresult begin_device(const char *function, CUdevice dev, const struct gpu **gpu)
{
    CUresult rc = cuda_begin(function);
    if (rc)
        return rc;
    *gpu = dev < 0 ? NULL : script_cuda_gpu(dev);
    return *gpu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice dev)
{
    const struct gpu *gpu = NULL;
    CUresult rc = begin_device(__func__, dev, &gpu);
    if (rc == CUDA_SUCCESS)
        snprintf(name, (size_t)size, "%s", script_text(gpu, "name", ""));
    return rc;
}

CUresult cuDeviceGetUuid_v2(struct cuda_uuid *uuid, CUdevice dev)
{
    const struct gpu *gpu = NULL;
    CUresult rc = begin_device(__func__, dev, &gpu);
    if (rc)
        return rc;
    char text[96];
    identity_uuid(gpu, text, sizeof text);
    const char *digits = strchr(text, '-'); /* behind "GPU" */
    for (size_t i = 0; digits && i < sizeof uuid->bytes; i++) {
        digits += strspn(digits, "-");
        unsigned byte = 0;
        if (sscanf(digits, "%2x", &byte) != 1)
            return CUDA_ERROR_UNKNOWN;
        uuid->bytes[i] = (char)byte;
        digits += 2;
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice dev)
{
    const struct gpu *gpu = NULL;
    CUresult rc = begin_device(__func__, dev, &gpu);
    if (rc)
        return rc;
    struct pci_address a = identity_pci(gpu);
    snprintf(id, (size_t)size, "%04x:%02x:%02x.0", a.domain, a.bus, a.device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, enum cuda_attribute which, CUdevice dev)
{
    const struct gpu *gpu = NULL;
    CUresult rc = begin_device(__func__, dev, &gpu);
    if (rc)
        return rc;
    int major = 0, minor = 0;
    sscanf(script_text(gpu, "capability", ""), "%d.%d", &major, &minor);
    struct pci_address a = identity_pci(gpu);
    char key[32];
    snprintf(key, sizeof key, "attribute.%d", (int)which);
    double x = script_number(gpu, key, -1);
    switch (which) {
    case CUDA_ATTRIBUTE_PCI_DOMAIN_ID:
        *value = (int)a.domain;
        break;
    case CUDA_ATTRIBUTE_PCI_BUS_ID:
        *value = (int)a.bus;
        break;
    case CUDA_ATTRIBUTE_PCI_DEVICE_ID:
        *value = (int)a.device;
        break;
    case CUDA_ATTRIBUTE_CAPABILITY_MAJOR:
        *value = major;
        break;
    case CUDA_ATTRIBUTE_CAPABILITY_MINOR:
        *value = minor;
        break;
    default:
        *value = (int)x;
        return x < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    const struct gpu *gpu = NULL;
    CUresult rc = begin_device(__func__, dev, &gpu);
    if (rc == CUDA_SUCCESS)
        *bytes = (size_t)script_number(gpu, "memory", 0);
    return rc;
}
