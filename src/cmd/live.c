/* SPDX-License-Identifier: MIT */
#include "cmd/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/doubtful.h"
#include "cmd/recording.h"
#include "cmd/sampler_argv.h"
#include "cmd/start.h"
#include "cmd/token.h"
#include "source/nsys/find.h"
#include "source/nsys/relay.h"
#include "source/pm/pm.h"

enum { GPUS_MAX = SOURCE_GPUS_MAX };

/* A reading of GPM costs 2 to 3 ms of CPU (measured on an H200): seldom where it only checks PM
 * sampling, often where it has the only counters. */
static const double gpm_check_hz = 0.1, gpm_check_after_s = 12, gpm_alone_hz = 4;

struct live {
    const struct request *request;
    const struct event_sink *sink;
    struct samplers *samplers;
    char gpus[512];         /* the list for --gpu of samplers that serve several; "" = all */
    size_t nvml, gpm, nsys; /* numbers of these samplers; nvml: or of the
                               recording's */
    bool has_gpm, has_nsys, nsys_looked;
    double gpm_hz;       /* 0 = the source's own */
    size_t pm[GPUS_MAX]; /* number of the sampler of each GPU; valid where pm_started */
    bool pm_started[GPUS_MAX], pm_wanted[GPUS_MAX], unwanted[GPUS_MAX];
    struct doubtful doubts;
    bool held;     /* the counters are another program's for now */
    bool captured; /* the one capture that was asked for has ended */
    enum status capture_status;
    char capture_reason[400];
    bool has_plan, nsys_planned[GPUS_MAX]; /* nsys has said what it will give: at all, of a GPU */
    bool any_wanted;                       /* some GPU that was seen is one of those asked for */
};

/* ---- starting samplers ---- */

static enum status add_sampler(struct live *l, const char *source, const char *gpus, double rate_hz,
                               size_t *number, struct error *err)
{
    struct sampler_argv a;
    char name[64];
    sampler_argv_make(&a, l->request, source, gpus, rate_hz);
    snprintf(name, sizeof name, "%s%s%s", source, *gpus ? " on GPU " : "", gpus);
    *number = samplers_count(l->samplers);
    return samplers_add(l->samplers, name, a.child.word, err);
}

/* PM sampling starts as soon as a GPU is known; not inside a callback of the samplers. */
static enum status start_wanted_pm(struct live *l, struct error *err)
{
    enum status st = OK;
    for (unsigned i = 0; !st && i < GPUS_MAX; i++) {
        char gpu[16];
        if (!l->pm_wanted[i] || l->pm_started[i] || l->held)
            continue;
        snprintf(gpu, sizeof gpu, "%u", i);
        st = add_sampler(l, "pm", gpu, l->request->rate_hz, &l->pm[i], err);
        l->pm_started[i] = !st;
    }
    return st;
}

/* ---- nsys ---- */

static enum status start_nsys(struct live *l, struct error *err)
{
    enum status st = add_sampler(l, "nsys", l->gpus, l->request->rate_hz, &l->nsys, err);
    l->has_nsys = !st;
    return st;
}

static bool has_for_good(enum status st)
{
    return st == ERR_UNSUPPORTED || st == ERR_NOT_FOUND;
}

/* Can neither PM sampling nor GPM be had, ever? Where the right to read counters is missing, nsys
 * has it neither. */
static bool wants_nsys(const struct live *l)
{
    const char *reason;
    bool any = false;
    if (l->request->backend != BACKEND_AUTO || l->request->no_nsys || l->nsys_looked ||
        !has_for_good(samplers_end(l->samplers, l->gpm, &reason)))
        return false;
    for (size_t i = 0; i < GPUS_MAX; i++) {
        if (l->pm_wanted[i] &&
            (!l->pm_started[i] || !has_for_good(samplers_end(l->samplers, l->pm[i], &reason))))
            return false;
        any |= l->pm_wanted[i];
    }
    return any;
}

/* Without nsys on this machine, what PM sampling and GPM said stays the reason. */
static enum status look_for_nsys(struct live *l, struct error *err)
{
    struct nsys_candidates candidates;
    const struct nsys_places places = nsys_places_here();
    if (!wants_nsys(l))
        return OK;
    l->nsys_looked = true;
    return nsys_find(&places, l->request->nsys, &candidates, NULL) ? OK : start_nsys(l, err);
}

static bool uses_pm(const struct request *r)
{
    return !r->replay && (r->backend == BACKEND_AUTO || r->backend == BACKEND_PM);
}

/* ---- how often GPM is read ---- */

/* Every GPU's PM sampling delivers, and has done so for a while. */
static bool pm_is_steady(const struct live *l)
{
    bool any = false;
    for (size_t i = 0; i < GPUS_MAX; i++) {
        if (l->pm_started[i] && samplers_delivering_s(l->samplers, l->pm[i]) < gpm_check_after_s)
            return false;
        any |= l->pm_started[i];
    }
    return any;
}

/* Every GPU's PM sampling has said why it cannot be had, for now or for good. */
static bool pm_is_refused(const struct live *l)
{
    const char *reason;
    bool any = false;
    for (size_t i = 0; i < GPUS_MAX; i++) {
        if (l->pm_wanted[i] && !l->pm_started[i])
            return false;
        if (l->pm_started[i] && samplers_end(l->samplers, l->pm[i], &reason) == OK)
            return false;
        any |= l->pm_started[i];
    }
    return any;
}

static double gpm_wanted_hz(const struct live *l)
{
    if (l->request->gpm_hz > 0)
        return l->request->gpm_hz;
    double alone_hz = l->request->rate_hz > 0 ? l->request->rate_hz : gpm_alone_hz;
    if (l->request->backend == BACKEND_GPM || pm_is_refused(l))
        return alone_hz;
    if (pm_is_steady(l))
        return gpm_check_hz;
    return l->gpm_hz > gpm_check_hz ? l->gpm_hz : 0;
}

/* ---- events ---- */

static enum status take_gpu(struct live *l, const struct event *ev, struct error *err)
{
    unsigned gpu = ev->u.gpu.gpu;
    if (gpu >= GPUS_MAX)
        return OK;
    l->unwanted[gpu] = !request_wants(l->request, gpu, ev->u.gpu.uuid);
    if (l->unwanted[gpu])
        return OK;
    l->any_wanted = true;
    l->pm_wanted[gpu] |= uses_pm(l->request);
    return event_push(l->sink, ev, err);
}

static bool is_unwanted(const struct live *l, const struct event *ev)
{
    unsigned gpu = ev->kind == EVENT_PLAN        ? ev->u.plan.gpu
                   : ev->kind == EVENT_SAMPLES   ? ev->u.samples.gpu
                   : ev->kind == EVENT_PROCESSES ? ev->u.processes.gpu
                                                 : GPUS_MAX;
    return gpu < GPUS_MAX && l->unwanted[gpu];
}

static enum status take_plan(struct live *l, const struct event *ev, struct error *err)
{
    struct plan_series series[METRIC_COUNT];
    struct event marked = *ev;
    if (ev->u.plan.source == SOURCE_NSYS)
        l->has_plan = l->nsys_planned[ev->u.plan.gpu % GPUS_MAX] = true;
    marked.u.plan = doubtful_plan(&l->doubts, &ev->u.plan, series);
    return event_push(l->sink, &marked, err);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct live *l = self;
    if (ev->kind == EVENT_HELLO) /* ours is sent once, by live_open */
        return OK;
    if (ev->kind == EVENT_GPU) {
        if (!l->request->no_doubts && !l->request->replay)
            doubtful_see(&l->doubts, &ev->u.gpu);
        return take_gpu(l, ev, err);
    }
    if (is_unwanted(l, ev))
        return OK;
    return ev->kind == EVENT_PLAN ? take_plan(l, ev, err) : event_push(l->sink, ev, err);
}

/* ---- the public functions ---- */

static enum status say_hello(struct live *l, struct error *err)
{
    char host[256] = "";
    bool is_replay = l->request->replay != NULL;
    if (!is_replay)
        gethostname(host, sizeof host - 1);
    struct event ev = {.kind = EVENT_HELLO,
                       .u.hello = {EVENT_SCHEMA, "smeff " SMEFF_VERSION, host, is_replay}};
    return event_push(l->sink, &ev, err);
}

static enum status start_first(struct live *l, struct error *err)
{
    const char *gpus = l->gpus;
    request_gpu_list(l->request, l->gpus, sizeof l->gpus);
    if (l->request->replay) {
        enum status known = recording_check(l->request->replay, err);
        return known ? known : add_sampler(l, "replay", gpus, 0, &l->nvml, err);
    }
    /* the indices are known beforehand: PM sampling need not wait for the driver's list */
    for (size_t i = 0; *gpus && i < l->request->n_gpus; i++)
        l->pm_wanted[l->request->gpus[i]] = uses_pm(l->request);
    /* most machines have a first GPU */
    if (!*gpus && l->request->n_uuids == 0 && access("/dev/nvidia0", F_OK) == 0)
        l->pm_wanted[0] = uses_pm(l->request);
    enum status st = start_wanted_pm(l, err);
    if (!st)
        st = add_sampler(l, "nvml", gpus, 0, &l->nvml, err);
    l->has_gpm = l->request->backend == BACKEND_AUTO || l->request->backend == BACKEND_GPM;
    l->gpm_hz = gpm_wanted_hz(l);
    if (!st && l->has_gpm)
        st = add_sampler(l, "gpm", gpus, l->gpm_hz, &l->gpm, err);
    if (!st && l->request->backend == BACKEND_NSYS)
        st = start_nsys(l, err);
    return st;
}

enum status live_open(struct live **out, const struct request *r, const struct event_sink *sink,
                      struct error *err)
{
    struct live *l = calloc(1, sizeof *l);
    if (!l)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    l->request = r;
    l->sink = sink;
    struct event_sink own = {take, l};
    token_hide(); /* not the samplers' business */
    enum status st = start_samplers(&l->samplers, &own, err);
    if (!st)
        st = say_hello(l, err);
    if (!st)
        st = start_first(l, err);
    if (st) {
        live_close(l);
        return st;
    }
    *out = l;
    return OK;
}

static enum status adapt_gpm(struct live *l, struct error *err)
{
    const char *reason;
    double hz = gpm_wanted_hz(l);
    bool same = hz >= l->gpm_hz && hz <= l->gpm_hz;
    if (!l->has_gpm || same || samplers_end(l->samplers, l->gpm, &reason))
        return OK;
    struct sampler_argv a;
    sampler_argv_make(&a, l->request, "gpm", l->gpus, hz);
    l->gpm_hz = hz;
    return samplers_change(l->samplers, l->gpm, a.child.word, err);
}

/* How the one capture ended, before the sampler may be started again. */
static void note_capture(struct live *l)
{
    const char *reason = "";
    if (!l->request->once || !l->has_nsys || l->captured || samplers_pid(l->samplers, l->nsys) != 0)
        return;
    l->captured = true;
    l->capture_status = samplers_end(l->samplers, l->nsys, &reason);
    snprintf(l->capture_reason, sizeof l->capture_reason, "%s", reason);
}

enum status live_poll(struct live *l, int timeout_ms, struct error *err)
{
    enum status st = samplers_poll(l->samplers, timeout_ms, err);
    note_capture(l);
    if (!st)
        st = start_wanted_pm(l, err);
    if (!st)
        st = look_for_nsys(l, err);
    return st ? st : adapt_gpm(l, err);
}

void live_waits(const struct live *l, struct waits *w)
{
    samplers_waits(l->samplers, w);
}

/* ---- lending the counters ---- */

static enum status tell_held(struct live *l, const struct source_ops *ops, unsigned gpu,
                             const char *why, struct error *err)
{
    struct event_sink own = {take, l};
    struct error held = ERROR_INIT;
    fail(&held, ERR_BUSY, 0, "%s", why);
    return source_describe_failure(ops, gpu, &held, &own, err);
}

/* Adds a sampler that has performance counters, or may get them; one that has ended for good holds
 * nothing, and its metrics have their reason. */
static void add_holding(const struct live *l, size_t number, size_t *list, size_t *n)
{
    if (!samplers_is_over(l->samplers, number))
        list[(*n)++] = number;
}

static size_t holding(const struct live *l, size_t list[GPUS_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < GPUS_MAX; i++)
        if (l->pm_started[i])
            add_holding(l, l->pm[i], list, &n);
    if (l->has_nsys)
        add_holding(l, l->nsys, list, &n);
    return n;
}

enum status live_hold(struct live *l, const char *why, struct error *err)
{
    size_t list[GPUS_MAX + 1], n = holding(l, list);
    enum status st = OK;
    l->held = true;
    samplers_hold(l->samplers, list, n, why);
    for (unsigned i = 0; !st && i < GPUS_MAX; i++) {
        bool may_start = l->pm_wanted[i] && !l->pm_started[i];
        if (may_start || (l->pm_started[i] && !samplers_is_over(l->samplers, l->pm[i])))
            st = tell_held(l, &pm_ops, i, why, err);
        if (!st && l->nsys_planned[i] && !samplers_is_over(l->samplers, l->nsys))
            st = tell_held(l, &nsys_ops, i, why, err);
    }
    return st;
}

enum status live_release(struct live *l, struct error *err)
{
    size_t list[GPUS_MAX + 1], n = holding(l, list);
    enum status st = OK;
    l->held = false;
    for (size_t i = 0; i < n; i++) { /* all of them, also when one fails */
        enum status one = samplers_release(l->samplers, list[i], st ? NULL : err);
        st = st ? st : one;
    }
    return st;
}

/* Delivers, or has ended or said why not. */
static bool decided(const struct live *l, size_t number)
{
    const char *reason;
    return samplers_delivered(l->samplers, number) ||
           samplers_end(l->samplers, number, &reason) != OK;
}

bool live_settled(const struct live *l)
{
    if (!decided(l, l->nvml))
        return false;
    if (l->has_nsys)
        return l->request->once ? l->has_plan || l->captured : decided(l, l->nsys);
    if (wants_nsys(l))
        return false;
    bool pm_delivers = false;
    for (size_t i = 0; i < GPUS_MAX; i++) {
        if (l->pm_wanted[i] && !l->pm_started[i] && !l->held)
            return false;
        if (l->pm_started[i] && !decided(l, l->pm[i]))
            return false;
        pm_delivers |= l->pm_started[i] && samplers_delivered(l->samplers, l->pm[i]);
    }
    return pm_delivers || !l->has_gpm || decided(l, l->gpm);
}

enum status live_counters(const struct live *l, const char **reason)
{
    enum status st = ERR_UNSUPPORTED;
    *reason = "this backend has none";
    if (l->request->replay)
        return samplers_delivered(l->samplers, l->nvml)
                   ? OK
                   : samplers_end(l->samplers, l->nvml, reason);
    if (l->has_nsys && samplers_delivered(l->samplers, l->nsys))
        return OK;
    if (l->captured) {
        *reason = l->capture_reason;
        return l->capture_status;
    }
    if (l->has_nsys) /* it was asked last */
        return samplers_end(l->samplers, l->nsys, reason);
    if (l->has_gpm && samplers_delivered(l->samplers, l->gpm))
        return OK;
    if (l->has_gpm)
        st = samplers_end(l->samplers, l->gpm, reason);
    for (size_t i = 0; i < GPUS_MAX; i++) {
        if (l->pm_started[i] && samplers_delivered(l->samplers, l->pm[i]))
            return OK;
        if (l->pm_started[i])
            st = samplers_end(l->samplers, l->pm[i], reason);
    }
    return st;
}

bool live_captured(const struct live *l)
{
    return l->captured;
}

bool live_over(const struct live *l, enum status *status, const char **reason)
{
    /* the driver's list is complete, and none of it was asked for */
    if (samplers_delivered(l->samplers, l->nvml) && !l->any_wanted) {
        *reason = "none of the GPUs here is one of those asked for (--gpu)";
        *status = ERR_NO_GPU;
        return true;
    }
    if (samplers_alive(l->samplers) > 0)
        return false;
    *reason = "";
    *status = samplers_end(l->samplers, l->nvml, reason);
    if (l->request->replay && *status == OK && !l->any_wanted) {
        *reason = "none of the recording's GPUs is one of those asked for (--gpu)";
        *status = ERR_NO_GPU;
    }
    return true;
}

void live_close(struct live *l)
{
    if (!l)
        return;
    samplers_destroy(l->samplers);
    doubtful_fini(&l->doubts);
    free(l);
}
