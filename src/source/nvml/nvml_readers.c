/* SPDX-License-Identifier: MIT */
#include "source/nvml/nvml_readers.h"

#include <math.h>

/* All functions: https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html */

#define NEED(function)                                                                             \
    if (!(function))                                                                               \
    return NVML_ERROR_FUNCTION_NOT_FOUND

/* For quantities that are never 0 while the GPU runs: drivers give 0 where they have no sensor. */
static nvmlReturn_t positive(nvmlReturn_t rc, double v, struct nvml_reading *out)
{
    out->v[0] = v;
    if (rc != NVML_SUCCESS || v > 0)
        return rc;
    out->why = "the driver gives 0, which is no reading";
    return NVML_ERROR_NOT_SUPPORTED;
}

/* Percent of time; garbage above 100 was seen. */
static double share(unsigned percent)
{
    return percent <= 100 ? percent / 100.0 : NAN;
}

static nvmlReturn_t read_utilization(const struct nvml_api *api, nvmlDevice_t dev,
                                     struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetUtilizationRates);
    struct nvml_utilization u = {0};
    nvmlReturn_t rc = api->nvmlDeviceGetUtilizationRates(dev, &u);
    out->v[0] = share(u.gpu);
    out->v[1] = share(u.memory);
    return rc;
}

static nvmlReturn_t read_memory_v2(const struct nvml_api *api, nvmlDevice_t dev,
                                   struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetMemoryInfo_v2);
    struct nvml_memory_v2 m = {.version = NVML_MEMORY_V2};
    nvmlReturn_t rc = api->nvmlDeviceGetMemoryInfo_v2(dev, &m);
    out->v[0] = (double)m.used;
    out->v[1] = (double)m.total;
    return rc;
}

static nvmlReturn_t read_memory_v1(const struct nvml_api *api, nvmlDevice_t dev,
                                   struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetMemoryInfo);
    struct nvml_memory m = {0};
    nvmlReturn_t rc = api->nvmlDeviceGetMemoryInfo(dev, &m);
    out->v[0] = (double)m.used;
    out->v[1] = (double)m.total;
    return rc;
}

static double number_of(const struct nvml_field_value *f)
{
    switch (f->valueType) {
    case NVML_TYPE_DOUBLE:
        return f->value.dVal;
    case NVML_TYPE_UINT:
        return f->value.uiVal;
    case NVML_TYPE_ULONG:
        return (double)f->value.ulVal;
    case NVML_TYPE_ULLONG:
        return (double)f->value.ullVal;
    case NVML_TYPE_SLLONG:
        return (double)f->value.sllVal;
    case NVML_TYPE_SINT:
        return f->value.siVal;
    case NVML_TYPE_USHORT:
        return f->value.usVal;
    }
    return NAN;
}

static nvmlReturn_t read_field(const struct nvml_api *api, nvmlDevice_t dev, enum nvml_field id,
                               double scale, struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetFieldValues);
    struct nvml_field_value f = {.fieldId = id, .nvmlReturn = NVML_ERROR_UNKNOWN};
    nvmlReturn_t rc = api->nvmlDeviceGetFieldValues(dev, 1, &f);
    if (rc == NVML_SUCCESS)
        rc = f.nvmlReturn;
    return positive(rc, number_of(&f) * scale, out);
}

static nvmlReturn_t read_power_now(const struct nvml_api *api, nvmlDevice_t dev,
                                   struct nvml_reading *out)
{
    return read_field(api, dev, NVML_FIELD_POWER_INSTANT, 1e-3, out);
}

static nvmlReturn_t read_power(const struct nvml_api *api, nvmlDevice_t dev,
                               struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetPowerUsage);
    unsigned mw = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetPowerUsage(dev, &mw);
    return positive(rc, mw * 1e-3, out);
}

static nvmlReturn_t read_power_limit(const struct nvml_api *api, nvmlDevice_t dev,
                                     struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetEnforcedPowerLimit);
    unsigned mw = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetEnforcedPowerLimit(dev, &mw);
    return positive(rc, mw * 1e-3, out);
}

static nvmlReturn_t read_energy(const struct nvml_api *api, nvmlDevice_t dev,
                                struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetTotalEnergyConsumption);
    unsigned long long mj = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetTotalEnergyConsumption(dev, &mj);
    out->v[0] = (double)mj * 1e-3;
    return rc;
}

static nvmlReturn_t read_temperature_v(const struct nvml_api *api, nvmlDevice_t dev,
                                       struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetTemperatureV);
    struct nvml_temperature t = {.version = NVML_TEMPERATURE_V1, .sensorType = NVML_SENSOR_GPU};
    nvmlReturn_t rc = api->nvmlDeviceGetTemperatureV(dev, &t);
    out->v[0] = t.temperature;
    return rc;
}

static nvmlReturn_t read_temperature(const struct nvml_api *api, nvmlDevice_t dev,
                                     struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetTemperature);
    unsigned celsius = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetTemperature(dev, NVML_SENSOR_GPU, &celsius);
    out->v[0] = celsius;
    return rc;
}

static nvmlReturn_t read_mem_temperature(const struct nvml_api *api, nvmlDevice_t dev,
                                         struct nvml_reading *out)
{
    return read_field(api, dev, NVML_FIELD_MEMORY_TEMP, 1, out);
}

static nvmlReturn_t read_clock(const struct nvml_api *api, nvmlDevice_t dev, enum nvml_clock clock,
                               struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetClockInfo);
    unsigned mhz = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetClockInfo(dev, clock, &mhz);
    out->v[0] = mhz * 1e6;
    return rc;
}

static nvmlReturn_t read_clock_sm(const struct nvml_api *api, nvmlDevice_t dev,
                                  struct nvml_reading *out)
{
    return read_clock(api, dev, NVML_CLOCK_SM, out);
}

static nvmlReturn_t read_clock_mem(const struct nvml_api *api, nvmlDevice_t dev,
                                   struct nvml_reading *out)
{
    return read_clock(api, dev, NVML_CLOCK_MEM, out);
}

static nvmlReturn_t read_event_reasons(const struct nvml_api *api, nvmlDevice_t dev,
                                       struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetCurrentClocksEventReasons);
    unsigned long long bits = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetCurrentClocksEventReasons(dev, &bits);
    out->v[0] = (double)bits;
    return rc;
}

static nvmlReturn_t read_throttle_reasons(const struct nvml_api *api, nvmlDevice_t dev,
                                          struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetCurrentClocksThrottleReasons);
    unsigned long long bits = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetCurrentClocksThrottleReasons(dev, &bits);
    out->v[0] = (double)bits;
    return rc;
}

static nvmlReturn_t read_fan(const struct nvml_api *api, nvmlDevice_t dev, struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetNumFans);
    NEED(api->nvmlDeviceGetFanSpeed_v2);
    unsigned fans = 0, sum = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetNumFans(dev, &fans);
    if (rc == NVML_SUCCESS && fans == 0) {
        out->why = "the board has no fan of its own";
        return NVML_ERROR_NOT_SUPPORTED;
    }
    for (unsigned i = 0; i < fans && rc == NVML_SUCCESS; i++) {
        unsigned percent = 0;
        rc = api->nvmlDeviceGetFanSpeed_v2(dev, i, &percent);
        sum += percent;
    }
    out->v[0] = fans ? sum / 100.0 / fans : NAN;
    return rc;
}

static nvmlReturn_t read_pcie_gen(const struct nvml_api *api, nvmlDevice_t dev,
                                  struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetCurrPcieLinkGeneration);
    unsigned generation = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetCurrPcieLinkGeneration(dev, &generation);
    return positive(rc, generation, out);
}

static nvmlReturn_t read_pcie_width(const struct nvml_api *api, nvmlDevice_t dev,
                                    struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetCurrPcieLinkWidth);
    unsigned lanes = 0;
    nvmlReturn_t rc = api->nvmlDeviceGetCurrPcieLinkWidth(dev, &lanes);
    return positive(rc, lanes, out);
}

static nvmlReturn_t read_ecc(const struct nvml_api *api, nvmlDevice_t dev, struct nvml_reading *out)
{
    NEED(api->nvmlDeviceGetTotalEccErrors);
    unsigned long long count = 0;
    nvmlReturn_t rc =
        api->nvmlDeviceGetTotalEccErrors(dev, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &count);
    out->v[0] = (double)count;
    return rc;
}

/* One metric a call */
#define ONE(metric, step, when, ...)                                                               \
    {                                                                                              \
        {METRIC_##metric, METRIC_NONE}, {step, 0}, NVML_##when,                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define WAY(call, read, ...)                                                                       \
    {                                                                                              \
#call, read,                                                                               \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

#define UTILIZATION "nvmlDeviceGetUtilizationRates, mean of the driver's last period (1/6 to 1 s): "

const struct nvml_reader nvml_readers[NVML_READERS] = {
    {{METRIC_GPU_UTIL, METRIC_MEM_UTIL},
     {0.01, 0.01},
     NVML_QUICK,
     {WAY(nvmlDeviceGetUtilizationRates, read_utilization, UTILIZATION "gpu",
          UTILIZATION "memory")}},
    {{METRIC_MEM_USED, METRIC_MEM_TOTAL},
     {0, 0},
     NVML_SLOW,
     {WAY(nvmlDeviceGetMemoryInfo_v2, read_memory_v2,
          "nvmlDeviceGetMemoryInfo_v2: used, without what the driver reserves",
          "nvmlDeviceGetMemoryInfo_v2: total"),
      WAY(nvmlDeviceGetMemoryInfo, read_memory_v1,
          "nvmlDeviceGetMemoryInfo: used, which includes what the driver reserves",
          "nvmlDeviceGetMemoryInfo: total")}},
    ONE(POWER, 1e-3, QUICK,
        WAY(nvmlDeviceGetFieldValues 186, read_power_now,
            "NVML field 186: power at the instant of reading"),
        WAY(nvmlDeviceGetPowerUsage, read_power,
            "nvmlDeviceGetPowerUsage: mean of 1 s on Ampere (but GA100) and later")),
    ONE(POWER_LIMIT, 1e-3, SLOW,
        WAY(nvmlDeviceGetEnforcedPowerLimit, read_power_limit, "nvmlDeviceGetEnforcedPowerLimit")),
    /* this call took 6 ms of CPU (H200, driver 580) where the others take up to 0.2 */
    ONE(ENERGY, 1e-3, COSTLY,
        WAY(nvmlDeviceGetTotalEnergyConsumption, read_energy,
            "nvmlDeviceGetTotalEnergyConsumption")),
    ONE(TEMPERATURE, 1, SLOW,
        WAY(nvmlDeviceGetTemperatureV, read_temperature_v, "nvmlDeviceGetTemperatureV"),
        WAY(nvmlDeviceGetTemperature, read_temperature, "nvmlDeviceGetTemperature")),
    ONE(MEM_TEMPERATURE, 1, SLOW,
        WAY(nvmlDeviceGetFieldValues 82, read_mem_temperature, "NVML field 82")),
    ONE(CLOCK_SM, 1e6, SLOW,
        WAY(nvmlDeviceGetClockInfo SM, read_clock_sm, "nvmlDeviceGetClockInfo: SM")),
    ONE(CLOCK_MEM, 1e6, SLOW,
        WAY(nvmlDeviceGetClockInfo memory, read_clock_mem, "nvmlDeviceGetClockInfo: memory")),
    ONE(THROTTLE, 0, QUICK,
        WAY(nvmlDeviceGetCurrentClocksEventReasons, read_event_reasons,
            "nvmlDeviceGetCurrentClocksEventReasons"),
        WAY(nvmlDeviceGetCurrentClocksThrottleReasons, read_throttle_reasons,
            "nvmlDeviceGetCurrentClocksThrottleReasons")),
    ONE(FAN, 0.01, SLOW,
        WAY(nvmlDeviceGetNumFans or nvmlDeviceGetFanSpeed_v2, read_fan,
            "nvmlDeviceGetFanSpeed_v2, mean of the fans")),
    ONE(PCIE_GEN, 1, SLOW,
        WAY(nvmlDeviceGetCurrPcieLinkGeneration, read_pcie_gen,
            "nvmlDeviceGetCurrPcieLinkGeneration")),
    ONE(PCIE_WIDTH, 1, SLOW,
        WAY(nvmlDeviceGetCurrPcieLinkWidth, read_pcie_width, "nvmlDeviceGetCurrPcieLinkWidth")),
    ONE(ECC_ERRORS, 1, SLOW,
        WAY(nvmlDeviceGetTotalEccErrors, read_ecc,
            "nvmlDeviceGetTotalEccErrors: uncorrected, since the driver was loaded")),
};
