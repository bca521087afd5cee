/* SPDX-License-Identifier: MIT */
/* Which NVIDIA GPUs are on the PCI bus and which of them sleep, from files alone: to ask the driver
 * would wake them. root is put in front of each path: "" = this machine, else a test's folder. */
#ifndef SMEFF_SOURCE_NVML_PCI_H
#define SMEFF_SOURCE_NVML_PCI_H

#include <stdbool.h>
#include <stddef.h>

enum { NVML_PCI_SIZE = 24, NVML_PCI_MAX = 64 };

/* "0000:1b:00.0" */
struct nvml_pci {
    char id[NVML_PCI_SIZE];
};

/* The GPUs that the nvidia driver has, in the order of their ids, which is NVML's own. A container
 * may see GPUs here that NVML does not show it. Returns how many. */
size_t nvml_pci_list(const char *root, struct nvml_pci list[NVML_PCI_MAX]);

/* How many of them have a device file: as many as the list has when none is withheld. */
size_t nvml_pci_nodes(const char *root);

/* Is it runtime suspended? False when that is not known. */
bool nvml_pci_sleeps(const char *root, const char *id);

#endif
