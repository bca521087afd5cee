/* SPDX-License-Identifier: MIT */
/* Whose number is taken when several sources have one: the finer source. */
#ifndef SMEFF_COLLECT_RANK_H
#define SMEFF_COLLECT_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/value.h"

static inline int source_rank(enum source_id source)
{
    switch (source) {
    case SOURCE_PM:
        return 4;
    case SOURCE_NSYS:
        return 3;
    case SOURCE_GPM:
        return 2;
    default:
        return source == SOURCE_NONE ? 0 : 1;
    }
}

/* A finer source that was silent for so long has lost its place. */
#define SOURCE_SILENT_NS INT64_C(3000000000)

/* May source, with a sample of at_ns, write where writer did until writer_end_ns (UNIX time)? The
 * finest does, as long as it delivers. */
static inline bool source_may_write(enum source_id source, int64_t at_ns, enum source_id writer,
                                    int64_t writer_end_ns)
{
    return source == writer || source_rank(source) > source_rank(writer) ||
           at_ns - writer_end_ns >= SOURCE_SILENT_NS;
}

#endif
