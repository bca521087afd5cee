/* SPDX-License-Identifier: MIT */
#include "cmd/doctor_nsys.h"

#include <stdio.h>

#include "source/nsys/tool.h"

static enum status examine(struct nsys_tool *t, struct error *err)
{
    struct nsys_device devices[NSYS_DEVICES_MAX];
    size_t n = 0;
    enum status st = nsys_tool_learn(t, err);
    if (!st)
        st = nsys_tool_devices(t, devices, &n, err);
    if (!st && !nsys_has_importer(t->found))
        st = fail(err, ERR_NOT_FOUND, 0,
                  "its importer (QdstrmImporter) is not beside it, so that it can make no report: "
                  "install the whole Nsight Systems package");
    return st;
}

void doctor_nsys_look(const char *name, struct doctor_nsys *out)
{
    struct nsys_tool tool;
    struct error err = ERROR_INIT;
    const struct nsys_places places = nsys_places_here();
    *out = (struct doctor_nsys){0};
    out->status = nsys_tool_open(&tool, &places, name, &err);
    if (!out->status) {
        snprintf(out->path, sizeof out->path, "%s", tool.found);
        snprintf(out->version, sizeof out->version, "%s", tool.version.text);
        out->status = examine(&tool, &err);
        nsys_tool_close(&tool);
    }
    out->usable = out->status == OK;
    snprintf(out->reason, sizeof out->reason, "%s", out->usable ? "" : err.text);
}
