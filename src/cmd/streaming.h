/* SPDX-License-Identifier: MIT */
/* The events of this machine, or of a daemon or a recording, into a sink until told to end: what
 * stream and record have in common. */
#ifndef SMEFF_CMD_STREAMING_H
#define SMEFF_CMD_STREAMING_H

#include "cmd/request.h"
#include "event/event.h"

/* seconds 0 = until stopped. The last event is end. Complains when it fails; returns an exit code.
 */
int streaming_run(const struct options *o, const struct request *r, double seconds,
                  const struct event_sink *out);

/* The options that it honours. */
#define STREAMING_OPTIONS                                                                          \
    (OPTION(GPU) | OPTION(BACKEND) | OPTION(RATE) | OPTION(SET) | OPTION(METRIC) | OPTION(CUPTI) | \
     OPTION(NSYS) | OPTION(METRICS_SET) | OPTION(SERVER) | OPTION(TOKEN_FILE) | OPTION(OWN) |      \
     OPTION(RUN_DIR) | OPTION(REPLAY) | OPTION(SPEED) | OPTION(LOOP))

#endif
