/* SPDX-License-Identifier: MIT */
#include "collect/sampler.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "event/pipe.h"

/* START: loading vendor libraries and taking hold of a GPU took up to 2 s; a cold driver without
 * persistence mode takes several. SILENCE: a source says something each second. BACKOFF: the pause
 * before a new start doubles from the first to the last; HEALTHY: after so long it begins anew.
 * BUSY: how long to wait before asking again for counters that another process holds. */
enum {
    START_MS = 20000,
    SILENCE_MS = 2500,
    BACKOFF_FIRST_MS = 100,
    BACKOFF_LAST_MS = 30000,
    HEALTHY_MS = 30000,
    BUSY_MS = 5000,
    GRACE_MS = 1500,
    LOOK_MS = 500,
    ARGS_MAX = 32,
    SAMPLERS_MAX = 200,
};

struct sampler {
    struct samplers *all;
    char name[64];
    char *argv[ARGS_MAX + 1]; /* owned strings */
    struct proc proc;
    struct event_pipe pipe;
    int64_t started_ns, heard_ns, restart_ns; /* monotonic */
    int64_t delivers_ns;                      /* first samples since the last start; 0 = none yet */
    int backoff_ms;
    bool described, delivered, quiet, over; /* over: ended for good */
    bool held;                              /* ended, and not to be started */
    bool refused;                           /* its events contradict what is known */
    enum status end_status;                 /* of the end event; ERR_IO without one */
    bool end_seen;
    char end_reason[400];
    char told[500]; /* the last reason that was told */
};

struct samplers {
    char *path;
    bool keep_stderr;
    struct event_sink sink;
    struct sampler **list;
    size_t n;
};

enum status samplers_create(struct samplers **out, const char *path, bool keep_stderr,
                            const struct event_sink *sink, struct error *err)
{
    struct samplers *s = calloc(1, sizeof *s);
    if (s)
        s->path = strdup(path);
    if (!s || !s->path) {
        free(s);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    s->keep_stderr = keep_stderr;
    s->sink = *sink;
    *out = s;
    return OK;
}

static void sampler_destroy(struct sampler *p)
{
    if (!p)
        return;
    proc_stop(&p->proc, GRACE_MS);
    event_pipe_fini(&p->pipe);
    for (size_t i = 0; p->argv[i]; i++)
        free(p->argv[i]);
    free(p);
}

void samplers_destroy(struct samplers *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) /* all at once, then wait for each */
        proc_signal(&s->list[i]->proc, SIGTERM);
    for (size_t i = 0; i < s->n; i++)
        sampler_destroy(s->list[i]);
    free(s->list);
    free(s->path);
    free(s);
}

/* ---- starting ---- */

static enum status start(struct sampler *p, struct error *err)
{
    event_pipe_fini(&p->pipe);
    p->end_seen = p->described = p->over = p->refused = false;
    p->delivers_ns = 0;
    p->end_status = ERR_IO;
    p->end_reason[0] = '\0';
    enum status st = event_pipe_init(&p->pipe, err);
    if (!st)
        st = proc_start(&p->proc, p->all->path, (const char *const *)p->argv, p->all->keep_stderr,
                        err);
    p->started_ns = p->heard_ns = clock_monotonic_ns();
    return st;
}

static bool copy_argv(struct sampler *p, const char *const *argv)
{
    for (size_t i = 0; argv[i]; i++)
        if (i >= ARGS_MAX || !(p->argv[i] = strdup(argv[i])))
            return false;
    return true;
}

enum status samplers_add(struct samplers *s, const char *name, const char *const *argv,
                         struct error *err)
{
    struct sampler **grown =
        s->n < SAMPLERS_MAX ? realloc(s->list, (s->n + 1) * sizeof *grown) : NULL;
    struct sampler *p = calloc(1, sizeof *p);
    if (grown)
        s->list = grown;
    if (!grown || !p || !copy_argv(p, argv)) {
        sampler_destroy(p);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    p->all = s;
    p->proc = (struct proc)PROC_INIT;
    p->backoff_ms = BACKOFF_FIRST_MS;
    snprintf(p->name, sizeof p->name, "%s", name);
    enum status st = start(p, err);
    if (st) {
        sampler_destroy(p);
        return st;
    }
    s->list[s->n++] = p;
    return OK;
}

/* ---- reading ---- */

static enum status take_event(void *self, const struct event *ev, struct error *err)
{
    struct sampler *p = self;
    if (ev->kind == EVENT_END) {
        p->end_seen = true;
        p->end_status = ev->u.end.status;
        snprintf(p->end_reason, sizeof p->end_reason, "%s", ev->u.end.reason);
        return OK;
    }
    p->described |= ev->kind == EVENT_PLAN;
    if (ev->kind == EVENT_SAMPLES && !p->delivers_ns)
        p->delivers_ns = clock_monotonic_ns();
    p->delivered |= ev->kind == EVENT_SAMPLES;
    enum status st = ev->kind == EVENT_BEAT ? OK : event_push(&p->all->sink, ev, err);
    p->refused |= st == ERR_BAD_INPUT;
    return st;
}

/* *closed: the other end is closed, so the sampler is ending. A line that is no event, or one that
 * contradicts what is known, is the sampler's fault: it is killed, and the reason says so. */
static enum status read_sampler(struct sampler *p, bool *closed, struct error *err)
{
    const struct event_sink sink = {take_event, p};
    struct error why = ERROR_INIT;
    bool heard = false;
    enum status st = event_pipe_read(&p->pipe, p->proc.out, &sink, &heard, closed, &why);
    if (heard)
        p->heard_ns = clock_monotonic_ns();
    if (st == ERR_BAD_INPUT) {
        snprintf(p->end_reason, sizeof p->end_reason, "%s%.300s",
                 p->refused ? "" : "it sent a line that is no event: ", why.text);
        proc_signal(&p->proc, SIGKILL);
        return OK;
    }
    if (st && err)
        *err = why;
    return st;
}

/* ---- ending ---- */

/* Statuses that will not change by asking again. */
static bool is_final(enum status status)
{
    return status == OK || status == ERR_NO_GPU || status == ERR_PERMISSION ||
           status == ERR_UNSUPPORTED || status == ERR_NOT_FOUND || status == ERR_USAGE ||
           status == ERR_BAD_INPUT;
}

static void plan_restart(struct sampler *p, int64_t now_ns)
{
    if (p->delivered && now_ns - p->started_ns > HEALTHY_MS * INT64_C(1000000)) {
        p->backoff_ms = BACKOFF_FIRST_MS;
        p->told[0] = '\0';
    }
    int pause_ms = p->end_seen && p->end_status == ERR_BUSY ? BUSY_MS : p->backoff_ms;
    p->restart_ns = now_ns + pause_ms * INT64_C(1000000);
    p->backoff_ms = 2 * p->backoff_ms < BACKOFF_LAST_MS ? 2 * p->backoff_ms : BACKOFF_LAST_MS;
}

/* Busy counters are asked for again quietly: said once. */
static enum status tell_end(struct sampler *p, const char *death, struct error *err)
{
    if (p->end_seen && p->end_status == ERR_BUSY) {
        bool told = p->quiet;
        p->quiet = true;
        return told ? OK
                    : event_push_note(&p->all->sink, NOTE_WARNING, -1, err,
                                      "%s: %s; trying again every %d s", p->name, p->end_reason,
                                      BUSY_MS / 1000);
    }
    if (p->over)
        return p->end_status == OK ? OK
                                   : event_push_note(&p->all->sink, NOTE_WARNING, -1, err, "%s: %s",
                                                     p->name, p->end_reason);
    char why[sizeof p->end_reason + 100];
    if (p->end_seen) /* it told its reason itself: how its process ended adds nothing */
        snprintf(why, sizeof why, "%s", p->end_reason);
    else
        snprintf(why, sizeof why, "%s%s%s", death, p->end_reason[0] ? ": " : "", p->end_reason);
    if (strcmp(why, p->told) == 0)
        return OK; /* the same again and again is said once */
    snprintf(p->told, sizeof p->told, "%s", why);
    return event_push_note(&p->all->sink, NOTE_WARNING, -1, err, "%s: %s; starting it again",
                           p->name, why);
}

static enum status ended(struct sampler *p, int wait_status, struct error *err)
{
    char death[80];
    proc_death_text(death, sizeof death, wait_status);
    close(p->proc.out);
    p->proc = (struct proc)PROC_INIT;
    if (p->refused) { /* it would say the same again */
        p->end_seen = true;
        p->end_status = ERR_BAD_INPUT;
    }
    p->over = p->end_seen && is_final(p->end_status);
    enum status st = tell_end(p, death, err);
    if (!p->end_reason[0])
        snprintf(p->end_reason, sizeof p->end_reason, "%s", death);
    if (!p->over)
        plan_restart(p, clock_monotonic_ns());
    return st;
}

/* A hanging or stopped sampler is killed; the kernel then frees the counters. */
static void check_silence(struct sampler *p, int64_t now_ns)
{
    int limit_ms = p->described ? SILENCE_MS : START_MS;
    if (p->proc.pid == 0 || now_ns - p->heard_ns < limit_ms * INT64_C(1000000))
        return;
    snprintf(p->end_reason, sizeof p->end_reason, "it said nothing for %.1f s%s", limit_ms / 1000.0,
             p->described ? "" : " after its start");
    proc_signal(&p->proc, SIGKILL);
}

static enum status attend(struct sampler *p, struct error *err)
{
    int wait_status;
    bool closed = false;
    int64_t now_ns = clock_monotonic_ns();
    if (p->over || p->held)
        return OK;
    if (p->proc.pid == 0) {
        if (now_ns < p->restart_ns)
            return OK;
        struct error why = ERROR_INIT;
        if (start(p, &why))
            plan_restart(p, now_ns);
        return OK;
    }
    bool gone = proc_ended(&p->proc, &wait_status); /* asked first: all it wrote is in the pipe */
    enum status st = read_sampler(p, &closed, err); /* nothing there costs one call */
    if (st)
        return st;
    if (gone)
        return ended(p, wait_status, err);
    if (closed) /* it closed its output and lives on: nothing more will come */
        proc_signal(&p->proc, SIGKILL);
    check_silence(p, now_ns);
    return OK;
}

/* A process can die while another holds its pipe open: that is looked for, too. */
void samplers_waits(const struct samplers *s, struct waits *w)
{
    int64_t now_ns = clock_monotonic_ns();
    waits_within(w, LOOK_MS);
    for (size_t i = 0; i < s->n; i++) {
        const struct sampler *p = s->list[i];
        if (p->over || p->held)
            continue;
        int64_t at = p->proc.pid
                         ? p->heard_ns + (p->described ? SILENCE_MS : START_MS) * INT64_C(1000000)
                         : p->restart_ns;
        waits_within(w, (at - now_ns) / 1000000 + 1);
        waits_add(w, p->proc.out, POLLIN);
    }
}

enum status samplers_poll(struct samplers *s, int timeout_ms, struct error *err)
{
    struct waits w;
    waits_init(&w, timeout_ms);
    samplers_waits(s, &w);
    waits_poll(&w);
    enum status st = OK;
    for (size_t i = 0; !st && i < s->n; i++)
        st = attend(s->list[i], err);
    return st;
}

size_t samplers_count(const struct samplers *s)
{
    return s->n;
}

size_t samplers_alive(const struct samplers *s)
{
    size_t alive = 0;
    for (size_t i = 0; i < s->n; i++)
        alive += !s->list[i]->over;
    return alive;
}

enum status samplers_end(const struct samplers *s, size_t i, const char **reason)
{
    const struct sampler *p = s->list[i];
    if (p->proc.pid) /* also when it has said its end: only then is it known whether it is over */
        return OK;
    *reason = p->end_reason;
    return p->end_status;
}

bool samplers_delivered(const struct samplers *s, size_t i)
{
    return s->list[i]->delivered;
}

double samplers_delivering_s(const struct samplers *s, size_t i)
{
    const struct sampler *p = s->list[i];
    if (p->proc.pid == 0 || p->delivers_ns == 0)
        return 0;
    return (double)(clock_monotonic_ns() - p->delivers_ns) * 1e-9;
}

enum status samplers_change(struct samplers *s, size_t i, const char *const *argv,
                            struct error *err)
{
    struct sampler *p = s->list[i];
    proc_stop(&p->proc, GRACE_MS);
    for (size_t k = 0; p->argv[k]; k++) {
        free(p->argv[k]);
        p->argv[k] = NULL;
    }
    if (!copy_argv(p, argv))
        return fail(err, ERR_NOMEM, 0, "out of memory");
    return start(p, err);
}

/* All are told at once and share the time of grace: a card that hangs must not add its own. */
static void end_all(struct samplers *s, const size_t *list, size_t n)
{
    int64_t deadline_ns = clock_monotonic_ns() + GRACE_MS * INT64_C(1000000);
    const struct timespec tick = {0, 2000000};
    int wait_status;
    for (size_t i = 0; i < n; i++) {
        proc_signal(&s->list[list[i]]->proc, SIGTERM);
        proc_signal(&s->list[list[i]]->proc, SIGCONT); /* a stopped process takes no SIGTERM */
    }
    for (size_t left = n; left && clock_monotonic_ns() < deadline_ns;) {
        left = 0;
        for (size_t i = 0; i < n; i++) {
            struct proc *p = &s->list[list[i]]->proc;
            left += p->pid && !proc_ended(p, &wait_status);
        }
        if (left)
            nanosleep(&tick, NULL);
    }
    for (size_t i = 0; i < n; i++)
        proc_stop(&s->list[list[i]]->proc, 0);
}

void samplers_hold(struct samplers *s, const size_t *list, size_t n, const char *reason)
{
    end_all(s, list, n);
    for (size_t i = 0; i < n; i++) {
        struct sampler *p = s->list[list[i]];
        p->held = true;
        p->end_status = ERR_BUSY;
        snprintf(p->end_reason, sizeof p->end_reason, "%s", reason);
    }
}

bool samplers_is_over(const struct samplers *s, size_t i)
{
    return s->list[i]->over;
}

enum status samplers_release(struct samplers *s, size_t i, struct error *err)
{
    struct sampler *p = s->list[i];
    if (!p->held)
        return OK;
    p->held = false;
    p->backoff_ms = BACKOFF_FIRST_MS;
    return start(p, err);
}

int samplers_pid(const struct samplers *s, size_t i)
{
    return (int)s->list[i]->proc.pid;
}
