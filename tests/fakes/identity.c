/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include <stdio.h>

bool identity_parse_pci(const char *text, struct pci_address *out)
{
    unsigned function;
    return sscanf(text, "%x:%x:%x.%x", &out->domain, &out->bus, &out->device, &function) == 4;
}

struct pci_address identity_pci(const struct gpu *gpu)
{
    struct pci_address a = {.bus = gpu->index + 1};
    identity_parse_pci(script_text(gpu, "pci", ""), &a);
    return a;
}

void identity_uuid(const struct gpu *gpu, char *text, size_t size)
{
    const char *uuid = script_text(gpu, "uuid", NULL);
    if (uuid)
        snprintf(text, size, "%s", uuid);
    else
        snprintf(text, size, "GPU-00000000-0000-0000-0000-%012x", gpu->index + 1);
}
