/* SPDX-License-Identifier: MIT */
/* `smeff load` as a process of its own. */
#ifndef SMEFF_CMD_LOAD_CHILD_H
#define SMEFF_CMD_LOAD_CHILD_H

#include <jansson.h>

#include "base/buf.h"
#include "base/proc.h"

struct load_child {
    struct proc proc;
    struct buf text;  /* what it wrote and was not taken yet */
    json_t *report;   /* the last line; owned, NULL = not yet */
    int64_t begin_ns; /* of the steady part, UNIX time; 0 = not yet */
    int wait_status;
    bool ended;
};

#define LOAD_CHILD_INIT                                                                            \
    {                                                                                              \
        .proc = PROC_INIT, .text = BUF_INIT                                                        \
    }

/* Its messages go to our standard error. */
enum status load_child_start(struct load_child *l, unsigned gpu, const char *load, double seconds,
                             struct error *err);

/* Takes what has come; never blocks. */
void load_child_read(struct load_child *l);

/* Ends it. Accepts LOAD_CHILD_INIT. */
void load_child_fini(struct load_child *l);

#endif
