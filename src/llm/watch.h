/* SPDX-License-Identifier: MIT */
/* Watches inference servers: asks all of them at once, keeps the scrapes that a window needs, and
 * says at any time what is known. Nothing here blocks for longer than asked. */
#ifndef SMEFF_LLM_WATCH_H
#define SMEFF_LLM_WATCH_H

#include "llm/fetch.h"
#include "llm/signals.h"

struct watch;

struct watch_place {
    struct target target;
    int pid;           /* of the process that listens there, 0 = not known */
    bool is_named;     /* by the user, not found by us */
    const char *token; /* NULL = none; copied */
};

enum status watch_create(struct watch **out, struct error *err);
void watch_destroy(struct watch *w); /* accepts NULL */
enum status watch_add(struct watch *w, const struct watch_place *place, struct error *err);
size_t watch_count(const struct watch *w);

/* Those behind it move up by one. */
void watch_remove(struct watch *w, size_t index);

/* What watch_view tells without reading the scrapes; the target is valid until the next step. */
const struct target *watch_target(const struct watch *w, size_t index);
int watch_pid(const struct watch *w, size_t index); /* as it was added with */

/* Is it never asked again, since what answers there has no metrics of an inference server? Only of
 * those that nobody named. */
bool watch_is_left(const struct watch *w, size_t index);

/* Asks every server that owes no answer and did not fail lately: after a failure 1 s passes, after
 * the next 2, and so on up to 30. What nobody named and has no metrics is not asked again. */
void watch_begin(struct watch *w);

/* Moves all requests on, waiting at most timeout_ms, and takes one answer; returns how many servers
 * still owe one. Reading an answer of 8 MiB takes tens of milliseconds, and when the other answers
 * begin must not be noticed late. */
size_t watch_step(struct watch *w, int timeout_ms);

/* Does this server owe an answer? */
bool watch_waits(const struct watch *w, size_t index);

/* The newest scrape of each server is the beginning of its window from now on. It also is where a
 * server started anew. */
void watch_mark(struct watch *w);

struct watch_view {
    const struct target *target;
    int pid;
    bool is_named, is_absent;       /* absent: nobody listened there at the last try */
    enum value_state state;         /* of the server's last answer; ok: metrics */
    char reason[VALUE_REASON_SIZE]; /* "" when ok */
    bool is_known;                  /* metrics of a server that smeff knows came at some time */
    const char *model;              /* "" = the server does not tell; valid until the next step */
    unsigned models;                /* 2: more than one */
    bool is_router;                 /* shows series of other servers */
    double answer_seconds;          /* how long the last answer took */
    double age_seconds;             /* of the newest scrape */
    int64_t unix_ns;                /* when it was; 0 = there is none */
    struct signals signals;
};

void watch_view(const struct watch *w, size_t index, struct watch_view *out);

#endif
