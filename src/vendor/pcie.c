/* SPDX-License-Identifier: MIT */
#include "vendor/pcie.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* PCI Local Bus Specification: the list of capabilities, and PCI Express' number in it. */
enum {
    CONFIG_BYTES = 256,
    FIRST_CAPABILITY = 0x34,
    CAPABILITIES_MAX = 48,
    EXPRESS = 0x10,
    DEVICE_CONTROL = 8,
    HEADER_BYTES = 0x40
};

unsigned pcie_max_payload(const char *root, const char *bus)
{
    char path[PATH_MAX];
    uint8_t config[CONFIG_BYTES];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/config", root, bus);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, config, sizeof config);
    close(fd);
    if (n != CONFIG_BYTES)
        return 0;
    unsigned at = config[FIRST_CAPABILITY] & 0xfcu;
    for (int i = 0; i < CAPABILITIES_MAX && at >= HEADER_BYTES; i++) {
        if (config[at] == EXPRESS && at + DEVICE_CONTROL + 1 < CONFIG_BYTES) {
            unsigned code = config[at + DEVICE_CONTROL] >> 5 & 7;
            return code <= 5 ? 128u << code : 0;
        }
        at = config[at + 1] & 0xfcu;
    }
    return 0;
}
