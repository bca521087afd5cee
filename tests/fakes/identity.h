/* SPDX-License-Identifier: MIT */
/* Who a GPU is; the same answers from all fake libraries. */
#ifndef FAKES_IDENTITY_H
#define FAKES_IDENTITY_H

#include "script.h"

struct pci_address {
    unsigned domain, bus, device;
};

/* The script's pci, or 0000:01:00.0, 0000:02:00.0, … by the GPU's index. */
struct pci_address identity_pci(const struct gpu *gpu);

/* False when text is no address ("0000:1b:00.0", also with 8 digits of domain). */
bool identity_parse_pci(const char *text, struct pci_address *out);

/* The script's uuid, or GPU-00000000-0000-0000-0000-00000000000N. */
void identity_uuid(const struct gpu *gpu, char *text, size_t size);

#endif
