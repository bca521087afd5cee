/* SPDX-License-Identifier: MIT */
/* The CUDA driver interface as it is in memory on 64-bit Linux: our own declarations of what we
 * use. https://docs.nvidia.com/cuda/cuda-driver-api/ describes the functions. tests/abi compares
 * these declarations with NVIDIA's header. */
#ifndef SMEFF_VENDOR_CUDA_ABI_H
#define SMEFF_VENDOR_CUDA_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUresult; /* an enum of NVIDIA's; numbers that we do not know pass through */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

struct cuda_uuid {
    char bytes[16]; /* NVML's "GPU-…" has these as hex digits */
};
static_assert(sizeof(struct cuda_uuid) == 16, "CUuuid");

enum cuda_attribute {
    CUDA_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
    CUDA_ATTRIBUTE_SM_COUNT = 16,
    CUDA_ATTRIBUTE_INTEGRATED = 18,
    CUDA_ATTRIBUTE_PCI_BUS_ID = 33,
    CUDA_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CUDA_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, /* kHz */
    CUDA_ATTRIBUTE_MEMORY_BUS_WIDTH = 37,  /* bits */
    CUDA_ATTRIBUTE_L2_BYTES = 38,
    CUDA_ATTRIBUTE_THREADS_PER_SM = 39,
    CUDA_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
    CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
    CUDA_ATTRIBUTE_SHARED_PER_SM = 81,
    CUDA_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN = 97,
};

enum {
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_EVENT_DEFAULT = 0,
    CUDA_EVENT_BLOCKING_SYNC = 1,
    CUDA_EVENT_DISABLE_TIMING = 2,
    CUDA_CAPTURE_GLOBAL = 0,
    CUDA_CAPTURE_THREAD_LOCAL = 1,
    CUDA_CAPTURE_RELAXED = 2,
    CUDA_FUNC_MAX_DYNAMIC_SHARED_BYTES = 8, /* for cuFuncSetAttribute */
    CUDA_FUNC_SHARED_CARVEOUT = 9,          /* percent of what L1 and shared memory have together */
    CUDA_JIT_ERROR_LOG = 5,                 /* options of cuModuleLoadDataEx */
    CUDA_JIT_ERROR_LOG_BYTES = 6,
};

/* Prototypes only; the functions are looked up at run time (vendor/cuda_api.h). */
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version); /* 13000 = CUDA 13.0 */
CUresult cuGetErrorName(CUresult rc, const char **text);
CUresult cuGetErrorString(CUresult rc, const char **text);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *dev, int ordinal);
CUresult cuDeviceGetName(char *name, int size, CUdevice dev);
CUresult cuDeviceGetUuid_v2(struct cuda_uuid *uuid, CUdevice dev);
CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice dev);
CUresult cuDeviceGetAttribute(int *value, enum cuda_attribute which, CUdevice dev);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr ptr);
CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags);
CUresult cuMemFreeHost(void *ptr);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream stream);

CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventDestroy_v2(CUevent event);

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, int *options,
                            void **values);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_size, size_t shared_bytes);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphDestroy(CUgraph graph);

#endif
