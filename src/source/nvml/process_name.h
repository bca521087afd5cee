/* SPDX-License-Identifier: MIT */
/* What people call a process. */
#ifndef SMEFF_SOURCE_NVML_PROCESS_NAME_H
#define SMEFF_SOURCE_NVML_PROCESS_NAME_H

#include <stddef.h>

#include "vendor/nvml_api.h"

/* The kernel's name of it; when that was cut (at 15 characters), the command that it is the
 * beginning of. For a process that cannot be seen here (a container's, say) the driver's word, and
 * "" when it has none either. */
void process_name(const struct nvml_api *api, unsigned pid, char *dst, size_t size);

#endif
