/* SPDX-License-Identifier: MIT */
/* An open export, as the files of this folder share it. */
#ifndef SMEFF_SOURCE_NSYS_EXPORT_H
#define SMEFF_SOURCE_NSYS_EXPORT_H

#include "source/nsys/diag.h"
#include "source/nsys/nsys.h"
#include "source/nsys/survey.h"

struct nsys_export {
    sqlite3 *db;
    bool all;
    struct nsys_meta meta;
    struct nsys_diag diag;
    struct nsys_survey survey;
    enum nsys_names_from from;
    uint64_t unknown_rows, bad_rows; /* of the last reading */
};

enum status nsys_push_plan(const struct nsys_gpu *g, const struct event_sink *sink,
                           struct error *err);

#endif
