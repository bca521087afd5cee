/* SPDX-License-Identifier: MIT */
/* The parts of the report page. */
#ifndef SMEFF_SHOW_REPORT_PARTS_H
#define SMEFF_SHOW_REPORT_PARTS_H

#include "show/report.h"

extern const char report_style[]; /* CSS */

/* Tables of numbers and states. */
void report_metrics(struct buf *out, const struct gpu_snapshot *g);
void report_processes(struct buf *out, const struct gpu_snapshot *g);
void report_server(struct buf *out, const struct snapshot *s, size_t server);

/* The gap that the tool exists for: GPU-Util as a bar above what the hardware did. */
void report_gap(struct buf *out, const struct gpu_snapshot *g);

/* Timelines. */
void report_gpu_charts(struct buf *out, const struct gpu_snapshot *g, const struct timeline *t);
void report_server_charts(struct buf *out, const struct server_snapshot *x,
                          const struct timeline *t);

/* "<th>label</th><td>text</td>" as a row; nothing when the text is empty. */
void report_fact(struct buf *out, const char *label, const char *text);

#endif
