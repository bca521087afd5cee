/* SPDX-License-Identifier: MIT */
/* The functions that are looked up in the CUDA driver library, and its result codes. */
#ifndef SMEFF_VENDOR_CUDA_SYMBOLS_H
#define SMEFF_VENDOR_CUDA_SYMBOLS_H

/* R = finding and naming GPUs needs it, O = only running loads needs it */
#define CUDA_SYMBOLS(R, O)                                                                         \
    R(cuInit)                                                                                      \
    R(cuDriverGetVersion)                                                                          \
    R(cuGetErrorName)                                                                              \
    R(cuGetErrorString)                                                                            \
    R(cuDeviceGetCount)                                                                            \
    R(cuDeviceGet)                                                                                 \
    R(cuDeviceGetName)                                                                             \
    R(cuDeviceGetUuid_v2)                                                                          \
    R(cuDeviceGetPCIBusId)                                                                         \
    R(cuDeviceGetAttribute)                                                                        \
    R(cuDeviceTotalMem_v2)                                                                         \
    O(cuDevicePrimaryCtxRetain)                                                                    \
    O(cuDevicePrimaryCtxRelease_v2)                                                                \
    O(cuCtxSetCurrent)                                                                             \
    O(cuMemGetInfo_v2)                                                                             \
    O(cuMemAlloc_v2)                                                                               \
    O(cuMemFree_v2)                                                                                \
    O(cuMemHostAlloc)                                                                              \
    O(cuMemFreeHost)                                                                               \
    O(cuMemcpyHtoDAsync_v2)                                                                        \
    O(cuMemcpyDtoHAsync_v2)                                                                        \
    O(cuMemcpyDtoDAsync_v2)                                                                        \
    O(cuMemsetD8Async)                                                                             \
    O(cuStreamCreate)                                                                              \
    O(cuStreamSynchronize)                                                                         \
    O(cuStreamDestroy_v2)                                                                          \
    O(cuStreamBeginCapture_v2)                                                                     \
    O(cuStreamEndCapture)                                                                          \
    O(cuEventCreate)                                                                               \
    O(cuEventRecord)                                                                               \
    O(cuEventSynchronize)                                                                          \
    O(cuEventElapsedTime)                                                                          \
    O(cuEventDestroy_v2)                                                                           \
    O(cuModuleLoadDataEx)                                                                          \
    O(cuModuleUnload)                                                                              \
    O(cuModuleGetFunction)                                                                         \
    O(cuFuncSetAttribute)                                                                          \
    O(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                 \
    O(cuLaunchKernel)                                                                              \
    O(cuGraphInstantiateWithFlags)                                                                 \
    O(cuGraphLaunch)                                                                               \
    O(cuGraphExecDestroy)                                                                          \
    O(cuGraphDestroy)

/* X(NAME as in CUDA_ERROR_NAME, number, our status): those that we tell apart. For the words there
 * is cuGetErrorString. */
#define CUDA_RESULTS(X)                                                                            \
    X(INVALID_VALUE, 1, ERR_VENDOR)                                                                \
    X(OUT_OF_MEMORY, 2, ERR_NOMEM)                                                                 \
    X(NOT_INITIALIZED, 3, ERR_VENDOR)                                                              \
    X(DEINITIALIZED, 4, ERR_VENDOR)                                                                \
    X(STUB_LIBRARY, 34, ERR_UNSUPPORTED)                                                           \
    X(CALL_REQUIRES_NEWER_DRIVER, 36, ERR_UNSUPPORTED)                                             \
    X(DEVICE_UNAVAILABLE, 46, ERR_BUSY)                                                            \
    X(NO_DEVICE, 100, ERR_NO_GPU)                                                                  \
    X(INVALID_DEVICE, 101, ERR_NO_GPU)                                                             \
    X(DEVICE_NOT_LICENSED, 102, ERR_PERMISSION)                                                    \
    X(INVALID_IMAGE, 200, ERR_UNSUPPORTED)                                                         \
    X(INVALID_CONTEXT, 201, ERR_VENDOR)                                                            \
    X(NO_BINARY_FOR_GPU, 209, ERR_UNSUPPORTED)                                                     \
    X(INVALID_PTX, 218, ERR_UNSUPPORTED)                                                           \
    X(JIT_COMPILER_NOT_FOUND, 221, ERR_UNSUPPORTED)                                                \
    X(UNSUPPORTED_PTX_VERSION, 222, ERR_UNSUPPORTED)                                               \
    X(OPERATING_SYSTEM, 304, ERR_VENDOR)                                                           \
    X(NOT_FOUND, 500, ERR_NOT_FOUND)                                                               \
    X(NOT_PERMITTED, 800, ERR_PERMISSION)                                                          \
    X(NOT_SUPPORTED, 801, ERR_UNSUPPORTED)                                                         \
    X(SYSTEM_NOT_READY, 802, ERR_VENDOR)                                                           \
    X(SYSTEM_DRIVER_MISMATCH, 803, ERR_UNSUPPORTED)                                                \
    X(COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, ERR_UNSUPPORTED)                                        \
    X(UNKNOWN, 999, ERR_VENDOR)

#endif
