/* SPDX-License-Identifier: MIT */
/* The judge's thresholds, with where each comes from. Shares of time or of a peak, 0..1.
 *
 * "ours" marks a choice of this project. It was checked against the recordings in data/h200 and the
 * patterns in tests/unit/test_verdict.c, and against nothing else. */
#ifndef SMEFF_JUDGE_THRESHOLDS_H
#define SMEFF_JUDGE_THRESHOLDS_H

#include "collect/snapshot.h"

/* A unit is the limit from 60 % of its peak on. Nsight Compute's "Speed Of Light" section calls a
 * kernel latency bound when both memory and compute stay below that
 * (https://docs.nvidia.com/nsight-compute/ProfilingGuide/). It says so of one kernel; here it is
 * asked of a whole window, and therefore of the time in which the engine had work. */
#define AT_LIMIT 0.60

/* A window mixes kernels, so that a unit that limits the longest of them need not reach 60 % in the
 * mean: 45 % are enough with 1.5 times the share of the next unit (ours). */
#define NEAR_LIMIT 0.45
#define LEAD       1.5

/* Units at their limit within 10 points of each other limit together (Nsight Compute, as above). */
#define CLOSE 0.10

/* Below 80 % engine time the gaps cost more than any tuning of a kernel usually gives; below 50 %
 * they cost more than everything else together (ours). */
#define BUSY   0.80
#define MOSTLY 0.50

/* A share is divided by the engine's only from 5 % on: below, rounding decides (ours). */
#define ENGINE_MIN 0.05

/* An engine that has work less than 10 % of the time, evenly, hardly gets any; a host that launches
 * as fast as it can reaches more: 35 to 45 % in eager decoding with batch 1 (ours). */
#define TRICKLE 0.10

/* Work comes in bursts when a fifth of the samples shows none and the busiest twentieth half of the
 * time or more; unevenly when the 5th and 95th percentile lie 40 points apart (ours). */
#define PAUSES 0.20
#define BURST  0.50
#define SPREAD 0.40

/* SMs without a warp half of the time in spite of a busy engine: too little parallelism (ours). */
#define PARALLEL 0.50

/* Collectives use a link in short bursts between kernels: tensor-parallel decoding waits for them
 * at a quarter of the link's peak. 5 % are worth a line (ours). */
#define LINK_LIMIT 0.20
#define LINK_SHOWN 0.05

/* Inactive NVLinks may read 100 % (NVIDIA's user guide of nsys). */
#define LINK_PHANTOM 0.95

/* Fewer samples than 5 are an anecdote. Below 20 the nearest-rank 95th percentile is the largest
 * sample, and one sample must not decide. */
enum { SAMPLES_MIN = 5, QUANTILE_SAMPLES_MIN = 20 };

/* A server's window and a GPU's are one when three quarters of both together are common: the ends
 * of a measurement of a second lie a fifth apart (ours). */
#define SAME_WINDOW 0.75

/* GPUs' windows of a second fit a server's of 3 s wherever it begins: their ends lie at most half a
 * second apart. The window before is the last one if it ended when this one began (ours). */
#define WINDOW_FITS_S   3.0
#define WINDOW_FOLLOW_S 1.5

/* Bytes that were sampled over less of a window than this are not those of its tokens (ours). */
#define COVERAGE_LEAST 0.9

/* From here on a server sets requests back or lets them wait for room in its KV cache (ours). */
#define KV_FULL 0.95

/* "About one request runs": the mean of the readings (ours). Below a twentieth of the peak the
 * resolution of its share decides what a GPU's peak is reckoned to be (ours). */
#define ONE_LEAST 0.5
#define ONE_MOST  1.5
#define PEAK_MIN  0.05

/* Memory time longer than the time per token contradicts itself, beyond what windows differ. */
#define EXPLAINED_MAX 1.1

/* Differences of decimal fractions are not exact. */
#define SLACK 1e-9

#endif
