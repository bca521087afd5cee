/* SPDX-License-Identifier: MIT */
/* What the NVIDIA kernel driver says of itself, without loading its libraries. */
#ifndef SMEFF_VENDOR_DRIVER_H
#define SMEFF_VENDOR_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

enum { DRIVER_VERSION_SIZE = 32 };

struct driver_info {
    bool loaded;
    int open;                          /* the open kernel module: 1 yes, 0 no, -1 not known */
    char version[DRIVER_VERSION_SIZE]; /* "580.159.03"; "" = not known */
};

/* From /proc/driver/nvidia/version, which containers may hide, or /sys/module/nvidia/version; root
 * is put in front of them. */
void driver_read(const char *root, struct driver_info *out);

#endif
