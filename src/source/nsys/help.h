/* SPDX-License-Identifier: MIT */
/* What nsys tells of itself: its options, the GPUs and metric sets that it knows. Pure. */
#ifndef SMEFF_SOURCE_NSYS_HELP_H
#define SMEFF_SOURCE_NSYS_HELP_H

#include <stdbool.h>
#include <stddef.h>

/* Spelling changed over the versions, so the program is asked (`nsys profile --help`). */
struct nsys_options {
    const char
        *devices;    /* static: "--gpu-metrics-devices", or as older ones have it; NULL = none */
    const char *set; /* static: "--gpu-metrics-set" or "--gpu-metrics-sets"; NULL = none */
    bool discard_environment;
};
void nsys_options_parse(const char *help, struct nsys_options *out);

enum { NSYS_DEVICES_MAX = 64, NSYS_SETS_MAX = 64 };

/* A line "0: Hopper GH100 | NVIDIA H200 PCI[0000:00:06.0]" of --gpu-metrics-devices=help. */
struct nsys_device {
    unsigned id; /* nsys's own: neither CUDA's nor nvidia-smi's */
    char chip[32], name[96];
    char bus[32]; /* "0000:00:06.0"; "" = not said */
};
size_t nsys_devices_parse(const char *text, struct nsys_device list[NSYS_DEVICES_MAX]);

/* The aliases that --gpu-metrics-set=help lists, a line each: "gh100: General Metrics for …". */
struct nsys_set {
    char alias[48];
};
size_t nsys_sets_parse(const char *text, struct nsys_set list[NSYS_SETS_MAX]);

#endif
