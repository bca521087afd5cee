/* SPDX-License-Identifier: MIT */
#include "vendor/driver.h"

#include <ctype.h>
#include <string.h>

#include "base/os.h"
#include "base/str.h"

/* The first word that begins with a digit and has a dot: "NVRM version: NVIDIA UNIX Open Kernel
 * Module for x86_64  580.159.03  Release Build …". */
static void take_version(const char *text, char *dst, size_t size)
{
    dst[0] = '\0';
    for (const char *p = text; *p && *p != '\n';) {
        size_t n = strcspn(p, " \t\n");
        if (isdigit((unsigned char)*p) && memchr(p, '.', n)) {
            str_clean(dst, size, p, n);
            return;
        }
        p += n;
        p += strspn(p, " \t");
    }
}

void driver_read(const char *root, struct driver_info *out)
{
    char text[8192];
    *out = (struct driver_info){.open = -1};
    out->loaded = os_read(root, "/proc/driver/nvidia/version", text, sizeof text);
    if (out->loaded) {
        out->open = strstr(text, "Open Kernel Module") != NULL;
        take_version(text, out->version, sizeof out->version);
    } else if (os_read(root, "/sys/module/nvidia/version", text, sizeof text)) {
        out->loaded = true;
        take_version(text, out->version, sizeof out->version);
    }
}
