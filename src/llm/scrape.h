/* SPDX-License-Identifier: MIT */
/* One scrape: the samples of a body that some dialect has a use for, in an order in which two
 * scrapes can be compared. */
#ifndef SMEFF_LLM_SCRAPE_H
#define SMEFF_LLM_SCRAPE_H

#include <stdint.h>

#include "base/error.h"
#include "llm/dialect.h"

enum { SCRAPE_POINTS_MAX = 64 * 1024, SCRAPE_NAME_SIZE = 80, SCRAPE_MODEL_SIZE = 128 };

/* One sample of a wanted series. */
struct point {
    uint16_t series; /* scrape_series() */
    uint16_t part;   /* enum part */
    uint64_t group;  /* of all labels but le and those of ranks that repeat one another */
    uint64_t id;     /* of all labels but le */
    uint64_t model;  /* of the labels that name a model */
    uint64_t other;  /* of the labels that smeff does not know */
    double le;       /* upper bound of a bucket, 0 for other parts */
    double value;    /* may be NaN or infinite */
};

struct scrape {
    int64_t mono_ns, unix_ns; /* when the server answered */
    double process_start;     /* process_start_time_seconds, 0 = not there */
    char start_mark[40];      /* what else changes when the server starts anew; "" = none */
    struct point *points;     /* owned; sorted by series, part, group, id, le */
    size_t n_points, cap_points;
    uint32_t present;              /* dialects, bit by number */
    bool is_router;                /* series of a label "server": those of other servers */
    unsigned models;               /* 0, 1, or 2 for more than one */
    char model[SCRAPE_MODEL_SIZE]; /* the first; "" = none */
    char names[DIALECT_COUNT][DIALECT_SERIES_MAX][SCRAPE_NAME_SIZE]; /* as in the body, cleaned */
};

/* On the heap, since it is large; NULL when memory ran out. */
struct scrape *scrape_create(void);
void scrape_destroy(struct scrape *s); /* accepts NULL */

/* Takes a body in place of what s had; its memory is used again. The times and start_mark are the
 * caller's to set. ERR_BAD_INPUT: what the body is instead, or which line is wrong, or too many
 * series; ERR_UNSUPPORTED: metrics, but of no known server. Then s is empty. */
enum status scrape_take(struct scrape *s, struct slice body, struct error *err);

/* The number of a series in points. */
static inline uint16_t scrape_series(int dialect, unsigned series)
{
    return (uint16_t)(dialect * DIALECT_SERIES_MAX + (int)series);
}

/* The points of one part of a series, with their number. */
const struct point *scrape_find(const struct scrape *s, uint16_t series, enum part part, size_t *n);

/* The first in the order of DIALECTS; DIALECT_NONE for an empty one. */
int scrape_dialect(const struct scrape *s);

#endif
