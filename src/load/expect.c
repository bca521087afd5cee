/* SPDX-License-Identifier: MIT */
#include "load/expect.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "load/chip.h"

/* Shares of the value, or points of a ratio. Those of memory and of the pipes are what a counter
 * and a load that begin and end at slightly different times can differ in; the peak that the
 * counter of dram_throughput itself has is a few percent from the driver's figures. */
#define DRAM_SHARE     0.02
#define PEAK_POINTS    0.03
#define PCIE_SHARE     0.03
#define PIPE_POINTS    0.02
#define WARPS_POINTS   0.01
#define DUTY_POINTS    0.02
#define TAIL_GR_ACTIVE 0.95
#define TAIL_SMS       1.5
#define IDLE_MAX       0.005
#define SHARE_MAX      1.02 /* what an error of the clock can make of a full pipe */

__attribute__((format(printf, 6, 7))) static void add(struct load_report *r, enum metric metric,
                                                      enum relation relation, double value,
                                                      double tolerance, const char *how, ...)
{
    if (r->n_expectations == LOAD_EXPECTATIONS_MAX)
        return;
    struct load_expectation *e = &r->expectations[r->n_expectations++];
    *e = (struct load_expectation){metric, relation, value, tolerance, ""};
    va_list ap;
    va_start(ap, how);
    vsnprintf(e->how, sizeof e->how, how, ap);
    va_end(ap);
}

static void add_rate(struct load_report *r, enum metric metric, uint64_t bytes, double share,
                     const char *what)
{
    double rate = (double)bytes / r->seconds;
    add(r, metric, RELATION_EQUAL, rate, share * rate, "%s / seconds", what);
}

static void expect_memory(struct load_report *r, bool writes)
{
    double rate = (double)(r->done.bytes_read + r->done.bytes_written) / r->seconds;
    add_rate(r, METRIC_DRAM_READ_BYTES, r->done.bytes_read, DRAM_SHARE, "bytes read");
    if (writes)
        add_rate(r, METRIC_DRAM_WRITE_BYTES, r->done.bytes_written, DRAM_SHARE, "bytes written");
    if (isnan(r->gpu.memory_peak))
        add(r, METRIC_DRAM_THROUGHPUT, RELATION_EQUAL, NAN, NAN,
            "not known: the driver does not tell the memory's clock and width");
    else if (rate > SHARE_MAX * r->gpu.memory_peak)
        add(r, METRIC_DRAM_THROUGHPUT, RELATION_EQUAL, NAN, NAN,
            "not known: the driver's clock and width of the memory give a peak of %.3g bytes/s, "
            "which was exceeded",
            r->gpu.memory_peak);
    else
        add(r, METRIC_DRAM_THROUGHPUT, RELATION_EQUAL, rate / r->gpu.memory_peak, PEAK_POINTS,
            "(bytes read + written) / seconds / peak of the memory (2 x clock x width)");
}

/* The counters count whole packets. A packet of data to the host has a header of 16 bytes (12 where
 * its address is below 4 GiB), one that answers a read 12 (PCI Express Base Specification 2.2).
 * Packets to the host are as large as the device may make them; answers as large as the host likes,
 * from 64 bytes on. On an H200 both were of 256 bytes, and the counters exact within 0.1 %. */
enum { HEADER_IN = 12, HEADER_OUT = 16, PACKET_MIN = 64 };

static void expect_range(struct load_report *r, enum metric metric, double low, double high,
                         const char *what, int header)
{
    add(r, metric, RELATION_AT_LEAST, low / r->seconds, PCIE_SHARE * low / r->seconds,
        "%s / seconds, and the least headers", what);
    add(r, metric, RELATION_AT_MOST, high / r->seconds, 0,
        "%s / seconds, and %d bytes of header for each %d", what, header, PACKET_MIN);
}

static void expect_link(struct load_report *r, enum metric metric, uint64_t bytes, int header,
                        const char *what)
{
    double payload = (double)bytes, most = payload * (1 + (double)header / (double)PACKET_MIN);
    double packet = (double)r->gpu.pcie_payload;
    double whole = packet > 0 ? payload * (1 + header / packet) : payload;
    if (r->gpu.integrated)
        add(r, metric, RELATION_EQUAL, NAN, NAN,
            "not known: this GPU shares the host's memory, nothing goes over PCIe");
    else if (header == HEADER_OUT && packet > 0)
        add(r, metric, RELATION_EQUAL, whole / r->seconds, PCIE_SHARE * whole / r->seconds,
            "%s / seconds, and %d bytes of header for each %g", what, header, packet);
    else
        expect_range(r, metric, whole, most, what, header);
}

/* Cycles in which the pipe was taken, of all cycles of all sub-partitions. */
static void expect_pipe(struct load_report *r, enum metric metric, double cycles, const char *what)
{
    if (cycles <= 0) {
        add(r, metric, RELATION_EQUAL, NAN, NAN,
            "not known: how many cycles %s takes on compute capability %u.%u was not measured yet",
            what, r->gpu.major, r->gpu.minor);
        return;
    }
    if (isnan(r->sm_clock_hz)) {
        add(r, metric, RELATION_EQUAL, NAN, NAN, "not known: the SM clock was not measured");
        return;
    }
    double all = r->sm_clock_hz * r->seconds * r->gpu.sm_count * (double)LOAD_SUB_PARTITIONS;
    double share = (double)r->done.instructions * cycles / all;
    if (share > SHARE_MAX) {
        add(r, metric, RELATION_EQUAL, NAN, NAN,
            "not known: %g cycles for %s would be %.0f %% of the time, so they are wrong here",
            cycles, what, 100 * share);
        return;
    }
    add(r, metric, RELATION_EQUAL, share, PIPE_POINTS,
        "instructions x %g cycles / (SM clock x seconds x SMs x %d sub-partitions)", cycles,
        LOAD_SUB_PARTITIONS);
}

/* Everything that tells of work. The L1's and L2's figures of an idle GPU are not 0. */
static void expect_nothing(struct load_report *r)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        bool dram = m == METRIC_DRAM_THROUGHPUT || m == METRIC_DRAM_READ || m == METRIC_DRAM_WRITE;
        bool work = info->group == GROUP_ACTIVITY || info->group == GROUP_PIPES;
        if (info->scope == SCOPE_GPU && info->unit == UNIT_RATIO && (dram || work))
            add(r, (enum metric)m, RELATION_AT_MOST, IDLE_MAX, 0, "nothing runs");
    }
}

static void expect_kind(struct load_report *r)
{
    const struct load_chip chip = load_chip(r->gpu.major, r->gpu.minor);
    r->n_expectations = 0;
    if (isnan(r->seconds) || r->seconds <= 0)
        return;
    switch (r->choice.kind) {
    case LOAD_COPY:
        expect_memory(r, true);
        break;
    case LOAD_READ:
    case LOAD_GEMV:
        expect_memory(r, false);
        break;
    case LOAD_MMA:
        expect_pipe(r, METRIC_TENSOR_ACTIVE, chip.mma_cycles, "an mma.sync m16n8k8");
        break;
    case LOAD_FMA:
        expect_pipe(r, METRIC_FMA_ACTIVE, chip.fma_cycles, "an FFMA");
        break;
    case LOAD_OCCUPANCY:
        add(r, METRIC_OCCUPANCY, RELATION_EQUAL, r->choice.argument / r->gpu.warps_per_sm,
            WARPS_POINTS, "%g warps / the %u that an SM holds", r->choice.argument,
            r->gpu.warps_per_sm);
        break;
    case LOAD_H2D:
        expect_link(r, METRIC_PCIE_RX, r->done.pcie_in, HEADER_IN, "bytes copied in");
        break;
    case LOAD_D2H:
        expect_link(r, METRIC_PCIE_TX, r->done.pcie_out, HEADER_OUT, "bytes copied out");
        break;
    case LOAD_DUTY:
        add(r, METRIC_GR_ACTIVE, RELATION_EQUAL, r->busy, DUTY_POINTS,
            "time in kernels / seconds, by the GPU's clock in the kernels");
        break;
    case LOAD_TAIL:
        add(r, METRIC_GR_ACTIVE, RELATION_AT_LEAST, TAIL_GR_ACTIVE, 0, "a kernel always runs");
        add(r, METRIC_SM_ACTIVE, RELATION_AT_MOST, TAIL_SMS / r->gpu.sm_count, 0,
            "one SM of %u works, and half of one to spare", r->gpu.sm_count);
        break;
    default:
        expect_nothing(r);
    }
}

void load_expect(struct load_report *r)
{
    expect_kind(r);
    for (size_t i = 0; i < r->n_expectations && r->stood_still; i++) {
        struct load_expectation *e = &r->expectations[i];
        e->value = e->tolerance = NAN;
        snprintf(e->how, sizeof e->how,
                 "not known: the load stood still for a moment (it was stopped, or had no CPU)");
    }
}
