/* SPDX-License-Identifier: MIT */
/* What holds at a moment of a stream: the newest line of each thing that is said once and stays
 * true. Who begins to read there needs it. */
#ifndef SMEFF_COLLECT_PREAMBLE_H
#define SMEFF_COLLECT_PREAMBLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "event/event.h"

/* What a line is about; a later one with the same key takes its place. */
struct preamble_key {
    enum event_kind kind;
    unsigned gpu;
    enum source_id source;
    uint32_t name; /* of a server: a hash of its URL */
    bool ends;     /* from here on there is no such thing any more */
};

struct preamble_line {
    struct preamble_key key;
    char *text; /* owned */
    size_t len;
};

/* A zeroed one is empty. */
struct preamble {
    struct preamble_line *list;
    size_t n;
};

void preamble_fini(struct preamble *p);

/* false: an event of the moment, which does not stay true. */
bool preamble_key_of(const struct event *ev, struct preamble_key *out);

enum status preamble_take(struct preamble *p, const struct preamble_key *key, const char *text,
                          size_t len, struct error *err);

/* Appends another's lines over those of p. */
enum status preamble_copy(struct preamble *dst, const struct preamble *src, struct error *err);

/* The lines in an order in which a reader can take them. */
void preamble_print(const struct preamble *p, struct buf *out);

#endif
