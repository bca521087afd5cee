/* SPDX-License-Identifier: MIT */
/* Fake libnvperf_host and libnvperf_target: all that matters is that they can be loaded. */
extern int fake_nvperf;
__attribute__((visibility("default"))) int fake_nvperf = 1;
