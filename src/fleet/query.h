/* SPDX-License-Identifier: MIT */
/* What a Prometheus server is asked for a fleet, and how its answers are read
 * (https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries). The first query
 * lists the GPUs, and the others fill its rows, in any order. */
#ifndef SMEFF_FLEET_QUERY_H
#define SMEFF_FLEET_QUERY_H

#include "fleet/fleet.h"

enum { FLEET_QUERY_SIZE = 320, FLEET_PATH_SIZE = 480 };

/* Means go over so long; at least two scrapes of a minute lie in it. */
#define FLEET_RANGE "5m"

/* How many queries there are. */
size_t fleet_queries(void);

/* The query of that number, in PromQL. Returns dst. */
const char *fleet_query(size_t i, char dst[FLEET_QUERY_SIZE]);

/* The same as path and query of a URL, behind prefix ("" or "/prometheus"); as of at_ns, UNIX time,
 * so that all queries of a round see one moment. Returns dst. */
const char *fleet_query_path(size_t i, const char *prefix, int64_t at_ns,
                             char dst[FLEET_PATH_SIZE]);

/* Takes the answer to query i. Of the first the list is made anew: f then holds nothing but who
 * there is. What fits no row is left out. ERR_BAD_INPUT: it is no answer of that API, or the server
 * refused the query, with its words. */
enum status fleet_take(struct fleet *f, size_t i, const char *body, size_t len, struct error *err);

#endif
