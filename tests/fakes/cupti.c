/* SPDX-License-Identifier: MIT */
/* Fake libcupti: start, and what it says of a GPU. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fake_cupti.h"

static const char availability_magic[8] = "fakeavl";

static bool profiler_ready;
static bool profiler_ended;

CUptiResult cupti_begin(const char *function, const void *params, size_t size)
{
    int planned = script_enter(function);
    if (planned)
        return planned;
    struct cupti_profiler_initialize head;
    if (!params)
        return CUPTI_ERROR_INVALID_PARAMETER;
    memcpy(&head, params, sizeof head);
    return head.structSize == size && !head.pPriv ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

enum driver { DRIVER_ABSENT, DRIVER_NOT_INITIALISED, DRIVER_READY };

static enum driver driver_state(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!lib)
        return DRIVER_ABSENT;
    int (*initialised)(void) = NULL;
    void *address = dlsym(lib, "fake_cuda_initialised");
    memcpy(&initialised, &address, sizeof address);
    enum driver state = initialised && initialised() ? DRIVER_READY : DRIVER_NOT_INITIALISED;
    dlclose(lib);
    return state;
}

CUptiResult cupti_begin_gpu(const char *function, const void *params, size_t size, size_t device,
                            struct gpu **gpu)
{
    CUptiResult rc = cupti_begin(function, params, size);
    if (rc)
        return rc;
    if (driver_state() != DRIVER_READY)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!profiler_ready)
        return CUPTI_ERROR_NOT_INITIALIZED;
    *gpu = device < SCRIPT_GPUS ? script_cuda_gpu((int)device) : NULL;
    if (!*gpu)
        return CUPTI_ERROR_INVALID_DEVICE;
    return script_holds(*gpu, "lost") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    int planned = script_enter(__func__);
    if (planned)
        return planned;
    *version = (uint32_t)script_number(NULL, "cupti_version", 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    switch (result) {
    case CUPTI_SUCCESS:
        *text = "CUPTI_SUCCESS";
        return CUPTI_SUCCESS;
#define X(name, number, status, words)                                                             \
    case number:                                                                                   \
        *text = "CUPTI_ERROR_" #name;                                                              \
        return CUPTI_SUCCESS;
        CUPTI_RESULTS(X)
#undef X
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text)
{
    return cuptiGetResultString(result, text);
}

CUptiResult cuptiProfilerInitialize(struct cupti_profiler_initialize *p)
{
    CUptiResult rc = cupti_begin(__func__, p, CUPTI_SIZE_profiler_initialize);
    if (rc)
        return rc;
    switch (driver_state()) {
    case DRIVER_ABSENT:
        return CUPTI_ERROR_UNKNOWN;
    case DRIVER_NOT_INITIALISED:
        return CUPTI_ERROR_NOT_INITIALIZED;
    default:
        profiler_ready = true;
        return CUPTI_SUCCESS;
    }
}

CUptiResult cuptiProfilerDeInitialize(struct cupti_profiler_initialize *p)
{
    CUptiResult rc = cupti_begin(__func__, p, CUPTI_SIZE_profiler_initialize);
    if (rc)
        return rc;
    if (profiler_ended) { /* not counted: a second call was seen to crash */
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    profiler_ended = true;
    profiler_ready = false;
    return CUPTI_SUCCESS;
}

static enum cupti_support support(const struct gpu *gpu, const char *member, bool *all)
{
    char key[48];
    snprintf(key, sizeof key, "supported.%s", member);
    double x = script_number(gpu, key, CUPTI_SUPPORT_SUPPORTED);
    *all = *all && (int)x == CUPTI_SUPPORT_SUPPORTED;
    return (enum cupti_support)x;
}

CUptiResult cuptiProfilerDeviceSupported(struct cupti_device_supported *p)
{
    CUptiResult rc = cupti_begin(__func__, p, CUPTI_SIZE_device_supported);
    if (rc)
        return rc;
    if (driver_state() != DRIVER_READY)
        return CUPTI_ERROR_UNKNOWN;
    const struct gpu *gpu = p->cuDevice < 0 ? NULL : script_cuda_gpu(p->cuDevice);
    if (!gpu)
        return CUPTI_ERROR_INVALID_DEVICE;
    bool all = true;
    p->architecture = support(gpu, "architecture", &all);
    p->sli = support(gpu, "sli", &all);
    p->vGpu = support(gpu, "vGpu", &all);
    p->confidentialCompute = support(gpu, "confidentialCompute", &all);
    p->cmp = support(gpu, "cmp", &all);
    p->wsl = support(gpu, "wsl", &all);
    p->isSupported = all ? CUPTI_SUPPORT_SUPPORTED : CUPTI_SUPPORT_UNSUPPORTED;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(struct cupti_chip_name *p)
{
    CUptiResult rc = cupti_begin(__func__, p, CUPTI_SIZE_chip_name);
    if (rc)
        return rc;
    if (driver_state() == DRIVER_ABSENT) { /* as the real one of 13.0.1 does */
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    const struct gpu *gpu =
        p->deviceIndex < SCRIPT_GPUS ? script_cuda_gpu((int)p->deviceIndex) : NULL;
    if (!gpu)
        return CUPTI_ERROR_INVALID_DEVICE;
    p->pChipName = script_text(gpu, "chip", "");
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterAvailability(struct cupti_pm_availability *p)
{
    struct gpu *gpu = NULL;
    CUptiResult rc =
        cupti_begin_gpu(__func__, p, CUPTI_SIZE_pm_availability, p ? p->deviceIndex : 0, &gpu);
    if (rc)
        return rc;
    if (script_holds(gpu, "denied"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    if (!hold_is_free(gpu))
        return CUPTI_ERROR_HARDWARE_BUSY;
    if (!p->pCounterAvailabilityImage) {
        p->counterAvailabilityImageSize = AVAILABILITY_SIZE;
        return CUPTI_SUCCESS;
    }
    if (p->counterAvailabilityImageSize < AVAILABILITY_SIZE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    uint8_t image[AVAILABILITY_SIZE] = {0};
    memcpy(image, availability_magic, sizeof availability_magic);
    image[sizeof availability_magic] = (uint8_t)gpu->index;
    memcpy(p->pCounterAvailabilityImage, image, sizeof image);
    return CUPTI_SUCCESS;
}

struct gpu *cupti_availability_gpu(const uint8_t *image)
{
    if (memcmp(image, availability_magic, sizeof availability_magic) != 0)
        return NULL;
    return script_gpu(image[sizeof availability_magic]);
}
