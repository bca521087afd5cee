/* SPDX-License-Identifier: MIT */
#include "source/nsys/message.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const char no_permission[] =
    "no permission to read GPU counters: run as root or with CAP_SYS_ADMIN, or let everybody read "
    "them (module option NVreg_RestrictProfilingToAdminUsers=0)";
static const char importer[] =
    "its importer could not run, so that only a .qdstrm file came out: install the libraries that "
    "it needs (libdw1 of elfutils, most often), or the whole Nsight Systems package";

/* In this order: the reason comes before the general line that goes with it. */
static const struct {
    const char *part;
    enum status status;
    const char *text;
} meanings[] = {
    {"Already under profiling", ERR_BUSY,
     "another program holds the GPU's counters (nsys, ncu, DCGM, or another smeff)"},
    {"already in use by another instance", ERR_BUSY,
     "another program holds the GPU's counters, maybe in another container or on the host"},
    {"Insufficient privilege", ERR_PERMISSION, no_permission},
    {"ERR_NVGPUCTRPERM", ERR_PERMISSION, no_permission},
    {"does not have permission to access", ERR_PERMISSION, no_permission},
    {"permission on a vGPU was not granted", ERR_PERMISSION,
     "this virtual GPU may not read counters: its host must allow it"},
    {"Metric set is not supported by GPU", ERR_UNSUPPORTED,
     "the metric set is for another chip: leave out --metrics-set"},
    {"Illegal --gpu-metrics-set", ERR_UNSUPPORTED,
     "it does not know this metric set: leave out --metrics-set"},
    {"MIG instances found", ERR_UNSUPPORTED, "it does not sample GPUs that are split up (MIG)"},
    {"within a single MIG enabled GPU is not supported", ERR_UNSUPPORTED,
     "it does not sample GPUs that are split up (MIG)"},
    {"Confidential Compute mode", ERR_UNSUPPORTED, "no counters in Confidential Compute mode"},
    {"Protected Memory mode", ERR_UNSUPPORTED, "no counters in Protected Memory mode"},
    {"Unsupported driver version", ERR_UNSUPPORTED,
     "the driver is too old for it: update the driver, or take an older nsys"},
    {"Can't load CUDA driver", ERR_NO_GPU, "it finds no NVIDIA driver"},
    {"NVIDIA GPUs not found", ERR_NO_GPU, "it finds no GPU"},
    {"No such GPU", ERR_NO_GPU, "it does not find this GPU"},
    {"None of the installed GPUs are supported", ERR_UNSUPPORTED,
     "it supports none of the GPUs here: counters need Turing or later, and an nsys that knows the "
     "chip"},
    {"unrecognised option", ERR_UNSUPPORTED, "it does not know an option that smeff gives it"},
    {"must include one or more system-wide settings", ERR_UNSUPPORTED,
     "it cannot sample GPU counters"},
    {"file versions must match", ERR_UNSUPPORTED,
     "its importer is of another build: install Nsight Systems anew, as a whole"},
    {"newer than your current version", ERR_UNSUPPORTED,
     "the report is from a newer nsys: open it with that one"},
    {"Importer error status", ERR_NOT_FOUND, importer},
    {"skipping importation", ERR_NOT_FOUND, importer},
    {"No space left on device", ERR_IO,
     "the disk is full: make room, or let TMPDIR name another folder"},
};

enum status nsys_message_find(const char *output, struct error *err)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcasestr(output, meanings[i].part))
            return fail(err, meanings[i].status, 0, "nsys: %s", meanings[i].text);
    return OK;
}

const char *nsys_message_last(const char *output, char *dst, size_t size)
{
    dst[0] = '\0';
    for (const char *at = output; *at;) {
        size_t n = strcspn(at, "\r\n"), skip = strspn(at, " \t");
        if (skip < n)
            str_clean(dst, size, at + skip, n - skip);
        at += n + (at[n] != '\0');
    }
    return dst;
}
