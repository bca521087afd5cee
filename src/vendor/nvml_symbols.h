/* SPDX-License-Identifier: MIT */
/* The functions that are looked up in libnvidia-ml, and its return codes. Only versioned names:
 * each version has its own structure, so there are no lists of names that replace one another. */
#ifndef SMEFF_VENDOR_NVML_SYMBOLS_H
#define SMEFF_VENDOR_NVML_SYMBOLS_H

/* R = nothing can be read without it, O = one value is lost */
#define NVML_SYMBOLS(R, O)                                                                         \
    R(nvmlInit_v2)                                                                                 \
    R(nvmlShutdown)                                                                                \
    R(nvmlErrorString)                                                                             \
    R(nvmlDeviceGetCount_v2)                                                                       \
    R(nvmlDeviceGetHandleByIndex_v2)                                                               \
    R(nvmlDeviceGetName)                                                                           \
    R(nvmlDeviceGetUUID)                                                                           \
    R(nvmlDeviceGetPciInfo_v3)                                                                     \
    O(nvmlSystemGetDriverVersion)                                                                  \
    O(nvmlSystemGetNVMLVersion)                                                                    \
    O(nvmlSystemGetCudaDriverVersion_v2)                                                           \
    O(nvmlSystemGetProcessName)                                                                    \
    O(nvmlDeviceGetHandleByUUID)                                                                   \
    O(nvmlDeviceGetHandleByPciBusId_v2)                                                            \
    O(nvmlDeviceGetArchitecture)                                                                   \
    O(nvmlDeviceGetCudaComputeCapability)                                                          \
    O(nvmlDeviceGetNumGpuCores)                                                                    \
    O(nvmlDeviceGetMemoryBusWidth)                                                                 \
    O(nvmlDeviceGetVirtualizationMode)                                                             \
    O(nvmlDeviceGetPersistenceMode)                                                                \
    O(nvmlDeviceGetUtilizationRates)                                                               \
    O(nvmlDeviceGetMemoryInfo)                                                                     \
    O(nvmlDeviceGetMemoryInfo_v2)                                                                  \
    O(nvmlDeviceGetPowerUsage)                                                                     \
    O(nvmlDeviceGetEnforcedPowerLimit)                                                             \
    O(nvmlDeviceGetPowerManagementLimit)                                                           \
    O(nvmlDeviceGetTotalEnergyConsumption)                                                         \
    O(nvmlDeviceGetTemperature)                                                                    \
    O(nvmlDeviceGetTemperatureV)                                                                   \
    O(nvmlDeviceGetFieldValues)                                                                    \
    O(nvmlDeviceGetClockInfo)                                                                      \
    O(nvmlDeviceGetMaxClockInfo)                                                                   \
    O(nvmlDeviceGetCurrentClocksEventReasons)                                                      \
    O(nvmlDeviceGetCurrentClocksThrottleReasons)                                                   \
    O(nvmlDeviceGetNumFans)                                                                        \
    O(nvmlDeviceGetFanSpeed_v2)                                                                    \
    O(nvmlDeviceGetCurrPcieLinkGeneration)                                                         \
    O(nvmlDeviceGetMaxPcieLinkGeneration)                                                          \
    O(nvmlDeviceGetCurrPcieLinkWidth)                                                              \
    O(nvmlDeviceGetMaxPcieLinkWidth)                                                               \
    O(nvmlDeviceGetPcieThroughput)                                                                 \
    O(nvmlDeviceGetTotalEccErrors)                                                                 \
    O(nvmlDeviceGetNvLinkState)                                                                    \
    O(nvmlDeviceGetComputeRunningProcesses_v3)                                                     \
    O(nvmlDeviceGetGraphicsRunningProcesses_v3)                                                    \
    O(nvmlDeviceGetProcessesUtilizationInfo)                                                       \
    O(nvmlDeviceGetProcessUtilization)                                                             \
    O(nvmlDeviceGetMigMode)                                                                        \
    O(nvmlDeviceGetMaxMigDeviceCount)                                                              \
    O(nvmlDeviceGetMigDeviceHandleByIndex)                                                         \
    O(nvmlDeviceGetGpuInstanceId)                                                                  \
    O(nvmlGpmQueryDeviceSupport)                                                                   \
    O(nvmlGpmSampleAlloc)                                                                          \
    O(nvmlGpmSampleFree)                                                                           \
    O(nvmlGpmSampleGet)                                                                            \
    O(nvmlGpmMigSampleGet)                                                                         \
    O(nvmlGpmMetricsGet)                                                                           \
    O(nvmlGpmQueryIfStreamingEnabled)                                                              \
    O(nvmlGpmSetStreamingEnabled)

/* X(NAME as in NVML_ERROR_NAME, number, our status, plain words) */
#define NVML_RESULTS(X)                                                                            \
    X(UNINITIALIZED, 1, ERR_VENDOR, "NVML was not initialised")                                    \
    X(INVALID_ARGUMENT, 2, ERR_VENDOR, "an argument was refused")                                  \
    X(NOT_SUPPORTED, 3, ERR_UNSUPPORTED, "not supported by this GPU")                              \
    X(NO_PERMISSION, 4, ERR_PERMISSION, "no permission")                                           \
    X(ALREADY_INITIALIZED, 5, ERR_VENDOR, "NVML was initialised already")                          \
    X(NOT_FOUND, 6, ERR_NOT_FOUND, "not found")                                                    \
    X(INSUFFICIENT_SIZE, 7, ERR_VENDOR, "a buffer is too small")                                   \
    X(INSUFFICIENT_POWER, 8, ERR_NO_GPU, "the GPU's power cable is not attached")                  \
    X(DRIVER_NOT_LOADED, 9, ERR_NO_GPU, "the NVIDIA driver is not loaded")                         \
    X(TIMEOUT, 10, ERR_TIMEOUT, "timed out")                                                       \
    X(IRQ_ISSUE, 11, ERR_VENDOR, "the GPU has an interrupt problem")                               \
    X(LIBRARY_NOT_FOUND, 12, ERR_NOT_FOUND, "NVML's library was not found")                        \
    X(FUNCTION_NOT_FOUND, 13, ERR_UNSUPPORTED, "this driver does not have the call")               \
    X(CORRUPTED_INFOROM, 14, ERR_VENDOR, "the GPU's info ROM is damaged")                          \
    X(GPU_IS_LOST, 15, ERR_NO_GPU, "the GPU has fallen off the bus")                               \
    X(RESET_REQUIRED, 16, ERR_NO_GPU, "the GPU must be reset first")                               \
    X(OPERATING_SYSTEM, 17, ERR_PERMISSION, "the operating system blocks the GPU's device file")   \
    X(LIB_RM_VERSION_MISMATCH, 18, ERR_UNSUPPORTED,                                                \
      "the driver's library and kernel module differ in version: reload the module or reboot")     \
    X(IN_USE, 19, ERR_BUSY, "the GPU is in use")                                                   \
    X(MEMORY, 20, ERR_NOMEM, "out of memory")                                                      \
    X(NO_DATA, 21, ERR_NOT_FOUND, "no data")                                                       \
    X(VGPU_ECC_NOT_SUPPORTED, 22, ERR_UNSUPPORTED, "not possible on a vGPU with ECC")              \
    X(INSUFFICIENT_RESOURCES, 23, ERR_VENDOR, "out of resources")                                  \
    X(FREQ_NOT_SUPPORTED, 24, ERR_UNSUPPORTED, "frequency not supported")                          \
    X(ARGUMENT_VERSION_MISMATCH, 25, ERR_UNSUPPORTED,                                              \
      "this driver does not take the structure's version")                                         \
    X(DEPRECATED, 26, ERR_UNSUPPORTED, "this driver no longer has the call")                       \
    X(NOT_READY, 27, ERR_BUSY, "not ready yet")                                                    \
    X(GPU_NOT_FOUND, 28, ERR_NO_GPU, "no GPU was found")                                           \
    X(INVALID_STATE, 29, ERR_VENDOR, "not possible in this state")                                 \
    X(UNKNOWN, 999, ERR_VENDOR, "unknown driver failure")

#endif
