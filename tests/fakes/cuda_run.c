/* SPDX-License-Identifier: MIT */
/* Fake libcuda: what running a load needs. GPU memory is host memory and work is done when it is
 * queued, but it takes time: a stream knows when it will have done all, and an event when it will
 * have happened. */
#include <string.h>
#include <time.h>

#include "cuda_kernels.h"
#include "cuda_objects.h"

enum { INVALID_HANDLE = 400, SHARED_WITHOUT_OPTIN = 48 << 10, NAME_SIZE = 64, FUNCTIONS = 8 };

struct CUctx_st {
    int device;
};

struct CUstream_st {
    int64_t end_ns;
    bool captures;
    unsigned captured; /* kernels */
};

struct CUevent_st {
    int64_t t_ns; /* 0 = not recorded yet */
};

struct CUfunc_st {
    char name[NAME_SIZE];
    int shared; /* that were allowed by cuFuncSetAttribute */
};

struct CUmod_st {
    const char *image;
    struct CUfunc_st functions[FUNCTIONS]; /* that were asked for */
    size_t n;
};

struct CUgraph_st {
    unsigned kernels;
};

struct CUgraphExec_st {
    unsigned kernels;
};

static struct {
    CUcontext context; /* NULL = none */
    unsigned retained;
} primary;

static const struct gpu *current(void)
{
    return primary.context ? script_cuda_gpu(primary.context->device) : NULL;
}

/* Planned faults, and what needs a context without one. */
static CUresult begin(const char *name)
{
    CUresult rc = cuda_begin(name);
    return rc ? rc : primary.context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult give(const char *name, void *out, enum object_kind kind, size_t bytes)
{
    CUresult rc = begin(name);
    if (rc)
        return rc;
    void *object = object_give(kind, bytes);
    if (!object)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(out, &object, sizeof object);
    return CUDA_SUCCESS;
}

static CUresult release(const char *name, enum object_kind kind, void *object)
{
    CUresult rc = begin(name);
    return rc ? rc : object_take(kind, object) ? CUDA_SUCCESS : INVALID_HANDLE;
}

static void *at(CUdeviceptr ptr)
{
    return (void *)(uintptr_t)ptr;
}

/* ---- the context ---- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
    CUresult rc = cuda_begin(__func__);
    if (rc)
        return rc;
    if (!primary.context && !(primary.context = object_give(CONTEXT, sizeof **ctx)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    primary.context->device = dev;
    primary.retained++;
    *ctx = primary.context;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    CUresult rc = begin(__func__);
    if (rc)
        return rc;
    if (dev != primary.context->device)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.retained == 0) {
        object_take(CONTEXT, primary.context);
        primary.context = NULL;
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    CUresult rc = begin(__func__);
    return rc ? rc : ctx == primary.context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- memory ---- */

static size_t free_memory(void)
{
    double left = script_number(current(), "memory", 0) -
                  script_number(current(), "memory.used", 0) - (double)object_bytes(MEMORY);
    return left > 0 ? (size_t)left : 0;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult rc = begin(__func__);
    if (rc)
        return rc;
    *total_bytes = (size_t)script_number(current(), "memory", 0);
    *free_bytes = free_memory();
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
    bool fits = !primary.context || bytes <= free_memory();
    CUresult rc = fits ? give(__func__, ptr, MEMORY, bytes) : begin(__func__);
    return rc || fits ? rc : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
    return release(__func__, MEMORY, at(ptr));
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
    (void)flags;
    return give(__func__, ptr, PINNED, bytes);
}

CUresult cuMemFreeHost(void *ptr)
{
    return release(__func__, PINNED, ptr);
}

/* ---- streams and events ---- */

/* Work of ns behind all that is in the stream; when it begins. */
static int64_t queue(CUstream stream, int64_t ns)
{
    int64_t now_ns = script_now_ns();
    int64_t begin_ns = stream->end_ns > now_ns ? stream->end_ns : now_ns;
    stream->end_ns = begin_ns + ns;
    return begin_ns;
}

static void wait_until(int64_t t_ns)
{
    struct timespec t = {.tv_sec = t_ns / 1000000000, .tv_nsec = t_ns % 1000000000};
    while (script_now_ns() < t_ns)
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static CUresult begin_stream(const char *name, CUstream stream)
{
    CUresult rc = begin(name);
    return rc ? rc : object_is(STREAM, stream) ? CUDA_SUCCESS : INVALID_HANDLE;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    return give(__func__, stream, STREAM, sizeof **stream);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    CUresult rc = begin_stream(__func__, stream);
    if (rc == CUDA_SUCCESS)
        wait_until(stream->end_ns);
    return rc;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    return release(__func__, STREAM, stream);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    return give(__func__, event, EVENT, sizeof **event);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUresult rc = begin_stream(__func__, stream);
    if (rc == CUDA_SUCCESS)
        event->t_ns = queue(stream, 0);
    return rc;
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult rc = begin(__func__);
    if (rc == CUDA_SUCCESS)
        wait_until(event->t_ns);
    return rc;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CUresult rc = begin(__func__);
    if (rc)
        return rc;
    if (!start->t_ns || !end->t_ns)
        return INVALID_HANDLE;
    *milliseconds = (float)((double)(end->t_ns - start->t_ns) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    return release(__func__, EVENT, event);
}

/* ---- copies ---- */

static CUresult copy(const char *name, void *dst, const void *src, size_t bytes, CUstream stream)
{
    CUresult rc = begin_stream(name, stream);
    if (rc)
        return rc;
    queue(stream, (int64_t)((double)bytes / script_number(current(), "copy", 50e9) * 1e9));
    memmove(dst, src, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    return copy(__func__, at(dst), src, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy(__func__, dst, at(src), bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy(__func__, at(dst), at(src), bytes, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream stream)
{
    CUresult rc = begin_stream(__func__, stream);
    if (rc == CUDA_SUCCESS)
        memset(at(dst), value, bytes);
    return rc;
}

/* ---- kernels ---- */

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, int *options,
                            void **values)
{
    (void)n, (void)options, (void)values;
    bool is_ptx = image && strstr(image, ".version") && strstr(image, ".target");
    CUresult rc = give(__func__, out, MODULE, sizeof **out);
    if (rc == CUDA_SUCCESS)
        (*out)->image = image;
    if (rc == CUDA_SUCCESS && !is_ptx) {
        object_take(MODULE, *out);
        return CUDA_ERROR_INVALID_PTX;
    }
    return rc;
}

CUresult cuModuleUnload(CUmodule m)
{
    return release(__func__, MODULE, m);
}

/* Is there ".entry NAME("? */
static bool has_entry(const char *image, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = image; (p = strstr(p, ".entry ")); p++) {
        const char *found = p + strlen(".entry ");
        if (strncmp(found, name, length) == 0 && found[length] == '(')
            return true;
    }
    return false;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
    CUresult rc = begin(__func__);
    if (rc)
        return rc;
    if (!object_is(MODULE, m) || m->n == FUNCTIONS || strlen(name) >= NAME_SIZE)
        return INVALID_HANDLE;
    if (!has_entry(m->image, name))
        return CUDA_ERROR_NOT_FOUND;
    *out = &m->functions[m->n++];
    memcpy((*out)->name, name, strlen(name) + 1);
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
    CUresult rc = begin(__func__);
    if (rc)
        return rc;
    bool is_shared = attribute == CUDA_FUNC_MAX_DYNAMIC_SHARED_BYTES;
    if (is_shared && value > (int)script_number(current(), "attribute.97", 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_shared)
        f->shared = value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int block_size,
                                                     size_t shared_bytes)
{
    enum { RESERVED = 1024, MOST = 32 };
    (void)f;
    CUresult rc = begin(__func__);
    if (rc)
        return rc;
    int threads = (int)script_number(current(), "attribute.39", 0);
    double shared = script_number(current(), "attribute.81", 0);
    int by_threads = block_size > 0 ? threads / block_size : 0;
    int by_shared = (int)(shared / (double)(shared_bytes + RESERVED));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    *blocks = *blocks < MOST ? *blocks : MOST;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra)
{
    (void)extra;
    CUresult rc = begin_stream(__func__, stream);
    if (rc)
        return rc;
    bool empty = !grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z;
    bool too_much = (int)shared_bytes > SHARED_WITHOUT_OPTIN && (int)shared_bytes > f->shared;
    if (empty || too_much || block_x * block_y * block_z > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->captures)
        stream->captured++;
    else
        stream->end_ns += kernel_run(current(), f->name, queue(stream, 0), params);
    return CUDA_SUCCESS;
}

/* ---- graphs: only how many kernels they have ---- */

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    (void)mode;
    CUresult rc = begin_stream(__func__, stream);
    if (rc == CUDA_SUCCESS) {
        stream->captures = true;
        stream->captured = 0;
    }
    return rc;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out)
{
    CUresult rc = give(__func__, out, GRAPH, sizeof **out);
    if (rc == CUDA_SUCCESS)
        (*out)->kernels = stream->captured;
    stream->captures = false;
    return rc;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph g, unsigned long long flags)
{
    (void)flags;
    CUresult rc = give(__func__, exec, GRAPH_EXEC, sizeof **exec);
    if (rc == CUDA_SUCCESS)
        (*exec)->kernels = g->kernels;
    return rc;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CUresult rc = begin_stream(__func__, stream);
    if (rc == CUDA_SUCCESS)
        queue(stream, (int64_t)exec->kernels * kernel_ns(current()));
    return rc;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    return release(__func__, GRAPH_EXEC, exec);
}

CUresult cuGraphDestroy(CUgraph g)
{
    return release(__func__, GRAPH, g);
}
