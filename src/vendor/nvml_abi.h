/* SPDX-License-Identifier: MIT */
/* NVML as it is in memory on 64-bit Linux: our own declarations of what we use.
 * https://docs.nvidia.com/deploy/nvml-api/ describes the functions. tests/abi compares these
 * declarations with NVIDIA's header. */
#ifndef SMEFF_VENDOR_NVML_ABI_H
#define SMEFF_VENDOR_NVML_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef int nvmlReturn_t; /* an enum of NVIDIA's; numbers that we do not know pass through */
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlGpmSample_st *nvmlGpmSample_t;

/* Most versioned structures want their size and version in one word. */
#define NVML_VERSION_WORD(type, n) ((unsigned)(sizeof(type) | ((unsigned)(n) << 24)))

enum {
    NVML_NAME_SIZE = 96,
    NVML_UUID_SIZE = 96,
    NVML_VERSION_SIZE = 80,
};

enum nvml_clock {
    NVML_CLOCK_GRAPHICS = 0,
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEM = 2,
    NVML_CLOCK_VIDEO = 3,
};

enum nvml_pcie_counter { NVML_PCIE_TX = 0, NVML_PCIE_RX = 1 }; /* KB/s over 20 ms */
enum nvml_ecc_error { NVML_ECC_CORRECTED = 0, NVML_ECC_UNCORRECTED = 1 };
enum nvml_ecc_counter { NVML_ECC_VOLATILE = 0, NVML_ECC_AGGREGATE = 1 };
enum nvml_sensor { NVML_SENSOR_GPU = 0 };

enum nvml_virtualization {
    NVML_VIRTUALIZATION_NONE = 0,
    NVML_VIRTUALIZATION_PASSTHROUGH = 1,
    NVML_VIRTUALIZATION_VGPU = 2,
    NVML_VIRTUALIZATION_HOST_VGPU = 3,
    NVML_VIRTUALIZATION_HOST_VSGA = 4,
};

enum nvml_arch {
    NVML_ARCH_KEPLER = 2,
    NVML_ARCH_MAXWELL = 3,
    NVML_ARCH_PASCAL = 4,
    NVML_ARCH_VOLTA = 5,
    NVML_ARCH_TURING = 6,
    NVML_ARCH_AMPERE = 7,
    NVML_ARCH_ADA = 8,
    NVML_ARCH_HOPPER = 9,
    NVML_ARCH_BLACKWELL = 10,
};

/* Bits of nvmlDeviceGetCurrentClocksEventReasons and its older name …ThrottleReasons. */
enum nvml_clock_reason {
    NVML_REASON_GPU_IDLE = 0x1,
    NVML_REASON_APPLICATION_CLOCKS = 0x2,
    NVML_REASON_SW_POWER_CAP = 0x4,
    NVML_REASON_HW_SLOWDOWN = 0x8,
    NVML_REASON_SYNC_BOOST = 0x10,
    NVML_REASON_SW_THERMAL = 0x20,
    NVML_REASON_HW_THERMAL = 0x40,
    NVML_REASON_HW_POWER_BRAKE = 0x80,
    NVML_REASON_DISPLAY_CLOCK = 0x100,
};

struct nvml_pci_info {
    char busIdLegacy[16];
    unsigned domain, bus, device;
    unsigned pciDeviceId;
    unsigned pciSubSystemId;
    char busId[32]; /* "00000000:1B:00.0" */
};
static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");

struct nvml_utilization {
    unsigned gpu, memory; /* percent of time */
};
static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");

struct nvml_memory { /* bytes; used includes what the driver reserves */
    unsigned long long total, free, used;
};
static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");

struct nvml_memory_v2 { /* used does not include reserved */
    unsigned version;   /* NVML_MEMORY_V2 */
    unsigned long long total, reserved, free, used;
};
static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
#define NVML_MEMORY_V2 NVML_VERSION_WORD(struct nvml_memory_v2, 2)
static_assert(NVML_MEMORY_V2 == 0x02000028, "version word of nvmlMemory_v2_t");

struct nvml_temperature {
    unsigned version; /* NVML_TEMPERATURE_V1 */
    enum nvml_sensor sensorType;
    int temperature; /* degrees Celsius */
};
static_assert(sizeof(struct nvml_temperature) == 12, "nvmlTemperature_v1_t");
#define NVML_TEMPERATURE_V1 NVML_VERSION_WORD(struct nvml_temperature, 1)
static_assert(NVML_TEMPERATURE_V1 == 0x0100000C, "version word of nvmlTemperature_v1_t");

enum nvml_value_type {
    NVML_TYPE_DOUBLE = 0,
    NVML_TYPE_UINT = 1,
    NVML_TYPE_ULONG = 2,
    NVML_TYPE_ULLONG = 3,
    NVML_TYPE_SLLONG = 4,
    NVML_TYPE_SINT = 5,
    NVML_TYPE_USHORT = 6,
};

union nvml_value {
    double dVal;
    int siVal;
    unsigned uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
    unsigned short usVal;
};

struct nvml_field_value {
    unsigned fieldId; /* in: enum nvml_field */
    unsigned scopeId; /* in: the link, for NVLink counters; NVML_SCOPE_ALL_LINKS = sum */
    long long timestamp;
    long long latencyUsec;
    enum nvml_value_type valueType;
    nvmlReturn_t nvmlReturn; /* look at this before the value */
    union nvml_value value;
};
static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t");
#define NVML_SCOPE_ALL_LINKS 0xFFFFFFFFu

enum nvml_field {
    NVML_FIELD_MEMORY_TEMP = 82,
    NVML_FIELD_TOTAL_ENERGY = 83,        /* mJ since the driver was loaded */
    NVML_FIELD_NVLINK_SPEED_COMMON = 90, /* MB/s of one link */
    NVML_FIELD_NVLINK_COUNT = 91,
    NVML_FIELD_PCIE_REPLAY_COUNTER = 94,
    NVML_FIELD_NVLINK_DATA_TX = 138, /* KiB, counters, scope = link */
    NVML_FIELD_NVLINK_DATA_RX = 139,
    NVML_FIELD_NVLINK_RAW_TX = 140, /* with protocol overhead */
    NVML_FIELD_NVLINK_RAW_RX = 141,
    NVML_FIELD_POWER_AVERAGE = 185, /* mW over 1 s; scope 0 = GPU, 1 = module with its CPU */
    NVML_FIELD_POWER_INSTANT = 186,
    NVML_FIELD_PCIE_TX_BYTES = 197, /* counters that may wrap */
    NVML_FIELD_PCIE_RX_BYTES = 198,
    NVML_FIELD_NVLINK5_XMIT_BYTES = 202, /* counters of NVLink 5, scope = link */
    NVML_FIELD_NVLINK5_RCV_BYTES = 204,
};

struct nvml_process {
    unsigned pid;
    unsigned long long usedGpuMemory; /* bytes; NVML_NOT_AVAILABLE = unknown */
    unsigned gpuInstanceId;           /* 0xFFFFFFFF without MIG */
    unsigned computeInstanceId;
};
static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");
#define NVML_NOT_AVAILABLE 0xFFFFFFFFFFFFFFFFull

struct nvml_process_sample { /* of nvmlDeviceGetProcessUtilization */
    unsigned pid;
    unsigned long long timeStamp; /* microseconds since 1970 */
    unsigned smUtil, memUtil, encUtil, decUtil;
};
static_assert(sizeof(struct nvml_process_sample) == 32, "nvmlProcessUtilizationSample_t");

struct nvml_process_utilization {
    unsigned long long timeStamp; /* microseconds since 1970 */
    unsigned pid;
    unsigned smUtil, memUtil, encUtil, decUtil, jpgUtil, ofaUtil;
};
static_assert(sizeof(struct nvml_process_utilization) == 40, "nvmlProcessUtilizationInfo_v1_t");

struct nvml_processes_utilization {
    unsigned version;             /* NVML_PROCESSES_UTILIZATION_V1 */
    unsigned processSamplesCount; /* in: room in the array; out: entries, or the room needed */
    unsigned long long lastSeenTimeStamp;
    struct nvml_process_utilization *procUtilArray;
};
static_assert(sizeof(struct nvml_processes_utilization) == 24, "nvmlProcessesUtilizationInfo_v1_t");
#define NVML_PROCESSES_UTILIZATION_V1 NVML_VERSION_WORD(struct nvml_processes_utilization, 1)
static_assert(NVML_PROCESSES_UTILIZATION_V1 == 0x01000018, "version word of the above");

/* GPM: two samples more than 100 ms apart, then metrics from both. Here the version is a plain 1.
 */
#define NVML_GPM_VERSION 1

struct nvml_gpm_support {
    unsigned version; /* NVML_GPM_VERSION */
    unsigned isSupportedDevice;
};
static_assert(sizeof(struct nvml_gpm_support) == 8, "nvmlGpmSupport_t");

struct nvml_gpm_metric {
    unsigned metricId;       /* in: enum nvml_gpm_id */
    nvmlReturn_t nvmlReturn; /* look at this before the value */
    double value;
    struct {
        char *shortName, *longName, *unit; /* may be NULL */
    } metricInfo;
};
static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");

/* NVIDIA's array grew over the driver releases while the version stayed 1: a driver touches only
 * the first numMetrics entries. */
enum { NVML_GPM_METRIC_MAX = 333 };

struct nvml_gpm_metrics {
    unsigned version; /* NVML_GPM_VERSION */
    unsigned numMetrics;
    nvmlGpmSample_t sample1, sample2; /* the older one first */
    struct nvml_gpm_metric metrics[NVML_GPM_METRIC_MAX];
};
static_assert(sizeof(struct nvml_gpm_metrics) == 13344, "nvmlGpmMetricsGet_t of 2026");

enum nvml_gpm_id {
    NVML_GPM_GRAPHICS_UTIL = 1, /* percent from here to 13 */
    NVML_GPM_SM_UTIL = 2,
    NVML_GPM_SM_OCCUPANCY = 3,
    NVML_GPM_INTEGER_UTIL = 4,
    NVML_GPM_ANY_TENSOR_UTIL = 5,
    NVML_GPM_DFMA_TENSOR_UTIL = 6,
    NVML_GPM_HMMA_TENSOR_UTIL = 7,
    NVML_GPM_IMMA_TENSOR_UTIL = 9,
    NVML_GPM_DRAM_BW_UTIL = 10,
    NVML_GPM_FP64_UTIL = 11,
    NVML_GPM_FP32_UTIL = 12,
    NVML_GPM_FP16_UTIL = 13,
    NVML_GPM_PCIE_TX_PER_SEC = 20, /* MiB/s by the documentation, 10^6 bytes/s by measurement */
    NVML_GPM_PCIE_RX_PER_SEC = 21,
    NVML_GPM_NVLINK_TOTAL_RX_PER_SEC = 60,
    NVML_GPM_NVLINK_TOTAL_TX_PER_SEC = 61,
};

/* Prototypes only; the functions are looked up at run time (vendor/nvml_api.h).
 * Units: power mW, energy mJ, clocks MHz, temperatures degrees Celsius, fans percent. */
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlShutdown(void);
const char *nvmlErrorString(nvmlReturn_t rc);
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned size);
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned size);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned size);

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *dev);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *dev);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *dev);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t dev, char *name, unsigned size);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t dev, char *uuid, unsigned size);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t dev, struct nvml_pci_info *pci);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t dev, unsigned *arch);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t dev, int *major, int *minor);
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t dev, unsigned *cores);
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t dev, unsigned *bits);
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t dev, enum nvml_virtualization *mode);
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t dev, unsigned *on);

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t dev, struct nvml_utilization *u);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t dev, struct nvml_memory *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t dev, struct nvml_memory_v2 *memory);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t dev, unsigned *milliwatts);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t dev, unsigned *milliwatts);
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t dev, unsigned *milliwatts);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t dev, unsigned long long *millijoules);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t dev, enum nvml_sensor sensor, unsigned *celsius);
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t dev, struct nvml_temperature *t);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t dev, int n, struct nvml_field_value *values);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t dev, enum nvml_clock clock, unsigned *megahertz);
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t dev, enum nvml_clock clock,
                                       unsigned *megahertz);
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t dev, unsigned long long *bits);
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t dev, unsigned long long *bits);
nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t dev, unsigned *count);
nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t dev, unsigned fan, unsigned *percent);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t dev, unsigned *generation);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t dev, unsigned *generation);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t dev, unsigned *lanes);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t dev, unsigned *lanes);
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t dev, enum nvml_pcie_counter counter,
                                         unsigned *kilobytes_per_second);
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t dev, enum nvml_ecc_error error,
                                         enum nvml_ecc_counter counter, unsigned long long *count);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t dev, unsigned link, unsigned *active);

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t dev, unsigned *count,
                                                     struct nvml_process *list);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t dev, unsigned *count,
                                                      struct nvml_process *list);
nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t dev,
                                                   struct nvml_processes_utilization *u);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t dev, struct nvml_process_sample *list,
                                             unsigned *count, unsigned long long last_seen);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t dev, unsigned *current, unsigned *pending);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t dev, unsigned *count);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t dev, unsigned index,
                                                 nvmlDevice_t *mig);
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig, unsigned *id);

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t dev, struct nvml_gpm_support *support);
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample);
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample);
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t dev, nvmlGpmSample_t sample);
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t dev, unsigned gpu_instance, nvmlGpmSample_t sample);
nvmlReturn_t nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics);
nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t dev, unsigned *state);
nvmlReturn_t nvmlGpmSetStreamingEnabled(nvmlDevice_t dev, unsigned state);

#endif
