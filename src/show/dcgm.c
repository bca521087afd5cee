/* SPDX-License-Identifier: MIT */
#include "show/dcgm.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/use.h"
#include "show/prom_text.h"

/* One quantity under both names; what kept its name kept its unit. legacy_scale: value in the
 * catalogue's unit × scale = that of the old name; the new ones have base units. Left out, since
 * nothing here measures them: FB_FREE and FB_RESERVED (the driver's part is not known), ENC_UTIL,
 * DEC_UTIL, XID_ERRORS, PCIE_REPLAY_COUNTER, remapped rows, vGPU licence; and
 * NVLINK_BANDWIDTH_TOTAL, whose unit is not the one that its help names. */
static const struct field {
    enum metric metric;
    const char *type;
    const char *legacy, *legacy_help;
    double legacy_scale;
    const char *current, *current_help;
} fields[] = {
    {METRIC_CLOCK_SM, "gauge", "DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", 1e-6,
     "DCGM_FI_DEV_SM_CLOCK_HERTZ", "SM clock frequency (in Hz)."},
    {METRIC_CLOCK_MEM, "gauge", "DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", 1e-6,
     "DCGM_FI_DEV_MEMORY_CLOCK_HERTZ", "Memory clock frequency (in Hz)."},
    {METRIC_MEM_TEMPERATURE, "gauge", "DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", 1,
     "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS", "Memory temperature (in C)."},
    {METRIC_TEMPERATURE, "gauge", "DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", 1,
     "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "GPU temperature (in C)."},
    {METRIC_POWER, "gauge", "DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", 1,
     "DCGM_FI_DEV_BOARD_POWER_WATTS", "Power draw (in W)."},
    {METRIC_POWER_LIMIT, "gauge", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT",
     "Power limit that the driver enforces (in W).", 1,
     "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS",
     "Power limit that the driver enforces (in W)."},
    {METRIC_ENERGY, "counter", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
     "Total energy consumption since boot (in mJ).", 1e3, "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL",
     "Total energy consumption since boot (in J)."},
    {METRIC_GPU_UTIL, "gauge", "DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", 100,
     "DCGM_FI_DEV_GPU_UTIL_RATIO", "GPU utilization (0 to 1)."},
    {METRIC_MEM_UTIL, "gauge", "DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", 100,
     "DCGM_FI_DEV_MEMORY_UTIL_RATIO", "Memory utilization (0 to 1)."},
    {METRIC_MEM_TOTAL, "gauge", "DCGM_FI_DEV_FB_TOTAL", "Framebuffer memory in all (in MiB).",
     1.0 / 1048576, "DCGM_FI_DEV_FB_CAPACITY_BYTES", "Framebuffer memory in all (in bytes)."},
    {METRIC_MEM_USED, "gauge", "DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).",
     1.0 / 1048576, "DCGM_FI_DEV_FB_USED_BYTES", "Framebuffer memory used (in bytes)."},
    {METRIC_THROTTLE, "gauge", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
     "Reasons for which clocks are held down (bit mask of NVML).", 1,
     "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
     "Reasons for which clocks are held down (bit mask of NVML)."},
    {METRIC_FAN, "gauge", "DCGM_FI_DEV_FAN_SPEED", "Fan speed (in %).", 100,
     "DCGM_FI_DEV_FAN_SPEED", "Fan speed (in %)."},
    {METRIC_PCIE_GEN, "gauge", "DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation in use.", 1,
     "DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation in use."},
    {METRIC_PCIE_WIDTH, "gauge", "DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes in use.", 1,
     "DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes in use."},
    {METRIC_ECC_ERRORS, "counter", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
     "Total number of double-bit volatile ECC errors.", 1, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
     "Total number of double-bit volatile ECC errors."},
    {METRIC_GR_ACTIVE, "gauge", "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
     "Ratio of time the graphics engine is active.", 1, "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
     "Ratio of time the graphics engine is active."},
    {METRIC_SM_ACTIVE, "gauge", "DCGM_FI_PROF_SM_ACTIVE",
     "The ratio of cycles an SM has at least 1 warp assigned.", 1, "DCGM_FI_PROF_SM_UTIL_RATIO",
     "The ratio of cycles an SM has at least 1 warp assigned."},
    {METRIC_OCCUPANCY, "gauge", "DCGM_FI_PROF_SM_OCCUPANCY",
     "The ratio of number of warps resident on an SM.", 1, "DCGM_FI_PROF_SM_OCCUPANCY_RATIO",
     "The ratio of number of warps resident on an SM."},
    {METRIC_TENSOR_ACTIVE, "gauge", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
     "Ratio of cycles the tensor pipe is active.", 1, "DCGM_FI_PROF_TENSOR_UTIL_RATIO",
     "Ratio of cycles the tensor pipe is active."},
    {METRIC_TENSOR_HMMA_ACTIVE, "gauge", "DCGM_FI_PROF_PIPE_TENSOR_HMMA_ACTIVE",
     "Ratio of cycles the tensor pipe does floating-point work.", 1, "DCGM_FI_PROF_HMMA_UTIL_RATIO",
     "Ratio of cycles the tensor pipe does floating-point work."},
    {METRIC_TENSOR_IMMA_ACTIVE, "gauge", "DCGM_FI_PROF_PIPE_TENSOR_IMMA_ACTIVE",
     "Ratio of cycles the tensor pipe does integer work.", 1, "DCGM_FI_PROF_IMMA_UTIL_RATIO",
     "Ratio of cycles the tensor pipe does integer work."},
    {METRIC_FP64_ACTIVE, "gauge", "DCGM_FI_PROF_PIPE_FP64_ACTIVE",
     "Ratio of cycles the fp64 pipes are active.", 1, "DCGM_FI_PROF_FP64_UTIL_RATIO",
     "Ratio of cycles the fp64 pipes are active."},
    {METRIC_DRAM_THROUGHPUT, "gauge", "DCGM_FI_PROF_DRAM_ACTIVE",
     "Ratio of cycles the device memory interface is active sending or receiving data.", 1,
     "DCGM_FI_PROF_DRAM_UTIL_RATIO",
     "Ratio of cycles the device memory interface is active sending or receiving data."},
    {METRIC_PCIE_TX, "gauge", "DCGM_FI_PROF_PCIE_TX_BYTES",
     "The rate of data sent over PCIe (in bytes per second).", 1, "DCGM_FI_PROF_PCIE_TX_BYTES",
     "The rate of data sent over PCIe (in bytes per second)."},
    {METRIC_PCIE_RX, "gauge", "DCGM_FI_PROF_PCIE_RX_BYTES",
     "The rate of data received over PCIe (in bytes per second).", 1, "DCGM_FI_PROF_PCIE_RX_BYTES",
     "The rate of data received over PCIe (in bytes per second)."},
    {METRIC_NVLINK_TX, "gauge", "DCGM_FI_PROF_NVLINK_TX_BYTES",
     "The rate of data sent over NVLink (in bytes per second).", 1, "DCGM_FI_PROF_NVLINK_TX_BYTES",
     "The rate of data sent over NVLink (in bytes per second)."},
    {METRIC_NVLINK_RX, "gauge", "DCGM_FI_PROF_NVLINK_RX_BYTES",
     "The rate of data received over NVLink (in bytes per second).", 1,
     "DCGM_FI_PROF_NVLINK_RX_BYTES",
     "The rate of data received over NVLink (in bytes per second)."},
};

struct page {
    struct buf *out;
    const struct snapshot *s;
    const struct totals *totals;
    const char *hostname;
};

/* "0000:1a:00.0" as DCGM has it: "00000000:1A:00.0". */
static const char *pci_bus_id(char dst[32], const char *bus)
{
    snprintf(dst, 32, "%s%.24s", strcspn(bus, ":") == 4 ? "0000" : "", bus);
    for (char *p = dst; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return dst;
}

/* with_old: the host under its name of up to 4.8.2, too. Both are one series, not two. */
static void put_sample(struct prom_family *f, const struct page *p, const struct gpu_snapshot *g,
                       bool with_old, double v)
{
    char index[16], device[32], bus[32];
    struct prom_label labels[PROM_LABELS_MAX] = {{"gpu", index},
                                                 {"UUID", g->uuid},
                                                 {"pci_bus_id", pci_bus_id(bus, g->pci_bus)},
                                                 {"device", device},
                                                 {"modelName", g->name},
                                                 {"hostname", p->hostname},
                                                 {with_old ? "Hostname" : NULL, p->hostname}};
    snprintf(index, sizeof index, "%u", g->index);
    snprintf(device, sizeof device, "nvidia%u", g->index);
    prom_sample(f, labels, v);
}

static double sound_or_nan(const struct gpu_snapshot *g, enum metric m)
{
    return value_is_sound(&g->metrics[m].value) ? g->metrics[m].value.v : NAN;
}

/* The driver's own count, as long as it is read. */
static double count_of(const struct page *p, const struct gpu_snapshot *g, enum metric m)
{
    struct total total = totals_of(p->totals, g->index, m);
    enum value_state state = g->metrics[m].value.state;
    bool is_known = total.is_offered && state != VALUE_STALE && state != VALUE_SUSPECT;
    return is_known ? total.reading : NAN;
}

/* Reads and writes of their own samples can add up to a little above the peak. */
static double dram_of(const struct gpu_snapshot *g)
{
    double share = use_memory(g).share;
    return share > 1 ? 1 : share; /* fmin(1, NaN) would be 1 */
}

static double value_of(const struct page *p, const struct gpu_snapshot *g, const struct field *x)
{
    if (metric_info(x->metric)->kind == KIND_COUNTER)
        return count_of(p, g, x->metric);
    return x->metric == METRIC_DRAM_THROUGHPUT ? dram_of(g) : sound_or_nan(g, x->metric);
}

/* 0.29 in percent is 29, not 28.999999999999996. */
static double scaled(double v, double scale)
{
    return scale > 1 || scale < 1 ? round(v * scale * 1e6) / 1e6 : v;
}

static void put_legacy(const struct page *p, const struct field *x)
{
    struct prom_family f = {p->out, x->legacy, x->type, x->legacy_help, false};
    for (size_t i = 0; i < p->s->n_gpus; i++)
        put_sample(&f, p, &p->s->gpus[i], true,
                   scaled(value_of(p, &p->s->gpus[i], x), x->legacy_scale));
}

static bool same_name(const struct field *x)
{
    return strcmp(x->current, x->legacy) == 0;
}

static void put_current(const struct page *p, const struct field *x)
{
    struct prom_family f = {p->out, x->current, x->type, x->current_help, false};
    for (size_t i = 0; i < p->s->n_gpus; i++)
        put_sample(&f, p, &p->s->gpus[i], false,
                   scaled(value_of(p, &p->s->gpus[i], x), same_name(x) ? x->legacy_scale : 1));
}

void show_dcgm(struct buf *out, const struct snapshot *s, const struct totals *totals,
               enum dcgm_names names, const char *hostname)
{
    const struct page p = {out, s, totals, hostname};
    const size_t n = s ? sizeof fields / sizeof fields[0] : 0;
    for (size_t i = 0; names != DCGM_CURRENT && i < n; i++)
        put_legacy(&p, &fields[i]);
    for (size_t i = 0; names != DCGM_LEGACY && i < n; i++) {
        const struct field *x = &fields[i];
        bool is_there = names == DCGM_BOTH && same_name(x);
        if (!is_there)
            put_current(&p, x);
    }
}
