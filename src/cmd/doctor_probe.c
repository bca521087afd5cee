/* SPDX-License-Identifier: MIT */
/* smeff doctor: really starts every source, each in its own process, and sees what comes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "cmd/doctor.h"
#include "cmd/interrupt.h"
#include "cmd/start.h"

/* GPM needs 1 to 2 s for its first value, PM sampling about 1 s, a cold driver several. */
enum { DEADLINE_MS = 12000, POLL_MS = 100 };

/* A sampler, and how it first ended: later starts of it are not waited for. */
struct started {
    bool is_started, has_ended;
    size_t number;
    enum status status;
    char reason[400];
};

/* What a source said of a GPU, beside the findings. */
struct told {
    bool hopeless; /* its plan has no series that may get values */
    enum value_state state;
    char reason[VALUE_REASON_SIZE];
};

struct probing {
    const struct request *request;
    struct doctor_findings *f;
    struct samplers *samplers;
    struct started nvml, gpm, chip;
    struct started pm[SOURCE_GPUS_MAX];                /* by the GPU's index */
    struct told told[SOURCE_GPUS_MAX][DOCTOR_SOURCES]; /* by the place in findings */
    bool others;                                       /* a GPU that was not asked for is there */
};

const char *doctor_source_name(enum doctor_source source)
{
    static const char *const names[] = {"pm", "gpm", "nvml"};
    return names[source];
}

/* ---- starting ---- */

static enum status start(struct probing *p, struct started *s, const char *name,
                         const struct child_argv *argv, struct error *err)
{
    s->number = samplers_count(p->samplers);
    enum status st = samplers_add(p->samplers, name, argv->word, err);
    s->is_started = !st;
    return st;
}

static enum status start_source(struct probing *p, struct started *s, const char *source,
                                const char *gpus, struct error *err)
{
    struct child_argv argv;
    child_argv_begin(&argv, "sampler", source);
    child_argv_option(&argv, "--gpu", *gpus ? gpus : NULL);
    if (strcmp(source, "pm") == 0)
        child_argv_option(&argv, "--cupti", p->request->cupti_dir);
    return start(p, s, source, &argv, err);
}

static enum status start_pm(struct probing *p, unsigned gpu, struct error *err)
{
    char index[16];
    snprintf(index, sizeof index, "%u", gpu);
    if (gpu >= SOURCE_GPUS_MAX || p->pm[gpu].is_started)
        return OK;
    return start_source(p, &p->pm[gpu], "pm", index, err);
}

/* Of each GPU that is known; where the driver lists none, of those that were asked for. */
static enum status start_wanted_pm(struct probing *p, struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < p->f->n_gpus; i++)
        st = start_pm(p, p->f->gpus[i].index, err);
    if (p->f->n_gpus || !p->nvml.has_ended)
        return st;
    for (size_t i = 0; !st && i < p->request->n_gpus; i++)
        st = start_pm(p, p->request->gpus[i], err);
    return st || p->request->n_gpus || p->request->n_uuids ? st : start_pm(p, 0, err);
}

static enum status start_first(struct probing *p, struct error *err)
{
    struct child_argv chip;
    char gpus[512];
    request_gpu_list(p->request, gpus, sizeof gpus);
    child_argv_begin(&chip, "chip", NULL);
    child_argv_option(&chip, "--chip", ""); /* of none, whatever the environment says */
    child_argv_option(&chip, "--cupti", p->request->cupti_dir);
    enum status st = start_source(p, &p->nvml, "nvml", gpus, err);
    if (!st)
        st = start_source(p, &p->gpm, "gpm", gpus, err);
    return st ? st : start(p, &p->chip, "chip", &chip, err);
}

/* ---- events ---- */

static struct doctor_gpu *find_gpu(struct doctor_findings *f, unsigned index)
{
    for (size_t i = 0; i < f->n_gpus; i++)
        if (f->gpus[i].index == index)
            return &f->gpus[i];
    return NULL;
}

static void keep(char *dst, size_t size, const char *text)
{
    if (text[0])
        str_clean(dst, size, text, strlen(text));
}

static void take_gpu(struct probing *p, const struct event_gpu *ev)
{
    struct doctor_gpu *g = find_gpu(p->f, ev->gpu);
    if (!g && !request_wants(p->request, ev->gpu, ev->uuid)) {
        p->others = true;
        return;
    }
    if (!g && p->f->n_gpus < SOURCE_GPUS_MAX) {
        g = &p->f->gpus[p->f->n_gpus++];
        g->index = ev->gpu;
    }
    if (!g)
        return;
    keep(g->name, sizeof g->name, ev->name);
    keep(g->uuid, sizeof g->uuid, ev->uuid);
    keep(g->chip, sizeof g->chip, ev->chip);
    keep(g->pci_bus, sizeof g->pci_bus, ev->pci_bus);
}

static bool source_of(enum source_id id, enum doctor_source *out)
{
    *out = id == SOURCE_PM ? DOCTOR_PM : id == SOURCE_GPM ? DOCTOR_GPM : DOCTOR_NVML;
    return id == SOURCE_PM || id == SOURCE_GPM || id == SOURCE_NVML;
}

static void take_plan(struct probing *p, const struct event_plan *plan)
{
    enum doctor_source source;
    struct doctor_gpu *g = find_gpu(p->f, plan->gpu);
    if (!g || !source_of(plan->source, &source))
        return;
    struct told *t = &p->told[g - p->f->gpus][source];
    g->backends[source].rate_hz = plan->rate_hz;
    t->hopeless = plan->n > 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct plan_series *s = &plan->series[i];
        if (s->state == VALUE_OK || s->state == VALUE_SUSPECT || s->state == VALUE_WARMING)
            t->hopeless = false;
        if (i == 0 || (t->state == VALUE_UNSUPPORTED && s->state != VALUE_UNSUPPORTED)) {
            t->state = s->state;
            snprintf(t->reason, sizeof t->reason, "%s", s->reason);
        }
    }
}

static unsigned count_values(const struct event_samples *s)
{
    unsigned columns = 0;
    for (size_t c = 0; c < s->columns; c++) {
        bool any = false;
        for (size_t i = 0; !any && i < s->n; i++)
            any = isfinite(s->values[c * s->stride + i]);
        columns += any;
    }
    return columns;
}

static void take_samples(struct probing *p, const struct event_samples *s)
{
    enum doctor_source source;
    struct doctor_gpu *g = find_gpu(p->f, s->gpu);
    if (!g || !source_of(s->source, &source))
        return;
    struct doctor_backend *b = &g->backends[source];
    unsigned metrics = count_values(s);
    b->metrics = metrics > b->metrics ? metrics : b->metrics;
    b->usable |= metrics > 0;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    (void)err;
    struct probing *p = self;
    char driver[32];
    if (ev->kind == EVENT_GPU)
        take_gpu(p, &ev->u.gpu);
    else if (ev->kind == EVENT_PLAN)
        take_plan(p, &ev->u.plan);
    else if (ev->kind == EVENT_SAMPLES)
        take_samples(p, &ev->u.samples);
    else if (ev->kind == EVENT_NOTE &&
             sscanf(ev->u.note.text, "NVIDIA driver %31[0-9.],", driver) == 1)
        keep(p->f->driver, sizeof p->f->driver, driver);
    else if (ev->kind == EVENT_NOTE)
        cupti_parse_note(ev->u.note.text, &p->f->cupti);
    return OK;
}

/* ---- waiting ---- */

static void watch(const struct probing *p, struct started *s)
{
    const char *reason = "";
    enum status st =
        s->is_started && !s->has_ended ? samplers_end(p->samplers, s->number, &reason) : OK;
    if (!st)
        return;
    s->has_ended = true;
    s->status = st;
    snprintf(s->reason, sizeof s->reason, "%s", reason);
}

static void watch_all(struct probing *p)
{
    watch(p, &p->nvml);
    watch(p, &p->gpm);
    watch(p, &p->chip);
    for (size_t i = 0; i < SOURCE_GPUS_MAX; i++)
        watch(p, &p->pm[i]);
}

static const struct started *started_of(const struct probing *p, const struct doctor_gpu *g,
                                        enum doctor_source source)
{
    static const struct started none;
    if (source == DOCTOR_PM)
        return g->index < SOURCE_GPUS_MAX ? &p->pm[g->index] : &none;
    return source == DOCTOR_GPM ? &p->gpm : &p->nvml;
}

static bool is_settled(const struct probing *p)
{
    if (!p->chip.has_ended && !p->f->cupti.path[0])
        return false;
    for (size_t i = 0; i < p->f->n_gpus; i++)
        for (int s = 0; s < DOCTOR_SOURCES; s++)
            if (!p->f->gpus[i].backends[s].usable && !p->told[i][s].hopeless &&
                !started_of(p, &p->f->gpus[i], (enum doctor_source)s)->has_ended)
                return false;
    if (p->f->n_gpus)
        return true;
    if (p->others && samplers_delivered(p->samplers, p->nvml.number))
        return true;
    for (size_t i = 0; i < SOURCE_GPUS_MAX; i++)
        if (p->pm[i].is_started && !p->pm[i].has_ended)
            return false;
    return p->nvml.has_ended && p->gpm.has_ended;
}

static enum status wait_until_settled(struct probing *p, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + DEADLINE_MS * INT64_C(1000000);
    enum status st = OK;
    while (!st && !interrupt_raised() && clock_monotonic_ns() < deadline_ns) {
        st = samplers_poll(p->samplers, POLL_MS, err);
        watch_all(p);
        if (!st)
            st = start_wanted_pm(p, err);
        if (!st && is_settled(p))
            break;
    }
    return st;
}

/* ---- summing up ---- */

static enum status status_of(enum value_state state)
{
    return state == VALUE_NO_PERMISSION ? ERR_PERMISSION
           : state == VALUE_BUSY        ? ERR_BUSY
           : state == VALUE_UNSUPPORTED ? ERR_UNSUPPORTED
                                        : ERR_VENDOR;
}

static void explain(struct doctor_backend *b, const struct started *s, const struct told *t)
{
    if (b->usable)
        return;
    if (s->has_ended) {
        b->status = s->status;
        snprintf(b->reason, sizeof b->reason, "%s", s->reason);
    } else if (t && t->hopeless) {
        b->status = status_of(t->state);
        snprintf(b->reason, sizeof b->reason, "%s", t->reason);
    } else {
        b->status = ERR_TIMEOUT;
        snprintf(b->reason, sizeof b->reason, "it gave no value within %d s", DEADLINE_MS / 1000);
    }
}

/* What is more worth telling of two failures. */
static int weight(enum status status)
{
    return status == ERR_PERMISSION ? 3 : status == ERR_BUSY ? 2 : status == ERR_NOT_FOUND ? 1 : 0;
}

static void sum_up_source(struct probing *p, enum doctor_source source)
{
    struct doctor_findings *f = p->f;
    struct doctor_backend *best = &f->backends[source];
    for (size_t i = 0; i < f->n_gpus; i++) {
        struct doctor_backend *b = &f->gpus[i].backends[source];
        explain(b, started_of(p, &f->gpus[i], source), &p->told[i][source]);
        if (i == 0 || (!best->usable && b->usable) ||
            (!best->usable && weight(b->status) > weight(best->status)))
            *best = *b;
    }
    if (f->n_gpus)
        return;
    const struct started *s = source == DOCTOR_GPM ? &p->gpm : &p->nvml;
    for (size_t i = 0; source == DOCTOR_PM && i < SOURCE_GPUS_MAX; i++)
        if (p->pm[i].is_started)
            s = &p->pm[i];
    explain(best, s, NULL);
}

static void sum_up(struct probing *p)
{
    struct doctor_findings *f = p->f;
    bool asked = p->request->n_gpus || p->request->n_uuids;
    for (int s = 0; s < DOCTOR_SOURCES; s++)
        sum_up_source(p, (enum doctor_source)s);
    f->none_asked_for =
        asked && f->n_gpus == 0 && (p->others || str_starts_with(p->nvml.reason, "no GPU "));
    for (int s = 0; p->others && f->n_gpus == 0 && s < DOCTOR_SOURCES; s++)
        f->backends[s] = (struct doctor_backend){
            .status = ERR_NO_GPU, .reason = "none of the GPUs here is the one that was asked for"};
    if (f->cupti.path[0])
        return;
    f->cupti_status = p->chip.has_ended ? p->chip.status : ERR_TIMEOUT;
    snprintf(f->cupti_reason, sizeof f->cupti_reason, "%s",
             p->chip.has_ended ? p->chip.reason : "it did not answer");
}

enum status doctor_probe(const struct request *r, struct doctor_findings *out, struct error *err)
{
    *out = (struct doctor_findings){.gpus = calloc(SOURCE_GPUS_MAX, sizeof *out->gpus)};
    struct probing *p = calloc(1, sizeof *p);
    enum status st = OK;
    if (!p || !out->gpus)
        st = fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st) {
        struct event_sink sink = {take, p};
        p->request = r;
        p->f = out;
        st = start_samplers(&p->samplers, &sink, err);
    }
    if (!st)
        st = start_first(p, err);
    if (!st)
        st = wait_until_settled(p, err);
    if (!st)
        sum_up(p);
    if (p)
        samplers_destroy(p->samplers);
    free(p);
    if (st)
        doctor_findings_fini(out);
    return st;
}

void doctor_findings_fini(struct doctor_findings *f)
{
    free(f->gpus);
    *f = (struct doctor_findings){0};
}
