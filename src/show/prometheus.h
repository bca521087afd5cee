/* SPDX-License-Identifier: MIT */
/* What /metrics says: everything under our own names, in base units, as Prometheus wants it
 * (https://prometheus.io/docs/practices/naming/). Pure. docs/interface.md has the names.
 *
 * A number is only sent where its state is ok. What is not known is no sample, never a 0; why it is
 * not is in smeff_metric_state. */
#ifndef SMEFF_SHOW_PROMETHEUS_H
#define SMEFF_SHOW_PROMETHEUS_H

#include <stdbool.h>

#include "base/buf.h"
#include "collect/snapshot.h"
#include "collect/totals.h"

/* The exporter itself. NaN = not known. */
struct show_exporter {
    bool is_up;     /* the stream that the snapshot is made from lives */
    double cpu_s;   /* user and system time of the process */
    double start_s; /* UNIX time at which the process began */
    double memory_bytes, virtual_bytes;
    double open_fds, max_fds;
};

/* s NULL = no snapshot yet. Where the stream is down, GPUs are named, and nothing is said of them
 * but that they are down. */
void show_prometheus(struct buf *out, const struct snapshot *s, const struct totals *totals,
                     const struct show_exporter *e);

enum { PROMETHEUS_NAME_SIZE = 96 };

/* "smeff_sm_active_ratio", of a server's metric "smeff_server_kv_usage_ratio": the gauge of a
 * metric. Returns dst. */
const char *prometheus_gauge_name(char dst[PROMETHEUS_NAME_SIZE], enum metric m);

/* "smeff_sm_active_seconds_total", "smeff_dram_read_bytes_total"; "" for a metric that has none. */
const char *prometheus_counter_name(char dst[PROMETHEUS_NAME_SIZE], enum metric m);

/* A reason that stays the same while its numbers change: each number that stands alone becomes N,
 * since another label value would be another series. Returns dst. */
const char *prometheus_reason(char dst[VALUE_REASON_SIZE], const char *reason);

#endif
