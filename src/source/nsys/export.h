/* SPDX-License-Identifier: MIT */
/* An open export, as the files of this folder share it. */
#ifndef SMEFF_SOURCE_NSYS_EXPORT_H
#define SMEFF_SOURCE_NSYS_EXPORT_H

#include "source/nsys/db.h"
#include "source/nsys/diag.h"
#include "source/nsys/nsys.h"
#include "source/nsys/survey.h"

struct nsys_export {
    struct nsys_db db;
    bool all;
    struct nsys_meta meta;
    struct nsys_diag diag;
    struct nsys_survey survey;
    enum nsys_names_from from;
    /* of the last reading */
    uint64_t unknown_rows; /* their metric id has no name */
    uint64_t foreign_rows; /* of a typeId that is none of the GPUs */
    uint64_t bad_rows;
};

enum status nsys_push_plan(const struct nsys_gpu *g, const struct event_sink *sink,
                           struct error *err);

#endif
