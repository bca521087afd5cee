/* SPDX-License-Identifier: MIT */
#include "source/pm/pm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/pm/find.h"
#include "source/pm/gpu.h"
#include "source/pm/session.h"
#include "source/pm/tell.h"

/* Each decode costs about 1.7 ms of CPU whatever it brings (measured on an H200: the driver asks
 * the GPU twice): as rarely as the newest sample may be 150 ms old at the reader, and just after a
 * sample has ended. A sample can be read 2 ms after its end, and is at the reader 3 ms later. */
static const int64_t newest_age_ns = 145000000, newest_age_fast_ns = 50000000, ready_ns = 2000000;

/* "Sends anything at least once a second", and lets the GPU and the machine breathe. */
static const int64_t quiet_max_ns = 500000000, pause_min_ns = 10000000;

/* An overflow loses a moment; several in a row mean that the set or the rate is too much. */
enum { OVERFLOWS_MAX = 5, OVERFLOW_MEMORY_S = 30 };

struct pm {
    struct source source;
    struct source_request request;
    double rate_hz;
    int64_t step_ns;     /* between samples */
    uint32_t per_decode; /* samples that a decode waits for */
    const char *from;    /* where CUPTI came from */
    struct cuda_api cuda;
    struct cupti_api cupti;
    struct pm_gpu gpu;
    unsigned index;
    struct pm_pack pack;
    struct pm_session session;
};

/* A batch under construction: columns of the packed metrics. */
struct pm_batch {
    const struct pm *pm;
    size_t n, cap;
    int64_t *t0, *t1;
    double *values; /* n_names columns of cap */
    uint32_t series[METRIC_COUNT];
};

static bool covers(enum metric m)
{
    return metric_info(m)->pm != NULL;
}

enum status pm_cupti_load(struct cupti_api *cupti, const char *dir, const char **from,
                          struct error *err)
{
    *from = "--cupti";
    if (dir)
        return cupti_api_load(cupti, dir, err);
    struct pm_places places = {"", getenv("LD_LIBRARY_PATH"), getenv("VIRTUAL_ENV"),
                               getenv("HOME")};
    struct pm_folders *folders = calloc(1, sizeof *folders);
    if (!folders)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    pm_find(&places, folders);
    enum status st =
        fail(err, ERR_NOT_FOUND, 0,
             "CUPTI 12.8 or newer was not found (CUDA toolkits, Python packages, running "
             "servers, Nsight Compute): install the CUDA toolkit's cuda-cupti package, or "
             "give its folder with --cupti");
    for (size_t i = 0; i < folders->n && st; i++) {
        st = cupti_api_load(cupti, folders->list[i].path, err);
        *from = folders->list[i].from;
    }
    free(folders);
    return st;
}

static void pm_close(struct source *source)
{
    struct pm *p = (struct pm *)source;
    if (!p)
        return;
    pm_session_stop(&p->session);
    pm_pack_fini(&p->pack);
    pm_gpu_fini(&p->gpu);
    /* the libraries stay loaded: the process ends soon, and unloading CUPTI has crashed for others
     */
    free(p);
}

static enum status start_session(struct pm *p, struct error *err)
{
    return pm_session_start(&p->session, &p->cupti, &p->pack, (size_t)p->gpu.cuda.ordinal,
                            p->gpu.chip, p->gpu.availability, p->rate_hz, p->per_decode, err);
}

static void set_pace(struct pm *p)
{
    /* the records of a heavy set come many times faster */
    bool fast = p->rate_hz > 2000 || p->pack.heavy;
    p->step_ns = (int64_t)(1e9 / p->rate_hz);
    p->per_decode = (uint32_t)((fast ? newest_age_fast_ns : newest_age_ns) / p->step_ns);
    if (p->per_decode == 0)
        p->per_decode = 1;
}

static int64_t within(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* How long until a decode will find its samples. Reckoned from the newest one, so that it cannot
 * drift; before there is one, a sample's length. A newest sample that lies in the future or long
 * ago (a clock was set, nothing comes any more) says nothing. Where a sample is held back the
 * newest that was given out has one behind it. */
static int64_t decode_wait_ns(const struct pm *p)
{
    /* with the cycle trigger samples are longer or shorter than was asked for */
    int64_t step_ns = p->session.length_ns ? p->session.length_ns : p->step_ns;
    int64_t batch_ns = (p->per_decode + (p->pack.late ? 1 : 0)) * step_ns, wait_ns = step_ns;
    if (p->session.last_end_ns) {
        int64_t age_ns = clock_unix_ns() - p->session.last_end_ns;
        bool plausible = age_ns >= 0 && age_ns < batch_ns + quiet_max_ns;
        wait_ns = plausible ? batch_ns + ready_ns - age_ns : batch_ns;
    }
    /* a sample that is late is not asked for every moment */
    int64_t least_ns = within(step_ns / 4, pause_min_ns, quiet_max_ns);
    return within(wait_ns, least_ns, quiet_max_ns);
}

static enum status pm_open(struct source **out, const struct source_request *request,
                           struct error *err)
{
    if (request->n_gpus != 1)
        return fail(err, ERR_USAGE, 0, "pm samples one GPU a process");
    double rate = request->rate_hz > 0 ? request->rate_hz : (double)PM_RATE_DEFAULT_HZ;
    if (rate < (double)PM_RATE_MIN_HZ || rate > (double)PM_RATE_MAX_HZ)
        return fail(err, ERR_USAGE, 0, "pm samples %d to %d times a second", PM_RATE_MIN_HZ,
                    PM_RATE_MAX_HZ);
    struct pm *p = calloc(1, sizeof *p);
    if (!p)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    p->source.ops = &pm_ops;
    p->request = *request;
    p->index = request->gpus[0];
    p->rate_hz = rate;
    enum status st = cuda_start(&p->cuda, NULL, err);
    if (!st)
        st = pm_cupti_load(&p->cupti, request->cupti_dir, &p->from, err);
    if (!st)
        st = pm_gpu_open(&p->gpu, &p->cuda, &p->cupti, p->index, err);
    if (!st)
        st = pm_pack_build(&p->cupti, p->gpu.chip, p->gpu.availability, request, &p->pack, err);
    if (!st) {
        set_pace(p);
        st = start_session(p, err);
    }
    if (st) {
        pm_close(&p->source);
        return st;
    }
    *out = &p->source;
    return OK;
}

static enum status pm_describe(struct source *source, const struct event_sink *sink,
                               struct error *err)
{
    struct pm *p = (struct pm *)source;
    struct event ev = {.kind = EVENT_GPU,
                       .u.gpu = {.gpu = p->index,
                                 .name = p->gpu.cuda.name,
                                 .uuid = p->gpu.cuda.uuid,
                                 .chip = p->gpu.chip,
                                 .pci_bus = p->gpu.cuda.pci_bus}};
    enum status st = event_push(sink, &ev, err);
    if (!st)
        st = pm_tell_plan(&p->pack, p->index, p->rate_hz, sink, err);
    return st ? st : pm_tell_cupti(&p->cupti, p->from, p->pack.n_names, (int)p->index, sink, err);
}

static enum status take_sample(void *self, const struct pm_sample *sample, struct error *err)
{
    struct pm_batch *b = self;
    if (b->n == b->cap)
        return fail(err, ERR_NOMEM, 0, "more samples in a decode than room for them");
    for (size_t c = 0; c < b->pm->pack.n_names; c++) {
        const struct pm_pick *pick = &b->pm->pack.picks[b->pm->pack.pick_of[c]];
        double v = sample->values[c] * pick->candidate->scale;
        b->values[c * b->cap + b->n] =
            isfinite(v) && v >= 0 ? v : NAN; /* nothing that is sampled can be below 0 */
    }
    b->t0[b->n] = sample->t0_ns;
    b->t1[b->n] = sample->t1_ns;
    b->n++;
    return OK;
}

static enum status send_batch(struct pm_batch *b, const struct event_sink *sink, struct error *err)
{
    struct event ev = {.kind = EVENT_BEAT};
    if (b->n)
        ev = (struct event){.kind = EVENT_SAMPLES,
                            .u.samples = {.gpu = b->pm->index,
                                          .source = SOURCE_PM,
                                          .n = b->n,
                                          .t0_ns = b->t0,
                                          .t1_ns = b->t1,
                                          .columns = b->pm->pack.n_names,
                                          .series = b->series,
                                          .values = b->values,
                                          .stride = b->cap}};
    b->n = 0;
    return event_push(sink, &ev, err);
}

static enum status batch_init(struct pm_batch *b, const struct pm *p, struct error *err)
{
    *b = (struct pm_batch){.pm = p, .cap = PM_FILLS_MAX * (size_t)p->session.capacity};
    b->t0 = calloc(b->cap, sizeof *b->t0);
    b->t1 = calloc(b->cap, sizeof *b->t1);
    b->values = calloc(b->cap * p->pack.n_names, sizeof *b->values);
    for (size_t c = 0; c < p->pack.n_names; c++)
        b->series[c] = (uint32_t)p->pack.pick_of[c];
    return b->t0 && b->t1 && b->values ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
}

static void batch_fini(struct pm_batch *b)
{
    free(b->t0);
    free(b->t1);
    free(b->values);
}

/* Starts the hardware anew after its buffer ran full. */
static enum status recover(struct pm *p, unsigned overflows, const struct event_sink *sink,
                           struct error *err)
{
    int64_t last_ns = p->session.last_end_ns;
    pm_session_stop(&p->session);
    if (overflows > OVERFLOWS_MAX)
        return fail(err, ERR_IO, 0,
                    "the hardware buffer overflowed %u times in %d s: ask for fewer counters or a "
                    "lower rate",
                    overflows, OVERFLOW_MEMORY_S);
    enum status st = start_session(p, err);
    char lost[40] = "all samples so far";
    if (last_ns)
        snprintf(lost, sizeof lost, "about %.2f s", (double)(clock_unix_ns() - last_ns) * 1e-9);
    return st ? st
              : event_push_note(sink, NOTE_WARNING, (int)p->index, err,
                                "pm: the hardware buffer overflowed; sampling was started again, "
                                "%s are lost",
                                lost);
}

static enum status pm_run(struct source *source, const struct event_sink *sink,
                          const struct source_stop *stop, struct error *err)
{
    struct pm *p = (struct pm *)source;
    struct pm_batch batch;
    enum status st = batch_init(&batch, p, err);
    struct pm_sample_sink samples = {take_sample, &batch};
    int64_t overflow_ns = 0;
    unsigned overflows = 0;
    while (!st && source_sleep_until(clock_monotonic_ns() + decode_wait_ns(p), stop)) {
        bool overflow = false;
        st = pm_session_decode(&p->session, &samples, &overflow, err);
        enum status sent = send_batch(&batch, sink, st ? NULL : err);
        st = st ? st : sent;
        if (st || !overflow)
            continue;
        int64_t now_ns = clock_monotonic_ns();
        overflows =
            now_ns - overflow_ns < OVERFLOW_MEMORY_S * INT64_C(1000000000) ? overflows + 1 : 1;
        overflow_ns = now_ns;
        st = recover(p, overflows, sink, err);
    }
    batch_fini(&batch);
    return st;
}

const struct source_ops pm_ops = {
    .name = "pm",
    .id = SOURCE_PM,
    .covers = covers,
    .open = pm_open,
    .describe = pm_describe,
    .run = pm_run,
    .close = pm_close,
};
