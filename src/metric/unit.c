/* SPDX-License-Identifier: MIT */
#include "metric/unit.h"
