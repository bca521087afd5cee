/* SPDX-License-Identifier: MIT */
/* A recording played as if it happened now: the same events at the same distances, with today's
 * times. Everything above a source can be tried and tested with it, without a GPU. */
#ifndef SMEFF_SOURCE_REPLAY_REPLAY_H
#define SMEFF_SOURCE_REPLAY_REPLAY_H

#include "source/source.h"

/* Needs request->file; honours speed, loop and gpus. Plays the events of all sources and servers of
 * the recording. Its run() ends with OK at the end of the recording. */
extern const struct source_ops replay_ops;

#endif
