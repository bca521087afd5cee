/* SPDX-License-Identifier: MIT */
/* The functions that are looked up in libcupti, and its result codes. */
#ifndef SMEFF_VENDOR_CUPTI_SYMBOLS_H
#define SMEFF_VENDOR_CUPTI_SYMBOLS_H

/* R = sampling is impossible without it, O = something is lost, N = optional and newer than 13.0 */
#define CUPTI_SYMBOLS(R, O, N)                                                                     \
    R(cuptiGetVersion)                                                                             \
    R(cuptiGetResultString)                                                                        \
    R(cuptiProfilerInitialize)                                                                     \
    R(cuptiDeviceGetChipName)                                                                      \
    R(cuptiPmSamplingGetCounterAvailability)                                                       \
    R(cuptiPmSamplingEnable)                                                                       \
    R(cuptiPmSamplingDisable)                                                                      \
    R(cuptiPmSamplingSetConfig)                                                                    \
    R(cuptiPmSamplingStart)                                                                        \
    R(cuptiPmSamplingStop)                                                                         \
    R(cuptiPmSamplingGetCounterDataSize)                                                           \
    R(cuptiPmSamplingCounterDataImageInitialize)                                                   \
    R(cuptiPmSamplingDecodeData)                                                                   \
    R(cuptiPmSamplingGetCounterDataInfo)                                                           \
    R(cuptiPmSamplingCounterDataGetSampleInfo)                                                     \
    R(cuptiProfilerHostInitialize)                                                                 \
    R(cuptiProfilerHostDeinitialize)                                                               \
    R(cuptiProfilerHostConfigAddMetrics)                                                           \
    R(cuptiProfilerHostGetConfigImageSize)                                                         \
    R(cuptiProfilerHostGetConfigImage)                                                             \
    R(cuptiProfilerHostGetNumOfPasses)                                                             \
    R(cuptiProfilerHostEvaluateToGpuValues)                                                        \
    O(cuptiGetErrorMessage)                                                                        \
    O(cuptiProfilerDeInitialize)                                                                   \
    O(cuptiProfilerDeviceSupported)                                                                \
    O(cuptiProfilerHostGetSupportedChips)                                                          \
    O(cuptiProfilerHostGetBaseMetrics)                                                             \
    O(cuptiProfilerHostGetSubMetrics)                                                              \
    O(cuptiProfilerHostGetMetricProperties)                                                        \
    O(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass)                                            \
    N(cuptiProfilerHostGetSinglePassSets)                                                          \
    N(cuptiProfilerHostGetMetricsInSinglePassSet)

/* X(NAME as in CUPTI_ERROR_NAME, number, our status, plain words). Numbers of 13.0.
 * DecodeData's 8 means an overflowed hardware buffer: ERR_NOMEM is right for other calls only,
 * so the caller looks at the overflow flag first. */
#define CUPTI_RESULTS(X)                                                                           \
    X(INVALID_PARAMETER, 1, ERR_VENDOR, "an argument or a structure size was refused")             \
    X(INVALID_DEVICE, 2, ERR_NO_GPU, "no such GPU")                                                \
    X(INVALID_CONTEXT, 3, ERR_VENDOR, "no valid CUDA context")                                     \
    X(INVALID_EVENT_DOMAIN_ID, 4, ERR_VENDOR, "no such event domain")                              \
    X(INVALID_EVENT_ID, 5, ERR_VENDOR, "no such event")                                            \
    X(INVALID_EVENT_NAME, 6, ERR_VENDOR, "no such event name")                                     \
    X(INVALID_OPERATION, 7, ERR_VENDOR, "not possible in this state")                              \
    X(OUT_OF_MEMORY, 8, ERR_NOMEM, "out of memory, or the hardware buffer overflowed")             \
    X(HARDWARE, 9, ERR_VENDOR, "the performance monitor hardware failed")                          \
    X(PARAMETER_SIZE_NOT_SUFFICIENT, 10, ERR_VENDOR, "a buffer is too small")                      \
    X(API_NOT_IMPLEMENTED, 11, ERR_UNSUPPORTED, "this CUPTI does not implement the call")          \
    X(MAX_LIMIT_REACHED, 12, ERR_UNSUPPORTED, "a limit of the hardware was reached")               \
    X(NOT_READY, 13, ERR_VENDOR, "not ready yet")                                                  \
    X(NOT_COMPATIBLE, 14, ERR_UNSUPPORTED, "not compatible with the current state")                \
    X(NOT_INITIALIZED, 15, ERR_UNSUPPORTED,                                                        \
      "CUPTI could not start: its helper libraries were not found or the driver is too old")       \
    X(INVALID_METRIC_ID, 16, ERR_NOT_FOUND, "no such metric")                                      \
    X(INVALID_METRIC_NAME, 17, ERR_NOT_FOUND, "no such metric name on this chip")                  \
    X(QUEUE_EMPTY, 18, ERR_VENDOR, "a queue is empty")                                             \
    X(INVALID_HANDLE, 19, ERR_VENDOR, "a handle was refused")                                      \
    X(INVALID_STREAM, 20, ERR_VENDOR, "a stream was refused")                                      \
    X(INVALID_KIND, 21, ERR_VENDOR, "a kind was refused")                                          \
    X(INVALID_EVENT_VALUE, 22, ERR_VENDOR, "an event value was refused")                           \
    X(DISABLED, 23, ERR_UNSUPPORTED, "CUPTI is switched off in this process")                      \
    X(INVALID_MODULE, 24, ERR_VENDOR, "a module was refused")                                      \
    X(INVALID_METRIC_VALUE, 25, ERR_VENDOR, "a metric value was refused")                          \
    X(HARDWARE_BUSY, 26, ERR_BUSY, "another program holds this GPU's counters")                    \
    X(NOT_SUPPORTED, 27, ERR_UNSUPPORTED,                                                          \
      "not supported: this chip, this trigger, or more than one pass")                             \
    X(UM_PROFILING_NOT_SUPPORTED, 28, ERR_UNSUPPORTED, "no unified memory profiling here")         \
    X(UM_PROFILING_NOT_SUPPORTED_ON_DEVICE, 29, ERR_UNSUPPORTED,                                   \
      "no unified memory profiling on this GPU")                                                   \
    X(UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES, 30, ERR_UNSUPPORTED,                          \
      "no unified memory profiling without peer access")                                           \
    X(UM_PROFILING_NOT_SUPPORTED_WITH_MPS, 31, ERR_UNSUPPORTED,                                    \
      "no unified memory profiling under MPS")                                                     \
    X(CDP_TRACING_NOT_SUPPORTED, 32, ERR_UNSUPPORTED, "no tracing of kernels started by kernels")  \
    X(VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33, ERR_UNSUPPORTED,                                       \
      "this virtual GPU cannot be profiled")                                                       \
    X(CUDA_COMPILER_NOT_COMPATIBLE, 34, ERR_UNSUPPORTED, "the code's compiler does not fit")       \
    X(INSUFFICIENT_PRIVILEGES, 35, ERR_PERMISSION, "no permission to read the GPU's counters")     \
    X(OLD_PROFILER_API_INITIALIZED, 36, ERR_BUSY, "the old profiler interface is in use")          \
    X(OPENACC_UNDEFINED_ROUTINE, 37, ERR_VENDOR, "an OpenACC routine is missing")                  \
    X(LEGACY_PROFILER_NOT_SUPPORTED, 38, ERR_UNSUPPORTED,                                          \
      "the old profiler interface does not know this GPU")                                         \
    X(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39, ERR_BUSY,                                            \
      "this process itself runs under a profiler or debugger")                                     \
    X(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40, ERR_PERMISSION,                              \
      "profiling is not enabled for this virtual GPU")                                             \
    X(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, 41, ERR_UNSUPPORTED,                                   \
      "confidential computing is on, which forbids counters")                                      \
    X(CMP_DEVICE_NOT_SUPPORTED, 42, ERR_UNSUPPORTED, "mining cards cannot be profiled")            \
    X(MIG_DEVICE_NOT_SUPPORTED, 43, ERR_UNSUPPORTED, "this MIG set-up cannot be profiled")         \
    X(SLI_DEVICE_NOT_SUPPORTED, 44, ERR_UNSUPPORTED, "GPUs joined by SLI cannot be profiled")      \
    X(WSL_DEVICE_NOT_SUPPORTED, 45, ERR_UNSUPPORTED, "not possible under this WSL")                \
    X(INVALID_CHIP_NAME, 46, ERR_UNSUPPORTED, "this CUPTI does not know the chip")                 \
    X(UNKNOWN, 999, ERR_VENDOR, "unknown failure, or a counter that this GPU lacks")

#endif
