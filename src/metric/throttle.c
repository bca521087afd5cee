/* SPDX-License-Identifier: MIT */
#include "metric/throttle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* nvmlClocksEventReason… of nvml.h: bit i has word i. */
static const char *const words[THROTTLE_REASONS] = {
    "idle",
    "clocks set by an administrator",
    "power limit",
    "hardware slowdown",
    "sync boost",
    "heat (driver)",
    "heat (hardware)",
    "external power brake",
    "display clock",
};

const char *throttle_key(size_t bit)
{
    static const char *const keys[THROTTLE_REASONS] = {
        "idle",        "set_clocks",    "power_limit", "hardware",      "sync_boost",
        "heat_driver", "heat_hardware", "power_brake", "display_clock",
    };
    return keys[bit];
}

static bool append(char *dst, size_t size, const char *word)
{
    size_t used = strlen(dst), need = strlen(word) + (used ? 2 : 0);
    if (used + need >= size)
        return false;
    snprintf(dst + used, size - used, "%s%s", used ? ", " : "", word);
    return true;
}

const char *throttle_words(uint64_t bits, char *dst, size_t size)
{
    dst[0] = '\0';
    if (bits == 0)
        append(dst, size, "none");
    for (size_t i = 0; i < 64; i++) {
        uint64_t bit = UINT64_C(1) << i;
        char number[24];
        snprintf(number, sizeof number, "0x%" PRIx64, bit);
        bool known = i < THROTTLE_REASONS;
        if ((bits & bit) && !append(dst, size, known ? words[i] : number))
            break;
    }
    return dst;
}
