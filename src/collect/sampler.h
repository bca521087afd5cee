/* SPDX-License-Identifier: MIT */
/* Sampler processes: starts them, reads their events, notices when one dies, hangs or falls silent,
 * starts it again after a pause, and ends them all. Knows nothing of what they sample. */
#ifndef SMEFF_COLLECT_SAMPLER_H
#define SMEFF_COLLECT_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/waits.h"
#include "event/event.h"

struct samplers;

/* path: the program to start (this one). All events but end and beat go to sink, and notes of our
 * own: a stated reason for each death. keep_stderr: samplers share our standard error. */
enum status samplers_create(struct samplers **out, const char *path, bool keep_stderr,
                            const struct event_sink *sink, struct error *err);

/* One more sampler, started at once. name is for people ("pm on GPU 0"); both are copied. */
enum status samplers_add(struct samplers *s, const char *name, const char *const *argv,
                         struct error *err);

/* Waits up to timeout_ms for events and handles what happens. Fails only when the sink does. */
enum status samplers_poll(struct samplers *s, int timeout_ms, struct error *err);

/* For loops that wait for other things, too: what samplers_poll would wait for. */
void samplers_waits(const struct samplers *s, struct waits *w);

/* How many were added. */
size_t samplers_count(const struct samplers *s);

/* How many are running, or wait to be started again. */
size_t samplers_alive(const struct samplers *s);

/* Has sampler i ended for good? */
bool samplers_is_over(const struct samplers *s, size_t i);

/* How sampler i (in the order of adding) ended for good, or last ended; OK while none did. */
enum status samplers_end(const struct samplers *s, size_t i, const char **reason);

/* Has sampler i delivered samples since it was added? */
bool samplers_delivered(const struct samplers *s, size_t i);

/* For how long has the running sampler i delivered, in seconds? 0 when it does not. */
double samplers_delivering_s(const struct samplers *s, size_t i);

/* Ends sampler i and starts it anew with other arguments, whatever it is doing. */
enum status samplers_change(struct samplers *s, size_t i, const char *const *argv,
                            struct error *err);

/* Ends samplers and does not start them again until they are released; meanwhile samplers_end says
 * busy, with this reason. list has n of their numbers. Their processes are gone when this returns,
 * after at most 1.5 s, and with them what they held. Those that are held already get the reason. */
void samplers_hold(struct samplers *s, const size_t *list, size_t n, const char *reason);
enum status samplers_release(struct samplers *s, size_t i, struct error *err);

/* The process ids of the running ones, 0 for the others. */
int samplers_pid(const struct samplers *s, size_t i);

/* Ends all samplers and waits for them. Accepts NULL. */
void samplers_destroy(struct samplers *s);

#endif
