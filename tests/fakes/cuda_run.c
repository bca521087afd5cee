/* SPDX-License-Identifier: MIT */
/* Fake libcuda: what running a load needs. GPU memory is host memory, copies happen at once,
 * kernels and graphs do nothing. */
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

struct CUevent_st {
    int64_t t_ns;
};

/* Objects without state; their addresses are the handles. */
static char context, module, function, graph, graph_exec;

static CUresult give(const char *name, void *out, const void *handle)
{
    CUresult rc = cuda_begin(name);
    if (rc == CUDA_SUCCESS)
        memcpy(out, &handle, sizeof handle);
    return rc;
}

static CUresult allocate(const char *name, void *out, size_t bytes)
{
    CUresult rc = cuda_begin(name);
    if (rc)
        return rc;
    void *memory = calloc(1, bytes);
    memcpy(out, &memory, sizeof memory);
    return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(const char *name, void *memory)
{
    CUresult rc = cuda_begin(name);
    if (rc == CUDA_SUCCESS)
        free(memory);
    return rc;
}

static void *at(CUdeviceptr ptr)
{
    return (void *)(uintptr_t)ptr;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
    (void)dev;
    return give(__func__, ctx, &context);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    (void)dev;
    return cuda_begin(__func__);
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    (void)ctx;
    return cuda_begin(__func__);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult rc = cuda_begin(__func__);
    if (rc)
        return rc;
    const struct gpu *gpu = script_cuda_gpu(0);
    *total_bytes = (size_t)script_number(gpu, "memory", 0);
    *free_bytes = *total_bytes - (size_t)script_number(gpu, "memory.used", 0);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
    return allocate(__func__, ptr, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
    return release(__func__, at(ptr));
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(__func__, ptr, bytes);
}

CUresult cuMemFreeHost(void *ptr)
{
    return release(__func__, ptr);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    (void)stream;
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        memcpy(at(dst), src, bytes);
    return rc;
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    (void)stream;
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        memcpy(dst, at(src), bytes);
    return rc;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    (void)stream;
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        memmove(at(dst), at(src), bytes);
    return rc;
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream stream)
{
    (void)stream;
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        memset(at(dst), value, bytes);
    return rc;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    return allocate(__func__, stream, 1);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return cuda_begin(__func__);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    return release(__func__, stream);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    (void)stream, (void)mode;
    return cuda_begin(__func__);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out)
{
    (void)stream;
    return give(__func__, out, &graph);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    return allocate(__func__, event, sizeof **event);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    (void)stream;
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        event->t_ns = script_now_ns();
    return rc;
}

CUresult cuEventSynchronize(CUevent event)
{
    (void)event;
    return cuda_begin(__func__);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        *milliseconds = (float)((double)(end->t_ns - start->t_ns) * 1e-6);
    return rc;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    return release(__func__, event);
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, int *options,
                            void **values)
{
    (void)n, (void)options, (void)values;
    return image ? give(__func__, out, &module) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleUnload(CUmodule m)
{
    (void)m;
    return cuda_begin(__func__);
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
    (void)m;
    return *name ? give(__func__, out, &function) : CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
    (void)f, (void)attribute, (void)value;
    return cuda_begin(__func__);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int block_size,
                                                     size_t shared_bytes)
{
    (void)f, (void)shared_bytes;
    CUresult rc = cuda_begin(__func__);
    if (rc == CUDA_SUCCESS)
        *blocks = block_size > 0 ? 2048 / block_size : 0;
    return rc;
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra)
{
    (void)f, (void)shared_bytes, (void)stream, (void)params, (void)extra;
    CUresult rc = cuda_begin(__func__);
    bool empty = !grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z;
    return rc ? rc : empty ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph g, unsigned long long flags)
{
    (void)g, (void)flags;
    return give(__func__, exec, &graph_exec);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    (void)exec, (void)stream;
    return cuda_begin(__func__);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    (void)exec;
    return cuda_begin(__func__);
}

CUresult cuGraphDestroy(CUgraph g)
{
    (void)g;
    return cuda_begin(__func__);
}
