/* SPDX-License-Identifier: MIT */
/* What a program holds of the fake libcuda: a list of everything that was given and not taken back,
 * so that a test sees what a program forgets. */
#ifndef FAKES_CUDA_OBJECTS_H
#define FAKES_CUDA_OBJECTS_H

#include "fake_cuda.h"

enum object_kind {
    CONTEXT,
    MEMORY,
    PINNED,
    STREAM,
    EVENT,
    MODULE,
    GRAPH,
    GRAPH_EXEC,
    OBJECT_KINDS
};

/* Zeroed bytes, on the list. NULL: no more room. */
void *object_give(enum object_kind kind, size_t bytes);

/* Of this kind and on the list? */
bool object_is(enum object_kind kind, const void *object);

/* Takes it back; false when it is not on the list, as after a second release. */
bool object_take(enum object_kind kind, void *object);

/* Bytes of all that are held. */
size_t object_bytes(enum object_kind kind);

#endif
