/* SPDX-License-Identifier: MIT */
/* What a process that strangers talk to must not have. */
#ifndef SMEFF_HTTP_PRIVILEGES_H
#define SMEFF_HTTP_PRIVILEGES_H

#include <stdbool.h>

#include "base/error.h"

/* For good: no capability in any set, none to be got by what is started, not dumpable; as root,
 * the user and group nobody (65534), without other groups, each as far as it may. parent: it ends
 * when that process does. *is_root: it stays root, without a capability, since it has no right to
 * become another user (a container that has none). ERR_PERMISSION: something is still there. */
enum status privileges_drop(int parent, bool *is_root, struct error *err);

#endif
